import { isDict, isNumber, plain, readField, type Value } from "./value.ts";

/** Counts what a comparison does. */
interface Work {
  step(): void;
}

/** Whether two values are equal: numbers by value, lists and maps by their contents. */
export function isEqual(a: Value, b: Value, work?: Work): boolean {
  work?.step();
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    // The float 1e16 and the integer of that size are one number.
    return a === b || isNumber(a) && isNumber(b) && a >= b && a <= b;
  }
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && isEqualList(a, b, work);
  return isDict(a) && isDict(b) && isEqualMap(a, b, work);
}

function isEqualList(a: readonly unknown[], b: readonly unknown[], work?: Work): boolean {
  return a.length === b.length &&
    a.every((item, index) => isEqual(plain(item), plain(b[index]), work));
}

function isEqualMap(a: object, b: object, work?: Work): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length &&
    keys.every((key) => {
      const other = readField(b, key);
      return other !== undefined && isEqual(readField(a, key) ?? null, other, work);
    });
}

/** Compares two numbers or two texts: below 0, 0 or above 0; NaN if neither comes first. */
export function compareValues(a: Value, b: Value): number | undefined {
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : a >= b ? 0 : NaN;
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : a > b ? 1 : 0;
  return undefined;
}
