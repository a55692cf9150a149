import { assertEquals } from "@std/assert";
import { wrapLine, wrapWords } from "../../../src/base/text/wrap_text.ts";

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
  assertEquals(wrapWords('see "https://a.b/c?d" now', 5), ["see", '"https://a.b/c?d"', "now"]);
});
