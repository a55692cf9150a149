import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { evaluateExpression, ExpressionError } from "../../src/expr/evaluate_expression.ts";
import {
  findMismatches,
  loadMatching,
  makeMatcher,
  pairUp,
} from "../../src/expr/functions/matching.ts";
import { explain } from "../../src/expr/evaluate/explain.ts";
import { parseExpression } from "../../src/expr/parse_expression.ts";
import { StepError } from "../../src/base/errors.ts";
import { renderMismatches } from "../../src/base/value/difference.ts";
import type { Value } from "../../src/base/value/value.ts";

/** Values and parts of them. */
const CASES: readonly (readonly [actual: string, part: string, includes: boolean])[] = [
  ["{a: 1, b: 2}", "{a: 1}", true],
  ["{a: 1, b: 2}", "{}", true],
  ["{a: 1}", "{a: 1, b: 2}", false],
  ["{a: {b: {c: 1, d: 2}}}", "{a: {b: {d: 2}}}", true],
  ["{a: nil}", "{a: nil}", true],
  ["{}", "{a: nil}", false],
  ["[1, 2]", "[1, 2]", true],
  ["[1, 2]", "[2, 1]", false],
  ["[1, 2, 3]", "[1, 2]", false],
  ["[{a: 1, b: 2}, {a: 3}]", "[{a: 1}, {}]", true],
  ["[]", "[]", true],
  ["1", "1", true],
  ["1", '"1"', false],
  ['"1"', "1", false],
  ["1.0", "1", true],
  ["[]", "{}", false],
  ["{}", "[]", false],
  ["nil", "nil", true],
  ['{id: "a7"}', '{id: "/^[a-z][0-9]$/"}', true],
  ["{id: 77}", '{id: "/^[0-9]+$/"}', true],
  ["{id: [77]}", '{id: "/7/"}', false],
  ['{path: "/"}', '{path: "/"}', true],
  ["{a: nil}", "{a: anything()}", true],
  ["{}", "{a: anything()}", false],
  ["{a: {b: 1}}", "{a: anything()}", true],
  ["5", "anything()", true],
  ["1", 'is_type("int")', true],
  ["1", 'is_type("integer")', true],
  ["1", 'is_type("number")', true],
  ["1", 'is_type("float")', false],
  ["1.5", 'is_type("float")', true],
  ["1.5", 'is_type("integer")', false],
  ["true", 'is_type("boolean")', true],
  ["true", 'is_type("bool")', true],
  ["[]", 'is_type("list")', true],
  ["[]", 'is_type("array")', true],
  ["[]", 'is_type("map")', false],
  ["{}", 'is_type("map")', true],
  ["nil", 'is_type("nil")', true],
  ["[3, 1, 2]", "unordered([1, 2, 3])", true],
  ["[3, 1, 2]", "unordered([1, 2])", false],
  ["[1, 1, 2]", "unordered([1, 2, 2])", false],
  ["[]", "unordered([])", true],
  ["{}", "unordered([])", false],
  ["[{id: 2, x: 1}, {id: 1}]", "unordered([{id: 1}, {id: 2}])", true],
  // A greedy choice gives the pattern the only partner of the constant.
  ['["a", "b"]', 'unordered(["/[ab]/", "a"])', true],
  ["[1, 2, 3]", 'unordered([anything(), is_type("int"), 1])', true],
  ["{tags: [[2, 1], [3]]}", "{tags: unordered([[3], unordered([1, 2])])}", true],
];

for (const [actual, part, includes] of CASES) {
  Deno.test(`${actual} ${includes ? "includes" : "does not include"} ${part}`, () => {
    assertEquals(evaluateExpression(`includes_json(${actual}, ${part})`, {}), includes);
    assertEquals(mismatches(actual, part).length === 0, includes);
  });
}

Deno.test("match_json takes the matchers too, and all keys", () => {
  for (
    const [part, matches] of [
      ['{id: is_type("int"), tags: unordered(["b", "a"])}', true],
      ["{id: anything(), tags: unordered(['/a/', anything()])}", true],
      ['{id: is_type("string"), tags: anything()}', false],
      ["{id: anything()}", false],
      ["{id: 1, tags: unordered(['a'])}", false],
    ] as const
  ) {
    const test = `match_json({id: 1, tags: ["a", "b"]}, ${part})`;
    assertEquals(evaluateExpression(test, {}), matches, test);
  }
});

Deno.test("a value that only looks like a matcher is data", () => {
  const context = { part: { is_type: "string" } };
  assertEquals(evaluateExpression('includes_json("a", part)', context), false);
  assertEquals(evaluateExpression('includes_json({is_type: "string"}, part)', context), true);
});

/** Values, parts, and the lines that say what does not match. */
const DIFFS: readonly (readonly [actual: string, part: string, lines: readonly string[]])[] = [
  ["{a: {b: 1}}", "{a: {b: 2}}", ["@ .a.b", "- 2", "+ 1"]],
  ["{}", "{a: {id: anything()}}", ["@ .a", '- {"id":anything()}', "+ (missing)"]],
  ['{a: "1"}', "{a: 1}", ["@ .a: it is string, not int", "- 1", '+ "1"']],
  ["{a: [1]}", "{a: [1, 2]}", ["@ .a: 1 item, not 2", "- [1,2]", "+ [1]"]],
  ['{a: ["x", {b: nil}]}', '{a: ["/^y/", {b: is_type("map")}]}', [
    "@ .a[0]",
    "- /^y/",
    '+ "x"',
    "@ .a[1].b: it is nil",
    '- is_type("map")',
    "+ null",
  ]],
  ["[1, 2, 5]", "unordered([5, 6, 1])", ["@ [1]: in any order", "- 6", "+ 2"]],
  ["[1, 2]", "unordered([2])", ["@ [0]: in any order; 2 items, not 1", "+ 1"]],
  ["[2]", "unordered([1, 2])", [
    "@ the value itself: in any order; 1 item, not 2",
    "- 1",
    "+ (missing)",
  ]],
  ['{"x-y": {a: 1}}', '{"x-y": "/a/"}', ['@ ["x-y"]: no pattern fits a map', "- /a/", '+ {"a":1}']],
];

for (const [actual, part, lines] of DIFFS) {
  Deno.test(`what ${actual} lacks of ${part} is shown by path`, () => {
    assertEquals(renderMismatches(mismatches(actual, part), (text) => text), lines);
  });
}

Deno.test("a false match_json() lists each place, also the keys that it does not expect", () => {
  const test = "match_json(res, {a: 1, b: '/^x/', c: [], e: 5})";
  const names = { res: { a: "1", b: "y", c: [7], d: null } };
  const { mismatches: found, operands } = explain(
    parseExpression(test),
    { names, strict: true },
    false,
  );
  assertEquals(operands, []);
  assertEquals(found!.received, "res");
  assertEquals(renderMismatches(found!.places, (text) => text), [
    ...["@ .b", "- /^x/", '+ "y"', "@ .c: 1 item, not 0", "- []", "+ [7]"],
    ...["@ .e", "- 5", "+ (missing)", "@ .d: it is not expected", "+ null"],
  ]);
});

Deno.test("secrets in a diff by path are masked before lines are cut", () => {
  const secret = "s3cret".repeat(40);
  const lines = renderMismatches(
    [{ path: ["a"], expected: '"b"', actual: secret }],
    (text) => text.replaceAll(secret, "***"),
  );
  assertEquals(lines, ["@ .a", '- "b"', '+ "***"']);
});

Deno.test("a diff by path shows 20 places, and how many more there are", () => {
  const actual = Array.from({ length: 30 }, () => 1);
  const lines = renderMismatches(
    findMismatches(actual, actual.map(() => 2)),
    (text) => text,
  );
  assertEquals(lines.length, 61);
  assertEquals(lines.at(-1), "… (10 more places)");
});

Deno.test("an action compares by loadMatching()", async () => {
  const find = await loadMatching();
  assertEquals(find({ type: "ready", n: 1 }, { type: "/^ready$/" }), []);
  assertEquals(find({ n: 1 }, { n: makeMatcher({ kind: "is_type", type: "string" }) }), [
    { path: ["n"], expected: 'is_type("string")', actual: 1, note: "it is int" },
  ]);
  assertThrows(() => find("a", "/(/"), StepError, "invalid regular expression: missing closing )");
  const many = Array.from({ length: 3000 }, (_, at) => at);
  const turned = makeMatcher({ kind: "unordered", items: many.toReversed() });
  await assertRejects(async () => await find(many, turned), StepError, "too long to be compared");
});

Deno.test("pairUp() finds the largest pairing, as trying all of them does", () => {
  let state = 7;
  const random = () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
  for (let round = 0; round < 300; round++) {
    const [wanted, received] = [Math.floor(random() * 6), Math.floor(random() * 6)];
    const table = Array.from(
      { length: wanted },
      () => Array.from({ length: received }, () => random() < 0.4),
    );
    const left = pairUp(wanted, received, (one, other) => table[one]![other]!);
    const largestMatching = largest(table, 0, new Set());
    assertEquals([wanted - left.wanted.length, received - left.others.length], [
      largestMatching,
      largestMatching,
    ]);
  }
});

/** The most rows that can have columns of their own. */
function largest(table: readonly (readonly boolean[])[], row: number, taken: Set<number>): number {
  if (row === table.length) return 0;
  let best = largest(table, row + 1, taken);
  for (const [column, fits] of table[row]!.entries()) {
    if (!fits || taken.has(column)) continue;
    best = Math.max(best, 1 + largest(table, row + 1, new Set([...taken, column])));
  }
  return best;
}

/** Mistakes in an expression that are found before any value is known, with their places. */
const MISTAKES: readonly (readonly [expression: string, marked: string, message: string])[] = [
  ['includes_json(a, {b: ["/(/"]})', '"/(/"', "invalid regular expression: missing closing )"],
  [
    'match_json(a, {b: unordered(["/(/"])})',
    '"/(/"',
    "invalid regular expression: missing closing )",
  ],
  [
    'includes_json(a, {b: is_type("strng")})',
    '"strng"',
    'unknown type "strng" in is_type(): did you mean "string"?',
  ],
  [
    "schema(1, {type: 'string'})",
    "schema(1, {type: 'string'})",
    "schema() is there in workflows only, which load what it needs",
  ],
  ['is_type("object")', '"object"', 'unknown type "object" in is_type(): write "map"'],
];

for (const [expression, marked, message] of MISTAKES) {
  Deno.test(`${expression} is refused: ${message}`, () => {
    const error = assertThrows(() => evaluateExpression(expression, { a: 1 }), ExpressionError);
    assertEquals(error.message, message);
    assertEquals(expression.slice(error.start, error.end), marked);
  });
}

function mismatches(actual: string, part: string) {
  const [value, expected] = [actual, part].map((text) => evaluateExpression(text, {}) as Value);
  return findMismatches(value!, expected!);
}
