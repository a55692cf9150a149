import { assertEquals } from "@std/assert";
import { findOpening } from "../../../src/base/yaml/find_opening.ts";

/** Texts with `«` before the quote or bracket that is still open at their end. */
const TEXTS: readonly string[] = [
  'a: «"b',
  "a: «'b",
  "a: «[1, 2",
  "a: «{b: 1",
  "a: {b: «[1, 2",
  'a: {b: [1, «"2}',
  "«{a: 1,\n b: 2",
  // Closed brackets above it are skipped.
  'a: {b: 1}\nc: [1, "2"]\nd: «"e',
  "- {a: [1]}\n- «{a: [1]\n",
  "a: {b: 1,\n  c: 2}\nd: «{e: 1\n",
  "a: {b: 1, # }\n  c: 2}\nd: «{e: 1\n",
  'a: "x\n  y"\nb: «"z',
  "a: 'it''s'\nb: «'it''s",
  'a: "\\""\nb: «"\\"',
  '"a": 1\n«"b',
  // A quote inside of text does not open a string.
  "a: it's\nb: «[1",
  'a: 5" x [1, {\nb: «"c',
  "a: {b: it's, c: d\"e}\nb: «{",
  "- it's\n- «'x",
  "a: b\n  'c\nd: «'e",
  "a: |\n  it's {\n\n  [\nb: «[1",
  "- a: |\n    it's {\n  b: «[1",
  "- |\n  it's {\n- «[1",
  "- >-\n  \"x\n- b: «'",
  'a: &x "b"\nc: !!str «"d',
  "# it's [\na: b # {\nc: «{d: 1",
  "- - - «[",
  "-\n  a: «[1",
  "a:\n text\nb: «[1",
  "a:\n  text\n goes on\nb: «[1",
  "a:\n  - b:\n      c: «'d",
  // Nothing is open.
  "",
  "a: 1\nb: [1, {c: 2}]\nd: 'e'\n",
  "a: it's\n",
  "a: |\n  {\n  [",
];

Deno.test("findOpening() finds the innermost quote or bracket that is still open", () => {
  for (const marked of TEXTS) {
    const at = marked.indexOf("«");
    const text = marked.replace("«", "");
    assertEquals(findOpening(text, text.length), at < 0 ? undefined : at, marked);
  }
});

Deno.test("findOpening() does not look beyond the end that it is given", () => {
  const text = 'a: "b\nc: "d"\n';
  assertEquals(findOpening(text, text.indexOf("c")), 3);
});

Deno.test("findOpening() takes time that grows with the text", () => {
  const text = "a: {b: 1}\n".repeat(100_000) + 'c: "' + 'x\\"\n'.repeat(500_000);
  assertEquals(findOpening(text, text.length), 1_000_003);
  const wide = `- a${" ".repeat(1_000_000)}b\n- "d`;
  assertEquals(findOpening(wide, wide.length), wide.length - 2);
});
