import { assertNever } from "../../base/errors.ts";
import { plain, readField, type Value } from "../../base/value/value.ts";
import type { Parsed, Scope } from "../expression.ts";
import { Fault, kindOf } from "../fault.ts";
import { argumentProblem, type ListFunction, type ValueFunction } from "../functions/function.ts";
import { FUNCTIONS } from "../functions/registry.ts";
import { callProblem } from "../hints/call_problem.ts";
import { isRead, limitValue } from "../limits.ts";
import type {
  CallExpression,
  Identifier,
  LetExpression,
  Node,
  ObjectExpression,
  Pointer,
} from "../parse/ast.ts";
import { readMember, readSlice } from "./access.ts";
import { Evaluation } from "./evaluation.ts";
import { compare, operate, signed, truth } from "./operations.ts";
import { locateFault } from "./locate_fault.ts";

/** The value of an expression. Throws `ExpressionError` with the location of the error. */
export function evaluate(expression: Parsed, scope: Scope): Value {
  return evaluateResult(expression.node, new Evaluation(scope), expression.source);
}

/** The final value of an evaluation, which is within the limits of size. */
export function evaluateResult(node: Node, run: Evaluation, source: string): Value {
  try {
    const value = walk(node, run);
    if (!isRead(node)) limitValue(value, node);
    return value;
  } catch (error) {
    throw locateFault(error, run, source, node);
  }
}

/** The value of a part of a text, in an evaluation that may have done other parts before. */
export function evaluateNode(node: Node, run: Evaluation, source: string): Value {
  try {
    return walk(node, run);
  } catch (error) {
    throw locateFault(error, run, source, node);
  }
}

function walk(node: Node, run: Evaluation): Value {
  run.step();
  switch (node.type) {
    case "Literal":
      return node.value;
    case "Identifier":
      return readName(node, run);
    case "Pointer":
      return readPointer(node, run);
    case "ArrayExpression":
      return node.elements.map((element) => walk(element, run));
    case "ObjectExpression":
      return makeMap(node, run);
    case "UnaryExpression": {
      const value = walk(node.argument, run);
      run.at = node.operator === "!" ? node.argument : node;
      return node.operator === "!" ? !truth(value, NOT_HINT) : signed(node.operator, value);
    }
    case "BinaryExpression": {
      const left = walk(node.left, run);
      const right = walk(node.right, run);
      run.at = node;
      run.step(workOf(right));
      return operate(node.operator, left, right);
    }
    case "LogicalExpression": {
      const left = walk(node.left, run);
      if (node.operator === "??") return left ?? walk(node.right, run);
      run.at = node.left;
      // The right side may be of any type: `true && 5` is 5.
      if (node.operator === "&&") return truth(left) ? walk(node.right, run) : false;
      return truth(left, "for a fallback, use ??") ? true : walk(node.right, run);
    }
    case "ComparisonChain": {
      let left = walk(node.operands[0]!, run);
      return node.operators.every((operator, index) => {
        const right = walk(node.operands[index + 1]!, run);
        run.at = node;
        const holds = compare(operator, left, right);
        left = right;
        return holds;
      });
    }
    case "ConditionalExpression": {
      const test = walk(node.test, run);
      run.at = node.test;
      return walk(truth(test) ? node.consequent : node.alternate, run);
    }
    case "MemberExpression":
    case "SliceExpression":
      return uncut(walkLink(node, run));
    case "ChainExpression":
      return uncut(walkLink(node.expression, run));
    case "CallExpression":
      return walkCall(node, run);
    case "LetExpression":
      return walkLet(node, run);
    case "SequenceExpression": {
      let last: Value = null;
      for (const expression of node.expressions) last = walk(expression, run);
      return last;
    }
    case "Predicate":
      throw new Fault("a predicate is not allowed here", undefined, node);
    default:
      return assertNever(node);
  }
}

/** `not a == b` is `(not a) == b`. */
const NOT_HINT = "compare it with something, in parentheses: not (a == b)";

/** The result of a chain after a `?.` on nil. */
const CUT = Symbol("cut");

function uncut(value: Value | typeof CUT): Value {
  return value === CUT ? null : value;
}

/** One link of a chain like `a?.b[0].c`. */
function walkLink(node: Node, run: Evaluation): Value | typeof CUT {
  if (node.type === "MemberExpression") {
    run.step();
    const object = walkLink(node.object, run);
    if (object === CUT || node.optional && object === null) return CUT;
    const key = node.computed ? walk(node.property, run) : (node.property as Identifier).name;
    run.at = node;
    return readMember(node, object, key, run);
  }
  if (node.type === "SliceExpression") {
    const object = walkLink(node.object, run);
    if (object === CUT) return CUT;
    const from = node.from ? walk(node.from, run) : undefined;
    const to = node.to ? walk(node.to, run) : undefined;
    run.at = node;
    return readSlice(object, from, to);
  }
  return walk(node, run);
}

function readName(node: Identifier, run: Evaluation): Value {
  const { name } = node;
  for (let local = run.locals; local; local = local.outer) {
    if (local.name === name) return local.value;
  }
  const { names, strict } = run.scope;
  const value = readField(names, name);
  if (value !== undefined) return value;
  if (name === "$env") return names as Value;
  run.missing = { node, at: node, key: name, among: names };
  if (strict) throw new Fault(`unknown name "${name}"`, undefined, node);
  return null;
}

function readPointer(node: Pointer, run: Evaluation): Value {
  switch (node.name) {
    case "":
      return run.item;
    case "index":
      return run.index;
    case "acc":
      return run.accumulator;
  }
}

function makeMap(node: ObjectExpression, run: Evaluation): Value {
  const map: Record<string, Value> = Object.create(null);
  for (const { key, value } of node.properties) {
    const name = walk(key, run);
    if (typeof name !== "string") {
      throw new Fault(`a key of a map is a string, got ${kindOf(name)}`, undefined, key);
    }
    map[name] = walk(value, run);
  }
  return map;
}

function walkLet({ id, init, body }: LetExpression, run: Evaluation): Value {
  if (readField(run.scope.names, id.name) !== undefined) {
    throw new Fault(`"${id.name}" is already defined`, "choose another name", id);
  }
  const bound = walk(init, run);
  if (!isRead(init)) limitValue(bound, init);
  const outer = run.locals;
  run.locals = { name: id.name, value: bound, outer };
  const value = walk(body, run);
  run.locals = outer;
  return value;
}

/** The steps that a value takes as an operand: a loop over a long one could run for minutes. */
function workOf(value: Value): number {
  if (typeof value === "string") return value.length >> 6;
  return Array.isArray(value) ? value.length : 0;
}

/** Calls a function by its bare name; nothing else can be called. */
function walkCall(node: CallExpression, run: Evaluation): Value {
  const { callee, arguments: { length } } = node;
  const record = callee.type === "Identifier" ? FUNCTIONS.get(callee.name) : undefined;
  if (!record || length < record.minArguments || length > record.maxArguments) {
    throw callProblem(node) ?? new Fault("this cannot be called", undefined, node);
  }
  return record.kind === "list" ? callLoop(record, node, run) : callValue(record, node, run);
}

function callValue(record: ValueFunction, node: CallExpression, run: Evaluation): Value {
  const values = node.arguments.map((argument) => walk(argument, run));
  for (const [position, value] of values.entries()) {
    const problem = argumentProblem(record, position, value);
    if (problem !== undefined) throw new Fault(problem, undefined, node.arguments[position]);
    run.step(workOf(value));
  }
  run.at = node;
  const result = applyFunction(record.call, record, run, values);
  run.step(workOf(result));
  return result;
}

/** Calls one of the functions that a record has. */
export function applyFunction<T>(
  call: (...args: never[]) => T,
  { takesEvaluation }: ValueFunction,
  run: Evaluation,
  values: readonly Value[],
): T {
  return takesEvaluation ? call(run as never, ...values as never[]) : call(...values as never[]);
}

function callLoop(record: ListFunction, node: CallExpression, run: Evaluation): Value {
  const [listNode, predicate, extraNode] = node.arguments;
  const list = walk(listNode!, run);
  if (!Array.isArray(list)) {
    throw new Fault(`${record.name}() needs a list, got ${kindOf(list)}`, undefined, listNode);
  }
  const extra = extraNode && walk(extraNode, run);
  const body = predicate?.type === "Predicate" ? predicate.body : undefined;
  const { item, index, accumulator } = run; // of the predicate around this call
  const each = (item: Value, index: number): Value => {
    run.step();
    run.item = item;
    run.index = index;
    const value = body ? walk(body, run) : item;
    run.at = body ?? node;
    return value;
  };
  const test = (item: Value, index: number): boolean => truth(each(item, index));
  const accumulate = (value: Value): void => {
    run.accumulator = value;
  };
  run.at = node;
  const { missing } = run;
  const value = record.call(list.map(plain), { each, test, accumulate, extra });
  Object.assign(run, { item, index, accumulator });
  if (value === null && record.name.startsWith("find")) {
    run.missing = { node, within: run.missing === missing ? undefined : run.missing };
  }
  return value;
}
