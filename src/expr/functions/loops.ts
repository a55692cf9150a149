import { formatValue } from "../../base/value/format_value.ts";
import { isNumber, type Value } from "../../base/value/value.ts";
import { calculate } from "../evaluate/operations.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault, kindOf } from "../fault.ts";
import { LIMITS } from "../expression_limits.ts";
import { defineLoop, type ListLoop } from "./function.ts";
import { sortBy } from "./sort.ts";

/** Functions that run a predicate over the items of a list. */
export const LOOP_FUNCTIONS = [
  defineLoop(
    "all(list: list, predicate)",
    "Whether all items pass.",
    (_, list, { test }) => list.every(test),
  ),
  defineLoop(
    "any(list: list, predicate)",
    "Whether any item passes.",
    (_, list, { test }) => list.some(test),
  ),
  defineLoop(
    "none(list: list, predicate)",
    "Whether no item passes.",
    (_, list, { test }) => !list.some(test),
  ),
  defineLoop(
    "one(list: list, predicate)",
    "Whether exactly one item passes.",
    (_, list, loop) => countPassing(list, loop) === 1,
  ),
  defineLoop(
    "filter(list: list, predicate)",
    "The items that pass.",
    (_, list, { test }) => list.filter(test),
  ),
  defineLoop(
    "map(list: list, predicate)",
    "The results of the predicate for each item.",
    (_, list, { each }) => list.map(each),
  ),
  defineLoop(
    "count(list: list, predicate?)",
    "The number of items that pass, or are true.",
    (_, list, loop) => countPassing(list, loop),
  ),
  defineLoop(
    "sum(list: list, predicate?)",
    "The sum of the numbers, or of the results of the predicate.",
    sum,
  ),
  defineLoop(
    "find(list: list, predicate)",
    "The first item that passes, or nil.",
    (_, list, { test }) => list.find(test) ?? null,
  ),
  defineLoop(
    "findIndex(list: list, predicate)",
    "The index of the first item that passes, or nil.",
    (_, list, { test }) => indexOrNil(list.findIndex(test)),
  ),
  defineLoop(
    "findLast(list: list, predicate)",
    "The last item that passes, or nil.",
    (_, list, { test }) => list.findLast(test) ?? null,
  ),
  defineLoop(
    "findLastIndex(list: list, predicate)",
    "The index of the last item that passes, or nil.",
    (_, list, { test }) => indexOrNil(list.findLastIndex(test)),
  ),
  defineLoop(
    "groupBy(list: list, predicate)",
    "The items as lists in a map, by the result of the predicate.",
    groupBy,
  ),
  defineLoop(
    "sortBy(list: list, predicate, order?: string)",
    'The items ordered by the result of the predicate, "asc" or "desc".',
    (run, list, { each, extra }) => sortBy(run, list, list.map(each), extra),
  ),
  defineLoop(
    "reduce(list: list, predicate, initial?: any)",
    "Folds the list into one value: #acc is the result so far.",
    reduce,
  ),
] as const;

function countPassing(list: readonly Value[], { test }: ListLoop): number {
  return list.reduce<number>((count, item, index) => test(item, index) ? count + 1 : count, 0);
}

function sum(_: Evaluation, list: readonly Value[], { each }: ListLoop): Value {
  return list.reduce<number | bigint>((total, item, index) => {
    const value = each(item, index);
    if (!isNumber(value)) throw new Fault(`sum() needs numbers, got ${kindOf(value)}`);
    return calculate("+", total, value);
  }, 0);
}

function indexOrNil(index: number): Value {
  return index < 0 ? null : index;
}

function groupBy(run: Evaluation, list: readonly Value[], { each }: ListLoop): Value {
  const groups: Record<string, Value[]> = Object.create(null);
  for (const [index, item] of list.entries()) {
    (groups[formatValue(each(item, index), run)] ??= []).push(item);
  }
  return groups;
}

function reduce(run: Evaluation, list: readonly Value[], { each, extra }: ListLoop): Value {
  if (extra === undefined && list.length === 0) {
    throw new Fault("reduce() of an empty list needs a third argument to begin with");
  }
  let result = extra === undefined ? list[0] ?? null : extra;
  for (let index = extra === undefined ? 1 : 0; index < list.length; index++) {
    run.accumulator = result;
    result = each(list[index]!, index);
  }
  checkNesting(run, result, LIMITS.nesting);
  return result;
}

/** Only reduce can pile data up; deeper data could not be traversed afterwards. */
function checkNesting(run: Evaluation, value: Value, levels: number): void {
  if (typeof value !== "object" || value === null) return;
  if (levels === 0) throw new Fault("reduce() makes lists or maps that are nested too deeply");
  run.spend(1);
  for (const part of Object.values(value)) checkNesting(run, part as Value, levels - 1);
}
