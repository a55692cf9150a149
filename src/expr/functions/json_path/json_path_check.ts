import { regexProblem } from "../../evaluate/regex.ts";
import type {
  Comparable,
  FunctionArgument,
  FunctionExpr,
  JsonPathQuery,
  LogicalExpr,
  Segment,
  Selector,
} from "./json_path_tree.ts";

type Kind = "value" | "nodes" | "truth";

const FUNCTIONS: Readonly<Record<string, { takes: readonly Kind[]; gives: Kind }>> = {
  length: { takes: ["value"], gives: "value" },
  count: { takes: ["nodes"], gives: "value" },
  value: { takes: ["nodes"], gives: "value" },
  match: { takes: ["value", "value"], gives: "truth" },
  search: { takes: ["value", "value"], gives: "truth" },
};

/** A problem of a JSONPath that its grammar allows and RFC 9535 forbids; undefined if there is none. */
export function pathProblem({ segments }: Pick<JsonPathQuery, "segments">): string | undefined {
  return first(segments, segmentProblem);
}

function first<T>(
  parts: readonly T[],
  problemOf: (part: T) => string | undefined,
): string | undefined {
  for (const part of parts) {
    const problem = problemOf(part);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function segmentProblem({ node }: Segment): string | undefined {
  return node.type === "BracketedSelection" ? first(node.selectors, selectorProblem) : undefined;
}

function selectorProblem(selector: Selector): string | undefined {
  if (selector.type === "FilterSelector") return testProblem(selector.value);
  const numbers = selector.type === "IndexSelector"
    ? [selector.value]
    : selector.type === "SliceSelector"
    ? [selector.start, selector.end, selector.step]
    : [];
  return numbers.every((number) => number === null || Number.isSafeInteger(number))
    ? undefined
    : "an index is too large";
}

function testProblem(test: LogicalExpr): string | undefined {
  switch (test.type) {
    case "LogicalOrExpr":
    case "LogicalAndExpr":
      return testProblem(test.left) ?? testProblem(test.right);
    case "LogicalNotExpr":
      return testProblem(test.expression);
    case "TestExpr":
      return test.expression.type === "FilterQuery"
        ? pathProblem(test.expression.value)
        : callProblem(test.expression, "truth");
    case "ComparisonExpr":
      return operandProblem(test.left) ?? operandProblem(test.right);
  }
}

function operandProblem(operand: Comparable): string | undefined {
  if (operand.type === "FunctionExpr") return callProblem(operand, "value");
  if (operand.type === "Literal") return undefined;
  const indexes = operand.segments.flatMap(({ node }) =>
    "selector" in node ? [node.selector] : node.type === "IndexSelector" ? [node] : []
  );
  return first(indexes, selectorProblem);
}

function callProblem(call: FunctionExpr, wanted: Kind): string | undefined {
  const { name } = call;
  // The parser gives null where there is none.
  const args = call.arguments ?? [];
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (!known) return `unknown function ${name}(); there are ${Object.keys(FUNCTIONS).join(", ")}`;
  if (known.gives !== wanted) {
    return wanted === "truth"
      ? `the result of ${name}() must be compared`
      : `the result of ${name}() cannot be compared`;
  }
  const { takes } = known;
  if (args.length !== takes.length) {
    return `${name}() takes ${takes.length} argument${takes.length === 1 ? "" : "s"}`;
  }
  const problem = first(
    takes.map((kind, at) => ({ kind, argument: args[at]! })),
    (each) => argumentProblem(name, each.argument, each.kind),
  );
  if (problem !== undefined || known.gives !== "truth") return problem;
  const pattern = args[1]!;
  return pattern.type === "Literal" && typeof pattern.value === "string"
    ? regexProblem(toRegex(pattern.value, name === "match"))
    : undefined;
}

function argumentProblem(name: string, argument: FunctionArgument, kind: Kind): string | undefined {
  switch (argument.type) {
    case "FilterQuery": {
      const { segments } = argument.value;
      return kind === "nodes" || segments.every(isSingular)
        ? pathProblem(argument.value)
        : `${name}() takes one value, and this path may find several`;
    }
    case "Literal":
      return kind === "value" ? undefined : `${name}() takes a path`;
    case "FunctionExpr":
      return kind === "value" ? callProblem(argument, "value") : `${name}() takes a path`;
    default:
      return `${name}() does not take a condition`;
  }
}

function isSingular({ type, node }: Segment): boolean {
  if (type !== "ChildSegment") return false;
  if (node.type !== "BracketedSelection") return node.type === "MemberNameShorthand";
  const [only, ...others] = node.selectors;
  return others.length === 0 && (only?.type === "NameSelector" || only?.type === "IndexSelector");
}

/** A regular expression of RFC 9485 for our engine: a dot is neither end of a line. */
export function toRegex(pattern: string, whole: boolean): string {
  const regex = pattern.replace(
    /\\.|\[(?:\\.|[^\]\\])*\]|\./gsu,
    (part) => part === "." ? "[^\\n\\r]" : part,
  );
  return whole ? `^(?:${regex})$` : regex;
}
