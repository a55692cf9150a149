import { assertEquals } from "@std/assert";
import { cutToWidth, displayWidth } from "../../../src/base/text/display_width.ts";

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
