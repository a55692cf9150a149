import { assertEquals } from "@std/assert";
import { compareValues, isEqual } from "../../../src/base/value/compare.ts";
import type { Value } from "../../../src/base/value/value.ts";

Deno.test("isEqual() compares by what values hold", () => {
  const cases: [Value, Value, boolean][] = [
    [1, 1.0, true],
    [1, "1", false],
    [null, null, true],
    [null, 0, false],
    [NaN, NaN, false],
    [[1, [2]], [1, [2]], true],
    [[1, 2], [2, 1], false],
    [[1], [1, 2], false],
    [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, false],
    [{ a: null }, { b: null }, false],
    [{}, [], false],
    [{}, { toString: null }, false],
    ["é", "é", true],
  ];
  for (const [a, b, same] of cases) {
    assertEquals(isEqual(a, b), same, JSON.stringify([a, b]));
    assertEquals(isEqual(b, a), same, JSON.stringify([b, a]));
  }
});

Deno.test("compareValues() puts texts in the order of their code points", () => {
  const texts = [
    "",
    "A",
    "B",
    "a",
    "ab",
    "é",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\u{10000}",
    "\u{1F600}",
  ];
  for (const [i, a] of texts.entries()) {
    for (const [j, b] of texts.entries()) {
      assertEquals(Math.sign(compareValues(a, b)!), Math.sign(i - j), JSON.stringify([a, b]));
    }
  }
  assertEquals(Math.sign(compareValues("x\u{1F600}", "x\uffff")!), 1);
  assertEquals(Math.sign(compareValues("x", "x\u{1F600}")!), -1);
});

Deno.test("compareValues() has no answer for values of different types", () => {
  assertEquals(compareValues(1, "1"), undefined);
  assertEquals(compareValues(null, null), undefined);
  assertEquals(compareValues([1], [2]), undefined);
  assertEquals(compareValues(Infinity, Infinity), 0);
});
