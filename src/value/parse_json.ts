import type { Value } from "./value.ts";

/** Data nested deeper than this could not be walked safely afterwards. */
const DEEPEST = 500;

/** This many digits, in a row or in an exponent, may exceed the range of a number. */
const LONG_NUMBER = /\d{16}|\d[eE]\+?\d{3}/;

/**
 * Reads JSON as data. An integer that a number cannot hold exactly stays the text that it was, so
 * that an id survives into the next request; so does a number that would be infinite, which every
 * test for more would take. Throws `SyntaxError`.
 */
export function parseJson(text: string): unknown {
  const value = LONG_NUMBER.test(text) ? JSON.parse(text, keepText) : JSON.parse(text);
  if (text.length > 2 * DEEPEST && isTooDeep(value)) {
    throw new SyntaxError(`JSON is nested more than ${DEEPEST} levels deep`);
  }
  return value;
}

/** The value of a text that is JSON; any other text as it is. */
export function jsonOrText(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return text;
  }
}

/** A reviver; engines with JSON.parse source text access pass the source of the value. */
function keepText(_key: string, value: unknown, context?: { readonly source?: string }) {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined) return value;
  const isOther = /^-?\d+$/.test(source) ? String(value) !== source : !Number.isFinite(value);
  return isOther ? source : value;
}

/** Whether data is nested too deeply to be walked safely. */
export function isTooDeep(value: unknown): boolean {
  return isDeeper(value, DEEPEST);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
