import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { compareValues, isEqual } from "../../src/base/value/compare.ts";
import { diffValues } from "../../src/base/value/difference.ts";
import {
  durationProblem,
  formatClock,
  formatDuration,
  formatElapsed,
  parseDuration,
  roundDuration,
} from "../../src/base/value/duration.ts";
import { parseJson } from "../../src/base/value/parse_json.ts";
import { describeValue, merge, mergeDicts, type Value } from "../../src/base/value/value.ts";

const CASES: readonly { readonly base: Value; readonly over: Value; readonly gives: Value }[] = [
  { base: { a: 1 }, over: { b: 2 }, gives: { a: 1, b: 2 } },
  { base: { a: 1, b: 1 }, over: { a: 2 }, gives: { a: 2, b: 1 } },
  {
    base: { a: { b: 1, c: { d: 1 } } },
    over: { a: { c: { e: 2 } } },
    gives: { a: { b: 1, c: { d: 1, e: 2 } } },
  },
  { base: { a: [1, 2, 3] }, over: { a: [4] }, gives: { a: [4] } },
  { base: { a: { b: 1 } }, over: { a: "text" }, gives: { a: "text" } },
  { base: { a: { b: 1 } }, over: { a: null }, gives: { a: null } },
  { base: { a: 1 }, over: { a: { b: 1 } }, gives: { a: { b: 1 } } },
  { base: { a: 1 }, over: {}, gives: { a: 1 } },
  { base: [1], over: { a: 1 }, gives: { a: 1 } },
  { base: null, over: 5, gives: 5 },
];

Deno.test("merge() merges one value over another, mappings key by key", () => {
  for (const { base, over, gives } of CASES) {
    assertEquals(JSON.stringify(merge(base, over)), JSON.stringify(gives));
  }
});

Deno.test("merge() changes neither of the two", () => {
  const base = { a: { b: 1 }, l: [1] };
  const over = { a: { c: 2 }, l: [2] };
  merge(base, over);
  assertEquals(base, { a: { b: 1 }, l: [1] });
  assertEquals(over, { a: { c: 2 }, l: [2] });
});

Deno.test("mergeDicts() keeps the key __proto__ a key", () => {
  const over = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}}');
  const merged = mergeDicts({ a: {} }, over);
  assertEquals(Object.keys(merged), ["a", "__proto__", "constructor"]);
  const nested = mergeDicts({ a: {} }, { a: over }) as { readonly a: Value };
  assertEquals(JSON.stringify(nested.a), JSON.stringify(over));
  assertEquals(({} as Record<string, unknown>).polluted, undefined);
  assertEquals(Object.keys(mergeDicts(over, over)), ["__proto__", "constructor"]);
});

Deno.test("describeValue() names the type of a value, or shows a short one", () => {
  const rows: [value: unknown, description: string][] = [
    [null, "nothing"],
    [undefined, "nothing"],
    [[1], "a list"],
    [{ a: 1 }, "a map"],
    ['a"b', '"a\\"b"'],
    ["x".repeat(100), "a long text"],
    [1.5, "1.5"],
    [NaN, "NaN"],
    [false, "false"],
  ];
  for (const [value, description] of rows) assertEquals(describeValue(value), description);
});

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

Deno.test("compareValues() puts texts in the order of their characters", () => {
  const texts = ["", "A", "B", "a", "ab", "é", "日", "\u{1F600}"];
  for (const [i, a] of texts.entries()) {
    for (const [j, b] of texts.entries()) {
      assertEquals(Math.sign(compareValues(a, b)!), Math.sign(i - j), JSON.stringify([a, b]));
    }
  }
});

Deno.test("compareValues() has no answer for values of different types", () => {
  assertEquals(compareValues(1, "1"), undefined);
  assertEquals(compareValues(null, null), undefined);
  assertEquals(compareValues([1], [2]), undefined);
  assertEquals(compareValues(Infinity, Infinity), 0);
});

const good: readonly (readonly [unknown, number])[] = [
  [0, 0],
  [3, 3000],
  [0.25, 250],
  ["0", 0],
  ["5", 5000],
  ["1.5", 1500],
  [".5", 500],
  ["300ms", 300],
  ["1.5s", 1500],
  ["1.s", 1000],
  [".5s", 500],
  ["2m", 120_000],
  ["1h30m", 5_400_000],
  ["1h0m0.5s", 3_600_500],
  ["250us", 0.25],
  ["500us", 0.5],
  ["250µs", 0.25],
  ["250\u03bcs", 0.25],
  ["1000000ns", 1],
  ["1m1ms", 60_001],
  ["1.001s", 1001],
  [" 2s ", 2000],
];

for (const [value, milliseconds] of good) {
  Deno.test(`parseDuration() reads ${JSON.stringify(value)}`, () => {
    assertEquals(parseDuration(value), milliseconds);
    assertEquals(durationProblem(value), undefined);
  });
}

const bad: readonly unknown[] = [
  "",
  "s",
  "abc",
  "5 minutes",
  "5x",
  "1s ago",
  "1h 30m",
  "1e3",
  "0x10",
  ".",
  ".s",
  "1..5s",
  "Infinity",
  "9".repeat(310) + "h",
  "5S",
  NaN,
  Infinity,
  null,
  undefined,
  true,
  [],
  {},
];

for (const value of bad) {
  Deno.test(`parseDuration() refuses ${JSON.stringify(value) ?? value}`, () => {
    assertEquals(parseDuration(value), undefined);
    assertStringIncludes(durationProblem(value)!, 'must be a duration like "300ms"');
  });
}

for (const value of [-1, "-1", "-5s", " -1h30m"]) {
  Deno.test(`parseDuration() refuses the negative ${JSON.stringify(value)}`, () => {
    assertEquals(parseDuration(value), undefined);
    assertEquals(durationProblem(value), `must not be negative, not ${JSON.stringify(value)}`);
  });
}

Deno.test("durationProblem() shows the value in words that expressions have", () => {
  for (const [value, shown] of [[null, "nil"], [Infinity, "Infinity"], ["a", '"a"']] as const) {
    assertEquals(durationProblem(value)?.endsWith(`, not ${shown}`), true);
  }
});

const shown: readonly (readonly [number, string])[] = [
  [0, "0s"],
  [0.0001, "0s"],
  [0.25, "250µs"],
  [0.9999, "1ms"],
  [1, "1ms"],
  [2.820409, "2.82ms"],
  [300, "300ms"],
  [999.9999, "1s"],
  [1000, "1s"],
  [1500, "1.5s"],
  [1234.567, "1.235s"],
  [59_999.9, "1m"],
  [90_500, "1m30.5s"],
  [120_000, "2m"],
  [3_600_000, "1h"],
  [5_400_000, "1h30m"],
  [3_601_000, "1h1s"],
  [90_000_000, "25h"],
];

for (const [milliseconds, text] of shown) {
  Deno.test(`formatDuration() writes ${milliseconds} ms as ${text}`, () => {
    assertEquals(formatDuration(milliseconds), text);
  });
}

Deno.test("formatDuration() writes what parseDuration() reads back", () => {
  for (const milliseconds of [1, 17, 999, 1000, 1001, 61_003, 3_600_001, 7_265_500]) {
    assertEquals(parseDuration(formatDuration(milliseconds)), milliseconds);
  }
});

const elapsed: readonly (readonly [number, string])[] = [
  [0, "0ms"],
  [0.04, "0ms"],
  [0.36, "0.4ms"],
  [6.5, "6.5ms"],
  [9.96, "10ms"],
  [12.4, "12ms"],
  [999.4, "999ms"],
  [999.6, "1s"],
  [1234, "1.2s"],
  [59_940, "59.9s"],
  [59_960, "1m"],
  [125_000, "2m5s"],
  [3_600_000, "1h"],
  [3_725_000, "1h2m"],
];

for (const [milliseconds, text] of elapsed) {
  Deno.test(`formatElapsed() writes ${milliseconds} ms as ${text}`, () => {
    assertEquals(formatElapsed(milliseconds), text);
  });
}

Deno.test("formatClock() shows local time to the millisecond", () => {
  assertEquals(formatClock(new Date(2026, 0, 2, 3, 4, 5, 6).getTime()), "03:04:05.006");
});

Deno.test("roundDuration() drops digits below the microsecond", () => {
  assertEquals([0.06749899999999798, 2.9, 1234.5678].map(roundDuration), [0.067, 2.9, 1234.568]);
});

Deno.test("parseJson() keeps all digits of integers, and numbers that would be infinite as text", () => {
  const cases: [string, unknown][] = [
    ["12345678901234567890", 12345678901234567890n],
    ["-9007199254740993", -9007199254740993n],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992],
    ["100000000000000000000", 100000000000000000000n],
    ["9".repeat(309), "9".repeat(309)],
    ["0.12345678901234567", 0.12345678901234567],
    ["12345678901234567890e2", 12345678901234567890e2],
    ["9007199254740993.0", 9007199254740992],
    ['"12345678901234567890"', "12345678901234567890"],
    ["1", 1],
    ["1e999", "1e999"],
    ["-1.5E+0400", "-1.5E+0400"],
    ["1e308", 1e308],
    ["1e-400", 0],
  ];
  for (const [text, value] of cases) {
    assertEquals(parseJson(text), value, text);
    assertEquals(parseJson(`{"a": [${text}, 1]}`), { a: [value, 1] }, text);
  }
});

Deno.test("parseJson() takes __proto__ as a key like any other", () => {
  for (const text of ['{"__proto__": {"x": 1}}', '{"__proto__": {"x": 12345678901234567}}']) {
    const value = parseJson(text) as object;
    assertEquals(Object.keys(value), ["__proto__"]);
    assertEquals("x" in value, false);
  }
});

Deno.test("parseJson() rejects excessive nesting", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  parseJson(nested(500));
  assertThrows(() => parseJson(nested(501)), SyntaxError, "nested more than 500 levels deep");
  assertThrows(() => parseJson(nested(100_000)), SyntaxError, "nested more than 500 levels deep");
  const long = "[".repeat(100_000) + "1234567890123456789" + "]".repeat(100_000);
  assertThrows(() => parseJson(long), SyntaxError, "nested more than 500 levels deep");
  assertThrows(() => parseJson("{"), SyntaxError);
});

const asItIs = (text: string) => text;
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
    ["@ line 2", "  same", "- one", "- two", "+ uno", "+ due", "+ tre", `  ${long.slice(0, 120)}…`],
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
    assertEquals(await diffValues(expected, received, asItIs), lines));
}

Deno.test("diffValues() leaves out lines that are far from any difference", async () => {
  const list = (last: number) => ({ many: Array.from({ length: 99 }, (_, at) => at), z: last });
  assertEquals(await diffValues(list(1), list(2), asItIs), [
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
  const lines = await diffValues({ secret: "a secret" }, { secret: "b secret" }, mask);
  assertEquals(lines, ["@ .***", "  {", '-   "***": "a ***"', '+   "***": "b ***"', "  }"]);
  assertEquals(await diffValues("1\nsecret", "1\nsecret", mask), []);
});

Deno.test("diffValues() gives no diff of values that are too large", async () => {
  let twice: Value = { a: 1 };
  for (let depth = 0; depth < 40; depth++) twice = { a: twice, b: twice };
  assertEquals(await diffValues(twice, { a: 1 }, asItIs), []);
});

Deno.test("diffValues() reports how many lines are left out", async () => {
  const numbers = (from: number) => Array.from({ length: 100 }, (_, at) => from + at);
  const lines = await diffValues(numbers(0), numbers(1000), asItIs);
  assertEquals(lines.length, 61);
  assertEquals(lines.at(-1), "… (143 more lines)");
});

Deno.test("diffValues() shows the first differences of texts that differ in most lines", async () => {
  const text = (from: number) =>
    Array.from({ length: 100_000 }, (_, at) => `${from + at * 7 % 99_991}\n`).join("");
  const lines = await diffValues(`a\n${text(0)}z`, `a\n${text(200_000)}z`, asItIs);
  assertEquals(lines.slice(0, 3), ["@ line 2", "  a", "- 0"]);
  assertEquals(lines.at(-1), "… (199943 more lines)");
});

Deno.test("diffValues() counts characters, and never cuts one in two", async () => {
  const faces = "😀".repeat(100);
  const lines = await diffValues(`${faces}😀${faces}`, `${faces}😁${faces}`, asItIs);
  assertEquals(lines[0], "@ character 101");
  assert(lines.every((line) => line.isWellFormed() && !line.includes("\ufffd")), lines.join("\n"));
});
