import { assertEquals, assertThrows } from "@std/assert";
import { diffLines } from "../../src/value/diff_lines.ts";
import { boundedMeter, LimitError, UNMETERED } from "../../src/value/meter.ts";
import type { Value } from "../../src/value/value.ts";

const options = {
  meter: UNMETERED,
  show: (value: Value) => value,
  mask: (text: string) => text,
};

const rows: readonly [what: string, left: Value, right: Value, lines: string[]][] = [
  [
    "a key that differs",
    { a: 1, b: "x" },
    { a: 1, b: "y" },
    ["@ .b", "  {", '    "a": 1', '-   "b": "x"', '+   "b": "y"', "  }"],
  ],
  [
    "a key on one side",
    { a: 1 },
    { a: 1, b: { c: null } },
    ["@ .b", "  {", '    "a": 1', '+   "b": {"c":null}', "  }"],
  ],
  [
    "an item too many in front",
    [1, 2, 3],
    [0, 1, 2, 3],
    ["@ [0]", "  [", "+   0", "    1", "    2", "    3"],
  ],
  ["an item that is missing", [1, 2, 3], [1, 3], [
    "@ [1]",
    "  [",
    "    1",
    "-   2",
    "    3",
    "  ]",
  ]],
  [
    "what was put in, left out and changed, each by itself",
    [1, 2, { id: 3, name: "three", size: 1 }, 4, 5, 6, 7, 8, 9, 10],
    [0, 1, 2, { id: 3, name: "drei", size: 1 }, 4, 5, 6, 7, 8, 10, 11],
    [
      "@ [0], [2].name",
      "  [",
      "+   0",
      "    1",
      "    2",
      "    {",
      '      "id": 3',
      '-     "name": "three"',
      '+     "name": "drei"',
      '      "size": 1',
      "    }",
      "    4",
      "@ [8], [10]",
      "    6",
      "    7",
      "    8",
      "-   9",
      "    10",
      "+   11",
      "  ]",
    ],
  ],
  ["values of two kinds", [{ a: [] }], [{ a: {} }], [
    "@ [0].a",
    "  [",
    "    {",
    '-     "a": []',
    '+     "a": {}',
    "    }",
    "  ]",
  ]],
];

for (const [what, left, right, lines] of rows) {
  Deno.test(`diffLines() shows ${what}`, () =>
    assertEquals(diffLines(left, right, options), lines));
}

Deno.test("diffLines() leaves out what is far from any difference, and says where it goes on", () => {
  const list = (last: number) => ({ many: Array.from({ length: 99 }, (_, at) => at), last });
  const wide = (value: string) => ({ a: 1, b: 2, c: 3, d: 4, e: 5, f: value });
  assertEquals(diffLines(wide("x"), wide("y"), options), [
    "@ .f",
    '    "c": 3',
    '    "d": 4',
    '    "e": 5',
    '-   "f": "x"',
    '+   "f": "y"',
    "  }",
  ]);
  assertEquals(diffLines(list(1), list(2), options).length, 6);
});

Deno.test("diffLines() shows nothing but what may be shown", () => {
  const mask = (text: string) => text.replaceAll("secret", "***");
  const show = (value: Value) => JSON.parse(JSON.stringify(value).replaceAll("secret", "***"));
  const lines = diffLines({ secret: "a secret" }, { secret: "b secret" }, {
    ...options,
    show,
    mask,
  });
  assertEquals(lines, [
    '@ ["***"]',
    "  {",
    '-   "***": "a ***"',
    '+   "***": "b ***"',
    "  }",
  ]);
});

Deno.test("diffLines() gives up where comparing is too much work", () => {
  let twice: Value = { a: 1 };
  for (let depth = 0; depth < 40; depth++) twice = { a: twice, b: twice };
  const other = { ...twice as Record<string, Value>, c: 1 };
  const meter = boundedMeter(1000);
  const unlike: Value = JSON.parse('{"a":{"a":{"a":1},"b":2},"b":3}');
  assertEquals(diffLines(unlike, { a: 1 }, { ...options, meter }).length > 0, true);
  let copy: Value = { a: 1 };
  for (let depth = 0; depth < 40; depth++) copy = { a: copy, b: copy };
  assertThrows(() => diffLines(copy, other, { ...options, meter }), LimitError);
});

Deno.test("diffLines() shows where long texts differ, not what both begin with", () => {
  const text = "word ".repeat(50);
  assertEquals(diffLines({ a: `${text}X` }, { a: `${text}Y` }, options), [
    "@ .a",
    "  {",
    `-   "a": …"${text.slice(-30)}X"`,
    `+   "a": …"${text.slice(-30)}Y"`,
    "  }",
  ]);
});

Deno.test("diffLines() tells how many lines are too many", () => {
  const numbers = (from: number) => Array.from({ length: 100 }, (_, at) => from + at);
  const lines = diffLines(numbers(0), numbers(1000), options);
  assertEquals(lines.length, 61);
  assertEquals(lines.at(-1), "… (143 more lines)");
});
