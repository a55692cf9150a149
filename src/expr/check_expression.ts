import type { CallExpression, Node, ObjectExpression } from "./parse/ast.ts";
import { countOf } from "../base/text/count_of.ts";
import type { Expression, Template } from "./expression.ts";
import { ExpressionError } from "../base/errors.ts";
import { PlainError } from "./plain_error.ts";
import { argumentProblem, type FunctionRecord } from "./functions/function.ts";
import { FUNCTIONS } from "./functions/registry.ts";
import { regexProblem } from "./evaluate/regex.ts";
import { childrenOf, isCallOf } from "./parse/tree.ts";

/** All mistakes in an expression that show before any value is known. */
export function checkExpression(expression: Expression): ExpressionError[] {
  return [...problemsIn(expression.node, OUTSIDE)];
}

export function checkTemplate(template: Template): ExpressionError[] {
  return template.parts.flatMap((part) =>
    typeof part === "string" ? [] : [...problemsIn(part, OUTSIDE)]
  );
}

interface Surroundings {
  readonly locals: readonly string[];
  readonly inReduce: boolean;
}

const OUTSIDE: Surroundings = { locals: [], inReduce: false };

function* problemsIn(node: Node, around: Surroundings): Generator<ExpressionError> {
  switch (node.type) {
    case "CallExpression":
      yield* callProblems(node);
      break;
    case "BinaryExpression":
      if (node.operator === "matches") yield* patternProblems(node.right);
      break;
    case "ObjectExpression":
      yield* repeatedKeys(node);
      break;
    case "Pointer":
      if (node.name === "acc" && !around.inReduce) {
        yield errorAt(
          node,
          "#acc is only allowed in reduce()",
          "it is what reduce(list, #acc + #) has so far",
        );
      }
      break;
    case "LetExpression": {
      const { id } = node;
      const record = FUNCTIONS.get(id.name);
      if (record && !record.mayBeHidden || around.locals.includes(id.name)) {
        yield errorAt(id, `"${id.name}" is already defined`, "choose another name");
      }
      yield* problemsIn(node.init, around);
      yield* problemsIn(node.body, { ...around, locals: [...around.locals, id.name] });
      return;
    }
  }
  const inReduce = around.inReduce || isCallOf(node, "reduce");
  const inside = inReduce === around.inReduce ? around : { ...around, inReduce };
  for (const child of childrenOf(node)) yield* problemsIn(child, inside);
}

function* callProblems(node: CallExpression): Generator<ExpressionError> {
  const problem = callProblem(node);
  if (problem) {
    yield problem;
    return;
  }
  const record = node.callee.type === "Identifier" ? FUNCTIONS.get(node.callee.name) : undefined;
  if (!record) return;
  for (const [position, argument] of node.arguments.entries()) {
    if (argument.type !== "Literal") continue;
    const message = argumentProblem(record, position, argument.value);
    if (message !== undefined) yield errorAt(argument, message);
  }
  if (record.name === "matches") yield* patternProblems(node.arguments[1]!);
  if (record.body.kind === "list") return;
  const { position, problem: problemOf, isDeep = false } = record.body.constant ?? {};
  const argument = position === undefined ? undefined : node.arguments[position];
  if (!argument || !problemOf) return;
  for (const text of isDeep ? constantsIn(argument) : [argument]) {
    if (text.type !== "Literal" || typeof text.value !== "string") continue;
    const message = problemOf(text.value);
    if (message !== undefined) yield errorAt(text, message);
  }
}

/** Errors of a call for any values: a method, an unknown function, a wrong argument count. */
export function callProblem(node: CallExpression): ExpressionError | undefined {
  const { callee, arguments: args, start, end } = node;
  const mistake = { kind: "call", node } as const;
  if (callee.type === "MemberExpression") {
    const { property } = callee;
    const at = { start: property.start, end };
    return new PlainError("values have no methods", at, undefined, mistake);
  }
  if (callee.type !== "Identifier") return new ExpressionError("this cannot be called", start, end);
  const record = FUNCTIONS.get(callee.name);
  if (!record) {
    return new PlainError(`unknown function "${callee.name}"`, callee, undefined, mistake);
  }
  if (args.length >= record.minArguments && args.length <= record.maxArguments) return undefined;
  const message = `${record.name}() takes ${argumentCount(record)}, got ${args.length}`;
  return new ExpressionError(message, start, end, `write ${record.signature}`);
}

function argumentCount({ minArguments: min, maxArguments: max }: FunctionRecord): string {
  if (max === Infinity) return `at least ${countOf(min, "argument")}`;
  return min === max ? countOf(max, "argument") : `${min} to ${countOf(max, "argument")}`;
}

/** The constants in a list or a map that is written out, also in that of `unordered()`. */
function constantsIn(node: Node): readonly Node[] {
  switch (node.type) {
    case "ObjectExpression":
      return node.properties.flatMap(({ value }) => constantsIn(value));
    case "ArrayExpression":
      return node.elements.flatMap(constantsIn);
    case "CallExpression":
      return isCallOf(node, "unordered") ? node.arguments.flatMap(constantsIn) : [];
    default:
      return [node];
  }
}

function* patternProblems(pattern: Node): Generator<ExpressionError> {
  if (pattern.type !== "Literal" || typeof pattern.value !== "string") return;
  const message = regexProblem(pattern.value);
  if (message !== undefined) yield errorAt(pattern, message);
}

function* repeatedKeys(node: ObjectExpression): Generator<ExpressionError> {
  const seen = new Set<unknown>();
  for (const { key } of node.properties) {
    if (key.type !== "Literal") continue;
    if (seen.has(key.value)) yield errorAt(key, `the key "${key.value}" is repeated`);
    seen.add(key.value);
  }
}

function errorAt(node: Node, message: string, hint?: string): ExpressionError {
  return new ExpressionError(message, node.start, node.end, hint);
}
