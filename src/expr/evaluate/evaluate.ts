import { assertNever } from "../../base/errors.ts";
import { readField, type Value } from "../../base/value/value.ts";
import { readMember, readSlice } from "./access.ts";
import type { Identifier, LetExpression, Node, ObjectExpression, Pointer } from "../parse/ast.ts";
import { call } from "./call_function.ts";
import { Evaluation } from "./evaluation.ts";
import type { Parsed, Scope } from "../expression.ts";
import { Fault, kindOf } from "../fault.ts";
import { compare, operate, signed, truth } from "./operations.ts";
import { placeFault } from "./place_fault.ts";
import { isRead, limitSharing } from "./value_size.ts";

/** The value of an expression. Throws `ExpressionError` with the place of what went wrong. */
export function evaluate(expression: Parsed, scope: Scope): Value {
  return evaluateResult(expression.node, new Evaluation(scope), expression.source);
}

/** A value that leaves the evaluation: one that can be written out, however its parts are shared. */
export function evaluateResult(node: Node, run: Evaluation, source: string): Value {
  try {
    const value = walk(node, run);
    if (!isRead(node)) limitSharing(value, node);
    return value;
  } catch (error) {
    throw placeFault(error, run, source, node);
  }
}

/** The value of a part of a text, in an evaluation that may have done other parts before. */
export function evaluateNode(node: Node, run: Evaluation, source: string): Value {
  try {
    return walk(node, run);
  } catch (error) {
    throw placeFault(error, run, source, node);
  }
}

function walk(node: Node, run: Evaluation): Value {
  run.visits++;
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
      return operate(node.operator, left, right, run);
    }
    case "LogicalExpression": {
      const left = walk(node.left, run);
      if (node.operator === "??") return left ?? walk(node.right, run);
      run.at = node.left;
      // The right side is taken as it is: `true && 5` is 5.
      if (node.operator === "&&") return truth(left) ? walk(node.right, run) : false;
      return truth(left, "for a fallback, use ??") ? true : walk(node.right, run);
    }
    case "ComparisonChain": {
      let left = walk(node.operands[0]!, run);
      return node.operators.every((operator, index) => {
        const right = walk(node.operands[index + 1]!, run);
        run.at = node;
        const holds = compare(operator, left, right, run);
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
      return call(node, run, walk);
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
    run.visits++;
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
    return readSlice(object, from, to, run);
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
  const outer = run.locals;
  run.locals = { name: id.name, value: walk(init, run), outer };
  const value = walk(body, run);
  run.locals = outer;
  return value;
}
