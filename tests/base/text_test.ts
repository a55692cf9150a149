import { assertEquals } from "@std/assert";
import {
  cutToWidth,
  displayWidth,
  wrapLine,
  wrapWords,
} from "../../src/base/text/display_width.ts";
import { printable, printableLine } from "../../src/base/text/printable.ts";
import { didYouMean, suggest } from "../../src/base/text/suggest.ts";

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

const NAMES = ["name", "needs", "steps", "skipif", "repeat", "retry", "max_attempts"];

Deno.test("suggest() finds the name that was meant", () => {
  const meant: readonly (readonly [string, string | undefined])[] = [
    ["nmae", "name"],
    ["Name", "name"],
    ["need", "needs"],
    ["step", "steps"],
    ["skip_if", "skipif"],
    ["repat", "repeat"],
    ["maxattempts", "max_attempts"],
    ["if", undefined],
    ["x", undefined],
    ["a", undefined],
    ["something", undefined],
    ["", undefined],
  ];
  for (const [word, name] of meant) assertEquals(suggest(word, NAMES), name, word);
});

Deno.test("didYouMean() asks", () => {
  assertEquals(didYouMean("nmae", NAMES), 'did you mean "name"?');
  assertEquals(didYouMean("something", NAMES), undefined);
});

Deno.test("displayWidth() counts the columns of a terminal", () => {
  const widths: readonly (readonly [string, number])[] = [
    ["", 0],
    ["abc", 3],
    ["äöü", 3],
    ["日本語", 6],
    ["한글", 4],
    ["ｱ", 1],
    ["Ａ", 2],
    ["e\u0301", 1],
    ["か\u3099", 2],
    ["😀", 2],
    ["✅", 2],
    ["✔△⎿·…→█", 7],
    ["\u200b", 0],
    ["𠀀", 2],
    ["🇩🇪", 2],
    ["ᄀ\u1161", 2],
    ["〈㈠㊿ꀀ", 8],
    ["䷀☰⚊", 6],
    ["﹏！￥", 6],
    ["ﾡ￮㉈⌚ꥠ", 7],
    ["𗀀𛀀𝌀🈁", 8],
    ["☺☎♥", 3],
  ];
  for (const [text, width] of widths) assertEquals(displayWidth(text), width, text);
});

Deno.test("cutToWidth() never cuts a character in two", () => {
  assertEquals(cutToWidth("abcdef", 3), "abc");
  assertEquals(cutToWidth("日本語", 5), "日本");
  assertEquals(cutToWidth("e\u0301x", 1), "e\u0301");
  assertEquals(cutToWidth("😀😀", 3), "😀");
  assertEquals(cutToWidth("abc", 10), "abc");
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
  assertEquals(wrapWords('see "https://a.b/c?d" now', 5), ["see", '"https://a.b/c?d"', "now"]);
});
