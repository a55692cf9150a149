import { assertEquals } from "@std/assert";
import {
  boundLines,
  countOf,
  cutLine,
  indentLines,
  oneLine,
  textLines,
  wrapLine,
  wrapWords,
} from "../../src/report/text_lines.ts";

Deno.test("cutLine() counts columns, not characters", () => {
  assertEquals(cutLine("short", 5), "short");
  assertEquals(cutLine("longer", 5), "long…");
  assertEquals(cutLine("日本語", 6), "日本語");
  assertEquals(cutLine("日本語", 5), "日本…");
  assertEquals(cutLine("日本語", 4), "日…");
  assertEquals(cutLine("any", 0), "");
});

Deno.test("wrapLine() loses no character, however narrow it gets", () => {
  assertEquals(wrapLine("abcdefgh", 3), ["abc", "def", "gh"]);
  assertEquals(wrapLine("日本語", 5), ["日本", "語"]);
  assertEquals(wrapLine("日本語", 1), ["日", "本", "語"]);
  assertEquals(wrapLine("", 10), [""]);
});

Deno.test("wrapWords() ends lines between words where it can", () => {
  assertEquals(wrapWords("  a b", 5), ["  a b"]);
  assertEquals(wrapWords("one two three", 8), ["one two", "three"]);
  assertEquals(wrapWords("no abcdefgh then", 5), ["no", "abcde", "fgh", "then"]);
  assertEquals(wrapWords("", 5), [""]);
});

Deno.test("textLines() keeps empty lines and makes tabs spaces", () => {
  assertEquals(textLines("a\n\n\tb", 80), ["a", "", "    b"]);
});

Deno.test("boundLines() says how many lines are missing", () => {
  assertEquals(boundLines(["a", "b", "c"], 3), ["a", "b", "c"]);
  assertEquals(boundLines(["a", "b", "c", "d"], 3), ["a", "b", "… (2 more lines)"]);
});

Deno.test("indentLines() leaves empty lines empty", () => {
  assertEquals(indentLines(["a", "", "b"], 2), ["  a", "", "  b"]);
});

Deno.test("oneLine() joins the lines of a name", () => {
  assertEquals(oneLine("two\n  lines\n"), "two lines");
  assertEquals(oneLine(" as it is "), " as it is ");
});

Deno.test("countOf() counts one and many", () => {
  assertEquals([0, 1, 2].map((count) => countOf(count, "job")), ["0 jobs", "1 job", "2 jobs"]);
});
