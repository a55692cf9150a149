import type { Value } from "./value.ts";

/** More values than this are a mistake: data that holds itself again and again. */
const MOST_VALUES = 10_000_000;

/** A copy of plain data that shares nothing with it. Throws RangeError when it is too large. */
export function copyValue(value: unknown): Value {
  let count = 0;
  const copy = (part: unknown): Value => {
    if (++count > MOST_VALUES) throw new RangeError("too much data");
    if (typeof part !== "object" || part === null) {
      return part === undefined ? null : part as Value;
    }
    if (Array.isArray(part)) return part.map(copy);
    const out: Record<string, Value> = Object.create(null);
    for (const key of Object.keys(part)) out[key] = copy((part as Record<string, unknown>)[key]);
    return out;
  };
  return copy(value);
}
