import { plain, type Value } from "../../base/value/value.ts";
import type { CallExpression, Node } from "../parse/ast.ts";
import { callProblem } from "../hints/call_problem.ts";
import type { Evaluation } from "./evaluation.ts";
import { Fault, kindOf } from "../fault.ts";
import { argumentProblem } from "../functions/argument.ts";
import type { ListFunction, ValueFunction } from "../functions/function.ts";
import { FUNCTIONS } from "../functions/registry.ts";
import { truth } from "./operations.ts";

type Walk = (node: Node, run: Evaluation) => Value;

/** Calls a function by its bare name; nothing else can be called. */
export function call(node: CallExpression, run: Evaluation, walk: Walk): Value {
  const { callee, arguments: args } = node;
  const record = callee.type === "Identifier" ? FUNCTIONS.get(callee.name) : undefined;
  if (!record || args.length < record.least || args.length > record.most) {
    throw callProblem(node) ?? new Fault("this cannot be called", undefined, node);
  }
  return record.kind === "list"
    ? callLoop(record, node, run, walk)
    : callValue(record, node, run, walk);
}

function callValue(
  record: ValueFunction,
  node: CallExpression,
  run: Evaluation,
  walk: Walk,
): Value {
  const values = node.arguments.map((argument) => walk(argument, run));
  run.spend(1);
  for (const [position, value] of values.entries()) {
    const problem = argumentProblem(record, position, value);
    if (problem !== undefined) throw new Fault(problem, undefined, node.arguments[position]);
    // Texts are paid for by length, so that a loop over a long one cannot run for minutes.
    if (typeof value === "string") run.spend(value.length >> 6);
  }
  run.at = node;
  return record.call(run, ...values as never[]);
}

function callLoop(record: ListFunction, node: CallExpression, run: Evaluation, walk: Walk): Value {
  const [listNode, predicate, extraNode] = node.arguments;
  const list = walk(listNode!, run);
  if (!Array.isArray(list)) {
    throw new Fault(`${record.name}() needs a list, got ${kindOf(list)}`, undefined, listNode);
  }
  const extra = extraNode && walk(extraNode, run);
  const body = predicate?.type === "Predicate" ? predicate.body : undefined;
  const { item, index, accumulator } = run; // of the predicate around this call
  const each = (item: Value, index: number): Value => {
    run.turn();
    run.item = item;
    run.index = index;
    const value = body ? walk(body, run) : item;
    run.at = body ?? node;
    return value;
  };
  const test = (item: Value, index: number): boolean => truth(each(item, index));
  run.at = node;
  const { missing } = run;
  const loop = extra === undefined ? { each, test } : { each, test, extra };
  const value = record.call(run, list.map(plain), loop);
  Object.assign(run, { item, index, accumulator });
  if (value === null && record.name.startsWith("find")) {
    run.missing = { node, within: run.missing === missing ? undefined : run.missing };
  }
  return value;
}
