import { longWork } from "../long_work.ts";
import type { Value } from "./value.ts";

/** Data nested deeper than this could not be walked safely afterwards. */
const MAX_LEVELS = 500;

/** Characters that take a part of a second. */
const LONG = 4_000_000;

/**
 * Reads JSON as data: the one reader of all JSON that the program has not written itself. Throws
 * `SyntaxError`.
 */
export function parseJson(text: string): unknown {
  if (text.length > LONG) longWork.begins?.();
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (error) {
    // It quotes a part of the text. Half a secret in it would not be recognized.
    if (error instanceof SyntaxError) throw new SyntaxError(error.message.replace(/, [".].*/s, ""));
    // It has more levels than the stack.
    if (!(error instanceof RangeError)) throw error;
  }
  if (value === undefined || text.length > 2 * MAX_LEVELS && isDeeper(value, MAX_LEVELS)) {
    throw new SyntaxError(`JSON is nested more than ${MAX_LEVELS} levels deep`);
  }
  return value;
}

/**
 * Reads JSON with all the digits of integers. A number that would be infinite, which every test for
 * more would take, stays the text that it was. Complete in itself: pages and the workers of plugins
 * are given its source.
 */
export function parseExactly<T>(text: string): T {
  // Only then a reviver is worth its time. The first pattern is faster, and most texts need no other.
  const mayBeLong = /\d{16}|\d[eE]\+?\d{3}/.test(text) &&
    /(?:^|[\s:,[-])(?:\d{16}|[\d.]+[eE]\+?\d{3})/.test(text);
  if (!mayBeLong) return JSON.parse(text);
  return JSON.parse(text, (_key, value, { source }: { readonly source?: string } = {}) => {
    if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
    if (source === undefined) return value;
    if (!Number.isFinite(value)) return source;
    const isExact = !/^-?\d+$/.test(source) ||
      Math.abs(value) <= 2 ** 53 && String(value) === source;
    return isExact ? value : BigInt(source);
  });
}

/** The position of a JSON syntax error, which engines do not always report, and its message. */
export function jsonFault(
  text: string,
  { message }: SyntaxError,
): { readonly offset: number; readonly message: string } {
  if (message.startsWith("JSON is nested")) return { offset: 0, message };
  const offset = findFault(text);
  if (offset >= text.length) return { offset, message: "it ends too early" };
  return { offset, message: `unexpected ${JSON.stringify(text[offset])}` };
}

/** Up to there JSON could go on. */
function findFault(text: string): number {
  const couldGoOn = (end: number) => {
    try {
      JSON.parse(text.slice(0, end));
      return true;
    } catch (error) {
      return /end of JSON|unterminated/i.test(String(error)) ||
        new RegExp(`position ${end}\\b`).test(String(error));
    }
  };
  let [good, bad] = [0, text.length + 1];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (couldGoOn(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

/** The value of a text that is JSON; undefined if it is not. */
export function tryParseJson(text: string): Value | undefined {
  try {
    return parseJson(text) as Value;
  } catch {
    return undefined;
  }
}

/** The value of a text that is JSON; any other text as it is. */
export function jsonOrText(text: string): Value {
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}

/** The data in a text that has no type: objects and lists of JSON; anything else is the text. */
export function dataIn(text: string): Value {
  return /^\s*[[{]/.test(text) ? jsonOrText(text) : text;
}

/** Whether data is nested too deeply to be walked safely. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1));
}
