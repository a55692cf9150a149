import { isEqual } from "../../base/value/compare.ts";
import { plain, type Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault } from "../fault.ts";
import { define } from "./function.ts";
import { sortBy } from "./sort.ts";

/** Functions on lists that need no predicate. */
export const LIST_FUNCTIONS = [
  define(
    "first(list: any)",
    "The first item of a list or character of a string; nil if it is empty.",
    (_, list: Value) => end(list, 0),
  ),
  define(
    "last(list: any)",
    "The last item of a list or character of a string; nil if it is empty.",
    (_, list: Value) => end(list, -1),
  ),
  define(
    "take(list: list, count: integer)",
    "The first `count` items of a list.",
    (run, list: readonly Value[], count: number) => {
      if (count < 0) throw new Fault("take() needs a count of 0 or more");
      run.spend(Math.min(count, list.length));
      return list.slice(0, count);
    },
  ),
  define("reverse(list: list)", "The list in reverse order.", (run, list: readonly Value[]) => {
    run.spend(list.length);
    return list.toReversed();
  }),
  define("uniq(list: list)", "The list without duplicates.", uniq),
  define(
    "concat(...lists: list)",
    "One list of the items of all lists.",
    (run, ...lists: Value[][]) => {
      for (const list of lists) run.spend(list.length);
      return lists.flat(1);
    },
  ),
  define(
    "flatten(list: list)",
    "The list with nested lists replaced by their items.",
    (run, list: readonly Value[]) => flatten(run, list, []),
  ),
  define(
    "sort(list: list, order?: string)",
    'The numbers or texts of a list in order, "asc" or "desc".',
    (run, list: readonly Value[], order?: string) => sortBy(run, list, list.map(plain), order),
  ),
] as const;

function end(list: Value, index: 0 | -1): Value {
  if (Array.isArray(list)) return plain(list.at(index));
  if (typeof list !== "string") return null;
  // Two units hold a whole character.
  const characters = [...index === 0 ? list.slice(0, 2) : list.slice(-2)];
  return characters.at(index) ?? null;
}

/** Simple values are found by a set; lists and maps have to be compared with each other. */
function uniq(run: Evaluation, list: readonly Value[]): Value {
  const simple = new Set<Value>();
  const nested: Value[] = [];
  return list.map(plain).filter((item) => {
    run.spend(1);
    if (typeof item !== "object" || item === null) {
      const isNew = !simple.has(item);
      simple.add(item);
      return isNew;
    }
    run.spend(nested.length);
    if (nested.some((other) => isEqual(other, item, run))) return false;
    nested.push(item);
    return true;
  });
}

function flatten(run: Evaluation, list: readonly Value[], found: Value[]): Value[] {
  for (const item of list) {
    run.spend(1);
    const value = plain(item);
    if (Array.isArray(value)) flatten(run, value, found);
    else found.push(value);
  }
  return found;
}
