import { assertEquals } from "@std/assert";
import { printable, printableLine } from "../../../src/base/text/printable.ts";

const cases: readonly (readonly [title: string, text: string, expected: string])[] = [
  ["leaves plain text, line ends and tabs alone", "a\n\tb é 日 ✓", "a\n\tb é 日 ✓"],
  ["makes escape sequences visible", "\x1b[31mred\x1b[0m", "␛[31mred␛[0m"],
  ["makes a carriage return visible", "good\rbad", "good␍bad"],
  ["takes the line ends of Windows for line ends", "a\r\nb", "a\nb"],
  ["makes nothing of NUL, backspace and DEL", "\0\b\x7f", "␀␈␡"],
  ["replaces the controls above 127", "\x9b2J", "\ufffd2J"],
  ["replaces what turns the order of text around", "a\u202eb\u2066c", "a\ufffdb\ufffdc"],
];
for (const [title, text, expected] of cases) {
  Deno.test(`printable() ${title}`, () => assertEquals(printable(text), expected));
}

Deno.test("printableLine() shows line ends and tabs too", () => {
  assertEquals(printableLine("a\r\nb\tc"), "a␍␊b␉c");
});
