import { compareValues } from "../../base/value/compare.ts";
import type { Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault, kindOf } from "../fault.ts";

/** The items of a list in the order of their keys; equal ones stay as they were. */
export function sortBy(
  run: Evaluation,
  list: readonly Value[],
  keys: readonly Value[],
  order: Value = "asc",
): readonly Value[] {
  if (order !== "asc" && order !== "desc") throw new Fault('an order is "asc" or "desc"');
  run.spend(list.length);
  const places = list.map((_, index) => index);
  places.sort((a, b) => {
    const [x, y] = [keys[a]!, keys[b]!];
    run.spend(typeof x === "string" ? 1 + (x.length >> 6) : 1);
    const difference = compareValues(x, y);
    if (difference === undefined) {
      throw new Fault(`cannot put ${kindOf(x)} and ${kindOf(y)} in order`);
    }
    return difference;
  });
  if (order === "desc") places.reverse();
  return places.map((index) => list[index]!);
}
