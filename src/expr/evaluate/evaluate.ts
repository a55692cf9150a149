import { assertNever } from "../../base/errors.ts";
import { isDict, plain, readField, type Value } from "../../base/value/value.ts";
import { readMember, readSlice } from "./access.ts";
import { Evaluation, lengthOf } from "./evaluation.ts";
import { locateFault } from "./locate_fault.ts";
import { OPERATIONS, signed, truth } from "./operations.ts";
import type { Parsed, Scope } from "../expression.ts";
import { Fault, kindOf } from "../fault.ts";
import {
  argumentProblem,
  type FunctionRecord,
  type ListFunction,
  type ValueFunction,
} from "../functions/function.ts";
import { FUNCTIONS } from "../functions/registry.ts";
import { callProblem } from "../check_expression.ts";
import { COSTS, isRead, limitValue } from "../limits.ts";
import type {
  BinaryExpression,
  CallExpression,
  ComparisonChain,
  ConditionalExpression,
  Identifier,
  LetExpression,
  LogicalExpression,
  Node,
  ObjectExpression,
  Pointer,
  UnaryExpression,
} from "../parse/ast.ts";
import { childrenOf } from "../parse/tree.ts";

/** The value of an expression. Throws `ExpressionError` with the location of the error. */
export function evaluate(expression: Parsed, scope: Scope): Value {
  return evaluateResult(expression.node, new Evaluation(scope), expression.source);
}

/** The final value of an evaluation, which is within the limits of size. */
export function evaluateResult(node: Node, run: Evaluation, source: string): Value {
  try {
    const value = codeOf(node)(run);
    if (!isRead(node)) limitValue(value, node);
    return value;
  } catch (error) {
    throw locateFault(error, run, source, node);
  }
}

/** The value of a part of a text, in an evaluation that may have done other parts before. */
export function evaluateNode(node: Node, run: Evaluation, source: string): Value {
  try {
    return codeOf(node)(run);
  } catch (error) {
    throw locateFault(error, run, source, node);
  }
}

const codes = new WeakMap<Node, Code>();

/** The code of a node that is evaluated by itself; it is made once. */
function codeOf(node: Node): Code {
  let code = codes.get(node);
  if (!code) codes.set(node, code = compile(node));
  return code;
}

/** A node as a function, which counts a step and then does what the node says. */
type Code = (run: Evaluation) => Value;

/** Makes the code of a node and of all nodes below it. */
function compile(node: Node): Code {
  switch (node.type) {
    case "Literal": {
      const { value } = node;
      return (run) => {
        run.step();
        return value;
      };
    }
    case "Identifier":
      return (run) => {
        run.step();
        return readName(node, run);
      };
    case "Pointer":
      return (run) => {
        run.step();
        return readPointer(node, run);
      };
    case "ArrayExpression": {
      const elements = node.elements.map(compile);
      return (run) => {
        run.step();
        return elements.map((element) => element(run));
      };
    }
    case "ObjectExpression":
      return compileMap(node);
    case "UnaryExpression":
      return compileUnary(node);
    case "BinaryExpression":
      return compileBinary(node);
    case "LogicalExpression":
      return compileLogical(node);
    case "ComparisonChain":
      return compileChain(node);
    case "ConditionalExpression":
      return compileConditional(node);
    case "MemberExpression":
    case "SliceExpression":
      return compileLinks(node);
    case "ChainExpression":
      return compileLinks(node.expression);
    case "CallExpression":
      return compileCall(node);
    case "LetExpression":
      return compileLet(node);
    case "SequenceExpression": {
      const expressions = node.expressions.map(compile);
      return (run) => {
        run.step();
        let last: Value = null;
        for (const expression of expressions) last = expression(run);
        return last;
      };
    }
    case "Predicate":
      return (run) => {
        run.step();
        throw new Fault("a predicate is not allowed here", undefined, node);
      };
    default:
      return assertNever(node);
  }
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

function compileMap({ properties }: ObjectExpression): Code {
  const entries = properties.map(({ key, value }) => ({
    node: key,
    key: compile(key),
    value: compile(value),
  }));
  return (run) => {
    run.step();
    const map: Record<string, Value> = Object.create(null);
    for (const { node, key, value } of entries) {
      const name = key(run);
      if (typeof name !== "string") {
        throw new Fault(`a key of a map is a string, got ${kindOf(name)}`, undefined, node);
      }
      map[name] = value(run);
    }
    return map;
  };
}

/** `not a == b` is `(not a) == b`. */
const NOT_HINT = "compare it with something, in parentheses: not (a == b)";

function compileUnary(node: UnaryExpression): Code {
  const { operator } = node;
  const argument = compile(node.argument);
  return (run) => {
    run.step();
    const value = argument(run);
    run.at = operator === "!" ? node.argument : node;
    return operator === "!" ? !truth(value, NOT_HINT) : signed(operator, value);
  };
}

function compileBinary(node: BinaryExpression): Code {
  const operate = OPERATIONS[node.operator];
  const left = compile(node.left);
  const right = compile(node.right);
  return (run) => {
    run.step();
    const one = left(run);
    const other = right(run);
    run.at = node;
    run.step(lengthOf(other));
    return operate(one, other, run);
  };
}

function compileLogical(node: LogicalExpression): Code {
  const { operator } = node;
  const left = compile(node.left);
  const right = compile(node.right);
  return (run) => {
    run.step();
    const value = left(run);
    if (operator === "??") return value ?? right(run);
    run.at = node.left;
    // The right side may be of any type: `true && 5` is 5.
    if (operator === "&&") return truth(value) ? right(run) : false;
    return truth(value, "for a fallback, use ??") ? true : right(run);
  };
}

function compileChain(node: ComparisonChain): Code {
  const [first, ...rest] = childrenOf(node).map(compile);
  return (run) => {
    run.step();
    let left = first!(run);
    return node.comparisons.every((comparison, index) => {
      const right = rest[index]!(run);
      run.at = comparison;
      const holds = OPERATIONS[comparison.operator](left, right, run);
      left = right;
      return holds;
    });
  };
}

function compileConditional(node: ConditionalExpression): Code {
  const test = compile(node.test);
  const consequent = compile(node.consequent);
  const alternate = compile(node.alternate);
  return (run) => {
    run.step();
    const value = test(run);
    run.at = node.test;
    return truth(value) ? consequent(run) : alternate(run);
  };
}

/** The result of a chain after a `?.` on nil. */
const CUT = Symbol("cut");

type Link = (run: Evaluation) => Value | typeof CUT;

function compileLinks(node: Node): Code {
  const link = compileLink(node);
  return (run) => {
    run.step();
    const value = link(run);
    return value === CUT ? null : value;
  };
}

/** One link of a chain like `a?.b[0].c`. */
function compileLink(node: Node): Link {
  if (node.type === "MemberExpression") {
    const { property, computed, optional } = node;
    const object = compileLink(node.object);
    const key = computed ? compile(property) : undefined;
    const name = computed ? "" : (property as Identifier).name;
    return (run) => {
      run.step();
      const owner = object(run);
      if (owner === CUT || optional && owner === null) return CUT;
      const read = key ? key(run) : name;
      run.at = node;
      return readMember(node, owner, read, run);
    };
  }
  if (node.type === "SliceExpression") {
    const object = compileLink(node.object);
    const from = node.from ? compile(node.from) : undefined;
    const to = node.to ? compile(node.to) : undefined;
    return (run) => {
      const value = object(run);
      if (value === CUT) return CUT;
      const [start, end] = [from?.(run), to?.(run)];
      run.at = node;
      return readSlice(value, start, end, run);
    };
  }
  return compile(node);
}

function compileLet({ id, ...node }: LetExpression): Code {
  const init = compile(node.init);
  const body = compile(node.body);
  const isLimited = isRead(node.init);
  return (run) => {
    run.step();
    if (readField(run.scope.names, id.name) !== undefined) {
      throw new Fault(`"${id.name}" is already defined`, "choose another name", id);
    }
    const bound = init(run);
    if (!isLimited) run.step(limitValue(bound, node.init) >> 3);
    const outer = run.locals;
    run.locals = { name: id.name, value: bound, outer };
    const value = body(run);
    run.locals = outer;
    return value;
  };
}

/** The same for an argument of a function, which may be a map. */
function workOf(value: Value): number {
  return isDict(value) ? Object.keys(value).length : lengthOf(value);
}

/** Calls a function by its bare name; nothing else can be called. */
function compileCall(node: CallExpression): Code {
  const { callee, arguments: { length } } = node;
  const record = callee.type === "Identifier" ? FUNCTIONS.get(callee.name) : undefined;
  if (!record || length < record.minArguments || length > record.maxArguments) {
    return (run) => {
      run.step();
      throw callProblem(node) ?? new Fault("this cannot be called", undefined, node);
    };
  }
  const { body } = record;
  return body.kind === "list"
    ? compileLoop(record, body, node)
    : compileFunction(record, body, node);
}

function compileFunction(
  record: FunctionRecord,
  body: ValueFunction,
  node: CallExpression,
): Code {
  const codes = node.arguments.map(compile);
  const cost = COSTS.get(record.name);
  return (run) => {
    run.step();
    const values = codes.map((code) => code(run));
    for (const [position, value] of values.entries()) {
      const problem = argumentProblem(record, position, value);
      if (problem !== undefined) throw new Fault(problem, undefined, node.arguments[position]);
      run.step(cost === undefined ? workOf(value) : cost * limitValue(value));
    }
    run.at = node;
    const result = applyFunction(body.call, body, run, values);
    run.step(lengthOf(result));
    return result;
  };
}

/** Calls one of the functions that a body has. */
export function applyFunction<T>(
  call: (...args: never[]) => T,
  { takesEvaluation }: ValueFunction,
  run: Evaluation,
  values: readonly Value[],
): T {
  return takesEvaluation ? call(run as never, ...values as never[]) : call(...values as never[]);
}

function compileLoop(
  { name }: FunctionRecord,
  { call }: ListFunction,
  node: CallExpression,
): Code {
  const [listNode, predicate, extraNode] = node.arguments;
  const listCode = compile(listNode!);
  const extraCode = extraNode && compile(extraNode);
  const bodyNode = predicate?.type === "Predicate" ? predicate.body : undefined;
  const body = bodyNode && compile(bodyNode);
  const isFind = name.startsWith("find");
  return (run) => {
    run.step();
    const list = listCode(run);
    if (!Array.isArray(list)) {
      throw new Fault(`${name}() needs a list, got ${kindOf(list)}`, undefined, listNode);
    }
    run.step(list.length);
    const extra = extraCode?.(run);
    const { item, index, accumulator } = run; // of the predicate around this call
    const each = (item: Value, index: number): Value => {
      run.step();
      run.item = item;
      run.index = index;
      const value = body ? body(run) : item;
      run.at = bodyNode ?? node;
      return value;
    };
    const test = (item: Value, index: number): boolean => truth(each(item, index));
    const accumulate = (value: Value): void => {
      run.accumulator = value;
    };
    run.at = node;
    const { missing } = run;
    const value = call(list.map(plain), { each, test, accumulate, extra });
    if (name === "reduce") run.step(limitValue(value) >> 3);
    Object.assign(run, { item, index, accumulator });
    if (value === null && isFind) {
      run.missing = { node, within: run.missing === missing ? undefined : run.missing };
    }
    return value;
  };
}
