import { assert, assertEquals } from "@std/assert";
import { fittingJson, renderJson, shortJson } from "../../src/report/text/render_json.ts";
import type { Value } from "../../src/base/value/value.ts";

Deno.test("renderJson() keeps on one line what fits there", () => {
  assertEquals(renderJson({ id: 1, tags: ["a", "b"] }, 80), ['{"id": 1, "tags": ["a", "b"]}']);
});

Deno.test("renderJson() breaks what does not fit, and only that", () => {
  const value = { id: 1, tags: ["one", "two"], owner: { name: "a rather long name", age: 30 } };
  assertEquals(renderJson(value, 34), [
    "{",
    '  "id": 1,',
    '  "tags": ["one", "two"],',
    '  "owner": {',
    '    "name": "a rather long name",',
    '    "age": 30',
    "  }",
    "}",
  ]);
});

Deno.test("renderJson() writes what JSON.parse() reads back", () => {
  const value: Value = { 'a"b': [1, null, true, "x\ny", [], {}], long: "word ".repeat(5).trim() };
  for (const columns of [38, 60, 200]) {
    assertEquals(JSON.parse(renderJson(value, columns).join("\n")), value);
  }
});

Deno.test("shortJson() ends with … where it left something out", () => {
  assertEquals(shortJson([1, 2, 3], 20), "[1, 2, 3]");
  assertEquals(shortJson("abcdefghij", 8), '"abcdef…');
  assertEquals(shortJson({ key: "abcdefghij", more: 1 }, 12), '{"key": "ab…');
  assertEquals(shortJson(Array.from({ length: 100 }, (_, i) => i), 12), "[0, 1, 2, 3…");
  // A value that did not fit is not shown as empty.
  assertEquals(shortJson([{ a: 1 }, { b: 2 }], 13), '[{"a": 1}, {…');
  assertEquals(shortJson({ list: [{ a: 1 }] }, 13), '{"list": [{…');
  for (const columns of [2, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]) {
    const text = shortJson({ a: [], b: [[1], {}] }, columns);
    assert(text.length <= columns && text.endsWith("…"), text);
    assert(
      JSON.stringify({ a: [], b: [[1], {}] }).startsWith(text.slice(0, -1).replaceAll(" ", "")),
    );
  }
});

Deno.test("fittingJson() gives up as soon as it is clear that a value is too long", () => {
  assertEquals(fittingJson({ a: 1 }, 8), '{"a": 1}');
  assertEquals(fittingJson({ a: 1 }, 7), undefined);
});

Deno.test("renderJson() does not lose its way in data that is nested without end", () => {
  let value: Value = 1;
  for (let depth = 0; depth < 5000; depth++) value = [value];
  assert(renderJson(value, 80).length < 200);
});

Deno.test("shortJson() writes numbers that JSON has no words for as expressions do", () => {
  assertEquals(shortJson([Infinity, -Infinity, NaN], 20), "[+Inf, -Inf, NaN]");
});
