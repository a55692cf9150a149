import { compareValues } from "../../base/value/compare.ts";
import { formatValue } from "../../base/value/format_value.ts";
import { isNumber, plain, readField, type Value } from "../../base/value/value.ts";
import { limitItems } from "../limits.ts";
import { calculate } from "../evaluate/operations.ts";
import { Fault, kindOf } from "../fault.ts";
import { define, type FunctionBodies, type ListFunction, type ListLoop } from "./function.ts";

/** Functions on lists; the first ones run a predicate over the items. */
export const BODIES: FunctionBodies = {
  all: defineLoop(
    "Whether all items pass.",
    (list, { test }) => list.every(test),
  ),
  any: defineLoop(
    "Whether any item passes.",
    (list, { test }) => list.some(test),
  ),
  none: defineLoop(
    "Whether no item passes.",
    (list, { test }) => !list.some(test),
  ),
  one: defineLoop(
    "Whether exactly one item passes.",
    (list, { test }) => list.filter(test).length === 1,
  ),
  filter: defineLoop(
    "The items that pass.",
    (list, { test }) => list.filter(test),
  ),
  map: defineLoop(
    "The results of the predicate for each item.",
    (list, { each }) => list.map(each),
  ),
  count: defineLoop(
    "The number of items that pass, or are true.",
    (list, { test }) => list.filter(test).length,
  ),
  sum: defineLoop(
    "The sum of the numbers, or of the results of the predicate.",
    sum,
  ),
  find: defineLoop(
    "The first item that passes, or nil.",
    (list, { test }) => list.find(test) ?? null,
  ),
  findIndex: defineLoop(
    "The index of the first item that passes, or nil.",
    (list, { test }) => indexOrNil(list.findIndex(test)),
  ),
  findLast: defineLoop(
    "The last item that passes, or nil.",
    (list, { test }) => list.findLast(test) ?? null,
  ),
  findLastIndex: defineLoop(
    "The index of the last item that passes, or nil.",
    (list, { test }) => indexOrNil(list.findLastIndex(test)),
  ),
  groupBy: defineLoop(
    "The items as lists in a map, by the result of the predicate.",
    groupBy,
  ),
  sortBy: defineLoop(
    'The items ordered by the result of the predicate, "asc" or "desc".',
    (list, { each, extra }) => sortBy(list, list.map(each), extra),
  ),
  reduce: defineLoop(
    "Folds the list into one value: #acc is the result so far.",
    reduce,
  ),

  first: define(
    "The first item of a list or character of a string; nil if it is empty.",
    (list: Value) => itemAtEnd(list, 0),
  ),
  last: define(
    "The last item of a list or character of a string; nil if it is empty.",
    (list: Value) => itemAtEnd(list, -1),
  ),
  take: define(
    "The first `count` items of a list.",
    (list: readonly Value[], count: number) => {
      if (count < 0) throw new Fault("take() needs a count of 0 or more");
      return list.slice(0, count);
    },
  ),
  reverse: define(
    "The list in reverse order.",
    (list: readonly Value[]) => list.toReversed(),
  ),
  uniq: define("The list without duplicates.", uniq),
  concat: define(
    "One list of the items of all lists.",
    (...lists: Value[][]) => {
      limitItems(lists.reduce((sum, { length }) => sum + length, 0));
      return lists.flat(1);
    },
  ),
  flatten: define(
    "The list with nested lists replaced by their items.",
    (list: readonly Value[]) => flatten(list, []),
  ),
  sort: define(
    'The numbers or texts of a list in order, "asc" or "desc".',
    (list: readonly Value[], order?: string) => sortBy(list, list.map(plain), order),
  ),
};

function sum(list: readonly Value[], { each }: ListLoop): Value {
  return list.reduce<number | bigint>((total, item, index) => {
    const value = each(item, index);
    if (!isNumber(value)) throw new Fault(`sum() needs numbers, got ${kindOf(value)}`);
    return calculate("+", total, value);
  }, 0);
}

function indexOrNil(index: number): Value {
  return index < 0 ? null : index;
}

function groupBy(list: readonly Value[], { each }: ListLoop): Value {
  const groups: Record<string, Value[]> = Object.create(null);
  for (const [index, item] of list.entries()) {
    (groups[formatValue(each(item, index))] ??= []).push(item);
  }
  return groups;
}

function reduce(list: readonly Value[], { each, accumulate, extra }: ListLoop): Value {
  if (extra === undefined && list.length === 0) {
    throw new Fault("reduce() of an empty list needs a third argument to begin with");
  }
  let result = extra === undefined ? list[0] ?? null : extra;
  for (let index = extra === undefined ? 1 : 0; index < list.length; index++) {
    accumulate(result);
    result = each(list[index]!, index);
  }
  return result;
}

function itemAtEnd(list: Value, index: 0 | -1): Value {
  if (Array.isArray(list)) return plain(list.at(index));
  if (typeof list !== "string") return null;
  // Two units hold a whole character.
  const characters = [...index === 0 ? list.slice(0, 2) : list.slice(-2)];
  return characters.at(index) ?? null;
}

/** The items whose outline is new. */
function uniq(list: readonly Value[]): Value {
  const seen = new Set<string>();
  return list.map(plain).filter((item) => {
    const { size } = seen;
    return seen.add(outlineOf(item)).size > size;
  });
}

/** A text that two values have in common if they are equal. */
function outlineOf(value: Value): string {
  if (isNumber(value)) return String(Number.isInteger(value) ? BigInt(value) : value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => outlineOf(plain(item))).join()}]`;
  const fields = Object.keys(value).sort().map((key) =>
    `${JSON.stringify(key)}:${outlineOf(readField(value, key) ?? null)}`
  );
  return `{${fields.join()}}`;
}

function flatten(list: readonly Value[], found: Value[]): Value[] {
  for (const item of list) {
    const value = plain(item);
    if (Array.isArray(value)) flatten(value, found);
    else found.push(value);
  }
  limitItems(found.length);
  return found;
}

/** The items of a list in the order of their keys; equal ones stay as they were. */
function sortBy(
  list: readonly Value[],
  keys: readonly Value[],
  order: Value = "asc",
): readonly Value[] {
  if (order !== "asc" && order !== "desc") throw new Fault('an order is "asc" or "desc"');
  const indexes = [...list.keys()];
  indexes.sort((a, b) => {
    const [x, y] = [keys[a]!, keys[b]!];
    const difference = compareValues(x, y);
    if (difference === undefined) {
      throw new Fault(`cannot put ${kindOf(x)} and ${kindOf(y)} in order`);
    }
    return difference;
  });
  if (order === "desc") indexes.reverse();
  return indexes.map((index) => list[index]!);
}

/** A function that runs a predicate over the items of a list. */
function defineLoop(summary: string, call: ListFunction["call"]): ListFunction {
  return { kind: "list", summary, call };
}
