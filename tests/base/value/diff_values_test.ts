import { assert, assertEquals, assertRejects } from "@std/assert";
import { diffValues } from "../../../src/base/value/diff_values.ts";
import { boundedMeter, LimitError, UNMETERED } from "../../../src/base/value/meter.ts";
import type { Value } from "../../../src/base/value/value.ts";

const options = { meter: UNMETERED, mask: (text: string) => text };
const long = "abcdefghij ".repeat(20);

const rows: readonly [what: string, expected: Value, received: Value, lines: string[]][] = [
  [
    "a key that differs",
    { a: 1, b: "x" },
    { a: 1, b: "y" },
    ["@ .b", "  {", '    "a": 1', '-   "b": "x"', '+   "b": "y"', "  }"],
  ],
  [
    "a key on one side, its items each on a line",
    { a: 1 },
    { a: 1, b: { c: null, d: [] } },
    [
      "@ .b.c, .b.d",
      "  {",
      '    "a": 1',
      '+   "b": {',
      '+     "c": null',
      '+     "d": []',
      "+   }",
      "  }",
    ],
  ],
  [
    "an additional first item",
    [1, 2, 3],
    [0, 1, 2, 3],
    ["@ [0]", "  [", "+   0", "    1", "    2", "    3"],
  ],
  ["a missing item", [1, 2, 3], [1, 3], ["@ [1]", "  [", "    1", "-   2", "    3", "  ]"]],
  ["an empty list and an empty map", [{ a: [] }], [{ a: {} }], [
    "@ [0].a",
    "  [",
    "    {",
    '-     "a": []',
    '+     "a": {}',
    "    }",
    "  ]",
  ]],
  ["no order of keys", { a: 1, b: 2 }, { b: 2, a: 1 }, []],
  ["nothing of short texts that are clearly different", "yes", "no", []],
  ["nothing of equal texts", long, long, []],
  [
    "where long lines differ, and not their beginnings",
    `${long}X${long}`,
    `${long}Y${long}`,
    [
      "@ character 221",
      `- …${`${long}`.slice(-30)}X${long.slice(0, 89)}…`,
      `+ …${`${long}`.slice(-30)}Y${long.slice(0, 89)}…`,
    ],
  ],
  [
    "where one text ends and the other continues",
    long,
    `${long}more`,
    ["@ character 221", `- …${long.slice(-30)}`, `+ …${long.slice(-30)}more`],
  ],
  ["a space without a break", "a b", "a\u00a0b", ["@ character 2", '- "a b"', '+ "a\\u00a0b"']],
  [
    "an accent that is a character of its own",
    "caf\u00e9",
    "cafe\u0301",
    ["@ character 4", '- "caf\u00e9"', '+ "cafe\\u0301"'],
  ],
  ["a character without width", "ab", "a\u200bb", ["@ character 2", '- "ab"', '+ "a\\u200bb"']],
  ["a space at the end", "ab", "ab ", ["@ character 3", '- "ab"', '+ "ab "']],
  ["a missing last line end", "a\n", "a", ["@ character 2", '- "a\\n"', '+ "a"']],
  ["a missing line end after many lines", "a\nb\n", "a\nb", [
    "@ line 2",
    "  a",
    '- "b\\n"',
    '+ "b"',
  ]],
  ["line ends of another system", "a\r\nb\n", "a\nb\n", ["@ line 1", '- "a\\r"', '+ "a"', "  b"]],
  [
    "added and changed lines, with three lines around them",
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
    "several lines in a row, the expected ones first",
    `same\none\ntwo\n${long}`,
    `same\nuno\ndue\ntre\n${long}`,
    ["@ line 2", "  same", "- one", "- two", "+ uno", "+ due", "+ tre", `  ${long.slice(0, 119)}…`],
  ],
  [
    "where long texts in a map differ",
    { a: `${long}X` },
    { a: `${long}Y` },
    [
      "@ .a",
      "  {",
      `- …${long.slice(-30)}X"`,
      `+ …${long.slice(-30)}Y"`,
      "  }",
    ],
  ],
];

for (const [what, expected, received, lines] of rows) {
  Deno.test(`diffValues() shows ${what}`, async () =>
    assertEquals(await diffValues(expected, received, options), lines));
}

Deno.test("diffValues() leaves out lines that are far from any difference", async () => {
  const list = (last: number) => ({ many: Array.from({ length: 99 }, (_, at) => at), z: last });
  assertEquals(await diffValues(list(1), list(2), options), [
    "@ .z",
    "      97",
    "      98",
    "    ]",
    '-   "z": 1',
    '+   "z": 2',
    "  }",
  ]);
});

Deno.test("diffValues() masks keys, values and places", async () => {
  const mask = (text: string) => text.replaceAll("secret", "***");
  const lines = await diffValues({ secret: "a secret" }, { secret: "b secret" }, {
    ...options,
    mask,
  });
  assertEquals(lines, ["@ .***", "  {", '-   "***": "a ***"', '+   "***": "b ***"', "  }"]);
  assertEquals(await diffValues("1\nsecret", "1\nsecret", { ...options, mask }), []);
});

Deno.test("diffValues() fails if values are too large to compare", async () => {
  let twice: Value = { a: 1 };
  for (let depth = 0; depth < 40; depth++) twice = { a: twice, b: twice };
  const meter = boundedMeter(1000);
  await assertRejects(() => diffValues(twice, { a: 1 }, { ...options, meter }), LimitError);
});

Deno.test("diffValues() reports how many lines are left out", async () => {
  const numbers = (from: number) => Array.from({ length: 100 }, (_, at) => from + at);
  const lines = await diffValues(numbers(0), numbers(1000), options);
  assertEquals(lines.length, 61);
  assertEquals(lines.at(-1), "… (143 more lines)");
});

Deno.test("diffValues() shows the first differences of texts that differ in most lines", async () => {
  const text = (from: number) =>
    Array.from({ length: 100_000 }, (_, at) => `${from + at * 7 % 99_991}\n`).join("");
  const lines = await diffValues(`a\n${text(0)}z`, `a\n${text(200_000)}z`, options);
  assertEquals(lines.slice(0, 3), ["@ line 2", "  a", "- 0"]);
  assertEquals(lines.at(-1), "… (199943 more lines)");
});

Deno.test("diffValues() counts characters, and never cuts one in two", async () => {
  const faces = "😀".repeat(100);
  const lines = await diffValues(`${faces}😀${faces}`, `${faces}😁${faces}`, options);
  assertEquals(lines[0], "@ character 101");
  assert(lines.every((line) => line.isWellFormed() && !line.includes("\ufffd")), lines.join("\n"));
});
