import { assertEquals } from "@std/assert";
import {
  evaluateExpression,
  ExpressionError,
  renderTemplate,
} from "../../src/expr/evaluate_expression.ts";
import { explain } from "../../src/expr/evaluate/explain.ts";
import { parseExpression } from "../../src/expr/parse_expression.ts";
import { FUNCTIONS } from "../../src/expr/functions/registry.ts";
import { generator } from "../support/generator.ts";

const SEED = 20_240_229;
const ROUNDS = 6_000;

const TOKENS = [
  ..."+-*/%^<>!?:.,;|#()[]{}=&~@\\`\"'$_ \n\t",
  ..."() () () [] {}".split(" "),
  ...["==", "!=", "<=", ">=", "&&", "||", "??", "?.", "..", "**", "{{", "}}", "/*", "*/", "//"],
  ...[
    "and",
    "or",
    "not",
    "in",
    "contains",
    "matches",
    "startsWith",
    "endsWith",
    "let",
    "if",
    "else",
  ],
  ...["true", "false", "nil", "null", "#acc", "#index", ".a", "x", "xs", "m", "s", "n", "$env"],
  ...["__proto__", "constructor", "é", "日本", "\u{1F600}", "\ud800"],
  ...["0", "1", "-1", "2.5", "1e3", "0x1f", "1_0", "9007199254740993", "1e999", "1..3"],
  ...['"a"', "'b'", '"\\u{41}"', '"\\x"', '"[a"', "`(`", '""', '"a,b"', '"{\\"a\\":1}"'],
  ...FUNCTIONS.keys(),
  ...[...FUNCTIONS.keys()].map((name) => `${name}(`),
];

const context = {
  x: null,
  n: 3,
  s: "héllo \u{1F600}",
  xs: [3, "a", null, [1], { a: 1 }],
  m: { a: 1, b: [1, 2], "": "empty", nested: { a: { a: 1 } } },
};

Deno.test("nothing but an ExpressionError comes out of any source", () => {
  const random = generator(SEED);
  let evaluated = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const length = 1 + random(14);
    const source = Array.from({ length }, () => TOKENS[random(TOKENS.length)])
      .join(random(2) === 0 ? " " : "");
    for (const strict of [true, false]) {
      if (survives(source, () => evaluateExpression(source, context, { strict }))) evaluated++;
      survives(source, () => renderTemplate(`a {{ ${source} }}`, context, { strict }));
    }
    survives(
      source,
      () => explain(parseExpression(source), { names: context, strict: true }, false),
    );
  }
  assertEquals(evaluated > ROUNDS / 50, true, `only ${evaluated} sources made sense`);
});

Deno.test("nothing but an ExpressionError comes out of any call with arguments of any type", () => {
  const random = generator(SEED);
  const values = [
    ...["nil", "true", "0", "-1", "1.5", "1e300", "1.0/0", "0.0/0", "9007199254740991"],
    ...[
      '""',
      '"a"',
      '"12"',
      '"desc"',
      "s",
      "xs",
      "[]",
      "[1, 2]",
      '[["a", 1]]',
      "m",
      "{}",
      "#",
      "1..5",
    ],
  ];
  for (const { name, parameters, minArguments } of FUNCTIONS.values()) {
    for (let round = 0; round < 150; round++) {
      const count = minArguments + random(Math.max(1, parameters.length - minArguments + 1));
      const args = Array.from({ length: count }, (_, position) => {
        const value = values[random(values.length)]!;
        return parameters[position]?.type === "predicate" || value !== "#" ? value : "m";
      });
      const source = `${name}(${args.join(", ")})`;
      survives(source, () => evaluateExpression(source, context, { strict: true }));
    }
  }
});

/** Whether a value came out. An error has to be one of ours, with a place inside the text. */
function survives(source: string, run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (!(error instanceof ExpressionError)) {
      throw new Error(`${JSON.stringify(source)} throws ${error}`, { cause: error });
    }
    const placed = error.start >= 0 && error.end >= error.start && error.message !== "";
    assertEquals(placed, true, source);
    return false;
  }
}
