import { assertEquals } from "@std/assert";
import { describeValue, merge, mergeDicts, type Value } from "../../../src/base/value/value.ts";

const CASES: readonly { readonly base: Value; readonly over: Value; readonly gives: Value }[] = [
  { base: { a: 1 }, over: { b: 2 }, gives: { a: 1, b: 2 } },
  { base: { a: 1, b: 1 }, over: { a: 2 }, gives: { a: 2, b: 1 } },
  {
    base: { a: { b: 1, c: { d: 1 } } },
    over: { a: { c: { e: 2 } } },
    gives: { a: { b: 1, c: { d: 1, e: 2 } } },
  },
  { base: { a: [1, 2, 3] }, over: { a: [4] }, gives: { a: [4] } },
  { base: { a: { b: 1 } }, over: { a: "text" }, gives: { a: "text" } },
  { base: { a: { b: 1 } }, over: { a: null }, gives: { a: null } },
  { base: { a: 1 }, over: { a: { b: 1 } }, gives: { a: { b: 1 } } },
  { base: { a: 1 }, over: {}, gives: { a: 1 } },
  { base: [1], over: { a: 1 }, gives: { a: 1 } },
  { base: null, over: 5, gives: 5 },
];

Deno.test("merge() merges one value over another, mappings key by key", () => {
  for (const { base, over, gives } of CASES) {
    assertEquals(JSON.stringify(merge(base, over)), JSON.stringify(gives));
  }
});

Deno.test("merge() changes neither of the two", () => {
  const base = { a: { b: 1 }, l: [1] };
  const over = { a: { c: 2 }, l: [2] };
  merge(base, over);
  assertEquals(base, { a: { b: 1 }, l: [1] });
  assertEquals(over, { a: { c: 2 }, l: [2] });
});

Deno.test("mergeDicts() keeps the key __proto__ a key", () => {
  const over = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}}');
  const merged = mergeDicts({ a: {} }, over);
  assertEquals(Object.keys(merged), ["a", "__proto__", "constructor"]);
  const nested = mergeDicts({ a: {} }, { a: over }) as { readonly a: Value };
  assertEquals(JSON.stringify(nested.a), JSON.stringify(over));
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
  assertEquals(Object.keys(mergeDicts(over, over)), ["__proto__", "constructor"]);
});

Deno.test("describeValue() names the type of a value, or shows a short one", () => {
  const rows: [value: unknown, words: string][] = [
    [null, "nothing"],
    [undefined, "nothing"],
    [[1], "a list"],
    [{ a: 1 }, "a map"],
    ['a"b', '"a\\"b"'],
    ["x".repeat(100), "a long text"],
    [1.5, "1.5"],
    [NaN, "NaN"],
    [false, "false"],
  ];
  for (const [value, words] of rows) assertEquals(describeValue(value), words);
});
