import { isEqual } from "../../base/value/compare.ts";
import { isDict, plain, readField, stepText, type Value } from "../../base/value/value.ts";
import type { Meter } from "../../base/value/meter.ts";

/** Where two values that are not equal first differ; a side is undefined where it has nothing. */
export interface FoundDifference {
  /** From the values to the place, as write behind them: `.items[2]`. */
  readonly path: string;
  readonly left: Value | undefined;
  readonly right: Value | undefined;
}

/** The first difference between two lists or two maps; undefined where their kinds differ. */
export function findDifference(
  left: Value,
  right: Value,
  meter: Meter,
): FoundDifference | undefined {
  for (const [step, a, b] of partsOf(left, right)) {
    if (a !== undefined && b !== undefined && isEqual(a, b, meter)) continue;
    const inner = a === undefined || b === undefined ? undefined : findDifference(a, b, meter);
    return inner ? { ...inner, path: step + inner.path } : { path: step, left: a, right: b };
  }
  return undefined;
}

/** The parts of two lists or maps in pairs, each with the way to it. */
function* partsOf(
  left: Value,
  right: Value,
): Generator<readonly [step: string, left: Value | undefined, right: Value | undefined]> {
  if (Array.isArray(left) && Array.isArray(right)) {
    const item = (list: readonly unknown[], index: number) =>
      index < list.length ? plain(list[index]) : undefined;
    for (let index = 0; index < Math.max(left.length, right.length); index++) {
      yield [stepText(index), item(left, index), item(right, index)];
    }
  } else if (isDict(left) && isDict(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      yield [stepText(key), readField(left, key), readField(right, key)];
    }
  }
}
