import { assert, assertEquals } from "@std/assert";
import { diffTexts, twoTexts } from "../../src/value/diff_texts.ts";

const long = "abcdefghij ".repeat(20);

const rows: readonly [what: string, left: string, right: string, lines: string[]][] = [
  ["nothing of short texts that plainly differ", "yes", "no", []],
  ["nothing of the same text", long, long, []],
  [
    "where long lines differ, and not what they begin with",
    `${long}X${long}`,
    `${long}Y${long}`,
    [
      "@ character 221",
      `- …"${`${long}`.slice(-30)}X${long.slice(0, 59)}"…`,
      `+ …"${`${long}`.slice(-30)}Y${long.slice(0, 59)}"…`,
    ],
  ],
  [
    "where one ends and the other goes on",
    long,
    `${long}more`,
    ["@ character 221", `- …"${long.slice(-30)}"`, `+ …"${long.slice(-30)}more"`],
  ],
  ["a space that is none", "a b", "a\u00a0b", ["@ character 2", '- "a b"', '+ "a\\u00a0b"']],
  [
    "an accent that is a character of its own",
    "caf\u00e9",
    "cafe\u0301",
    ["@ character 4", '- "caf\u00e9"', '+ "cafe\\u0301"'],
  ],
  ["what nobody sees", "ab", "a\u200bb", ["@ character 2", '- "ab"', '+ "a\\u200bb"']],
  ["a space at the end", "ab", "ab ", ["@ character 3", '- "ab"', '+ "ab "']],
  ["a last line end", "a\n", "a", ["@ character 2", '- "a\\n"', '+ "a"']],
  ["line ends of another kind", "a\r\nb\n", "a\nb\n", [
    "@ line 1",
    '- "a\\r"',
    '+ "a"',
    "  b",
  ]],
  [
    "lines that are not in the other text, with three around them",
    "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n",
    "1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n16b\n17\n18\n",
    [
      "@ line 5",
      "  2",
      "  3",
      "  4",
      "- 5",
      "+ five",
      "  6",
      "  7",
      "  8",
      "@ line 17",
      "  14",
      "  15",
      "  16",
      "+ 16b",
      "  17",
      "  18",
    ],
  ],
  [
    "several lines in a row, those of the left first",
    `same\none\ntwo\n${long}`,
    `same\nuno\ndue\ntre\n${long}`,
    ["@ line 2", "  same", "- one", "- two", "+ uno", "+ due", "+ tre", `  ${long.slice(0, 119)}…`],
  ],
];

for (const [what, left, right, lines] of rows) {
  Deno.test(`diffTexts() shows ${what}`, () => assertEquals(diffTexts(left, right), lines));
}

Deno.test("diffTexts() counts characters and cuts none in two", () => {
  const faces = "😀".repeat(100);
  const lines = diffTexts(`${faces}😀${faces}`, `${faces}😁${faces}`);
  assertEquals(lines[0], "@ character 101");
  assertEquals(lines.every((line) => line.isWellFormed()), true);
  assertEquals(lines.slice(1).map((line) => /[😀😁]+/u.exec(line.slice(34))?.[0].slice(0, 2)), [
    "😀",
    "😁",
  ]);
  assert(!lines.join("").includes("\ufffd"), lines.join("\n"));
});

Deno.test("twoTexts() cuts both alike, wherever they differ", () => {
  for (let at = 0; at < 300; at++) {
    const text = Array.from({ length: 300 }, (_, index) => String.fromCharCode(65 + index % 26));
    const [left, right] = [text.join(""), text.with(at, "-").join("")];
    const [a, b] = twoTexts(left, right);
    assert(a !== b && b.includes("-"), `${at}: ${a} ${b}`);
    assertEquals(a.length, b.length);
    assert(a.length <= 100, a);
  }
});
