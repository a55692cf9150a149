import { formatValue } from "../../value/format_value.ts";
import { plain, readField } from "../../value/plain.ts";
import { type Dict, isDict, typeName, type Value } from "../../value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { matchesRegex } from "../evaluate/regex.ts";
import { define } from "./function.ts";

/** Functions that hold data against a pattern of it. */
export const MATCH_FUNCTIONS = [
  define(
    "match_json(actual: map, expected: map)",
    "Whether both are equal; an expected string between slashes is a regular expression.",
    (run, actual: Dict, expected: Dict) => findMismatch(run, actual, expected) === undefined,
  ),
  define(
    "diff_json(actual: map, expected: map)",
    'The first difference that match_json finds, as a sentence, or "No diff".',
    (run, actual: Dict, expected: Dict) => {
      const found = findMismatch(run, actual, expected);
      return found ? `Key '${sayPath(found.path)}': ${found.told}` : "No diff";
    },
  ),
] as const;

/** Where data first differs from what was expected of it. */
export interface Mismatch {
  /** Keys and indexes, from the outside. */
  readonly path: readonly (string | number)[];
  /** What is wrong there, as diff_json says it. */
  readonly told: string;
  /** The values there; undefined where a side has none. */
  readonly actual: Value | undefined;
  readonly expected: Value | undefined;
}

/** The first difference that match_json finds. */
export function findMismatch(
  run: Evaluation,
  actual: Value,
  expected: Value,
): Mismatch | undefined {
  run.spend(1);
  if (isDict(expected)) return mapMismatch(run, actual, expected);
  if (Array.isArray(expected)) return listMismatch(run, actual, expected);
  const here = (told: string): Mismatch => ({ path: [], told, actual, expected });
  const pattern = typeof expected === "string" ? patternIn(expected) : undefined;
  if (pattern !== undefined) {
    const isNested = typeof actual === "object" && actual !== null;
    const text = isNested ? "" : formatValue(actual, run);
    if (!isNested && matchesRegex(text, pattern, run)) return undefined;
    return here(`Regex mismatch (pattern: ${pattern}, value: ${text})`);
  }
  if (typeof expected === "number") {
    const same = actual === expected || typeof actual === "string" && actual === String(expected);
    return same
      ? undefined
      : here(`Expected ${formatValue(expected, run)}, got ${formatValue(actual, run)}`);
  }
  return actual === expected
    ? undefined
    : here(`Expected '${say(expected, run)}', got '${say(actual, run)}'`);
}

function mapMismatch(run: Evaluation, actual: Value, expected: Dict): Mismatch | undefined {
  if (!isDict(actual)) {
    return { path: [], told: `Expected a map, got ${typeName(actual)}`, actual, expected };
  }
  for (const key of Object.keys(expected)) {
    const wanted = readField(expected, key) ?? null;
    const value = readField(actual, key);
    if (value === undefined) {
      return { path: [key], told: "Missing in source", actual: undefined, expected: wanted };
    }
    const found = findMismatch(run, value, wanted);
    if (found) return { ...found, path: [key, ...found.path] };
  }
  const extra = Object.keys(actual).find((key) => readField(expected, key) === undefined);
  if (extra === undefined) return undefined;
  const value = readField(actual, extra);
  return { path: [extra], told: "Extra field in source", actual: value, expected: undefined };
}

function listMismatch(
  run: Evaluation,
  actual: Value,
  expected: readonly Value[],
): Mismatch | undefined {
  const here = (told: string): Mismatch => ({ path: [], told, actual, expected });
  if (!Array.isArray(actual)) return here(`Expected a slice, got ${typeName(actual)}`);
  if (actual.length !== expected.length) {
    return here(`Slice length mismatch (expected ${expected.length}, got ${actual.length})`);
  }
  for (const [index, item] of expected.entries()) {
    const found = findMismatch(run, plain(actual[index]), plain(item));
    if (found) return { ...found, path: [index, ...found.path] };
  }
  return undefined;
}

function sayPath(path: Mismatch["path"]): string {
  return path.map((step, index) =>
    typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`
  ).join("");
}

/** The regular expression in `/…/`, if a text is one. */
export function patternIn(text: string): string | undefined {
  return text.length > 2 && text.startsWith("/") && text.endsWith("/")
    ? text.slice(1, -1)
    : undefined;
}

function say(value: Value, run: Evaluation): string {
  return value === null ? "<nil>" : formatValue(value, run);
}
