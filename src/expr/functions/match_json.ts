import { formatValue } from "../../value/format_value.ts";
import { plain, readField } from "../../value/plain.ts";
import { type Dict, isDict, typeName, type Value } from "../../value/value.ts";
import type { Evaluation } from "../evaluation.ts";
import { matchesRegex } from "../regex.ts";
import { define } from "./function.ts";

/** Functions that hold data against a pattern of it. */
export const MATCH_FUNCTIONS = [
  define(
    "match_json(actual: map, expected: map)",
    "Whether both hold the same; an expected text between slashes is a regular expression.",
    (run, actual: Dict, expected: Dict) => difference(run, actual, expected, "") === undefined,
  ),
  define(
    "diff_json(actual: map, expected: map)",
    'The first difference that match_json finds, as a sentence, or "No diff".',
    (run, actual: Dict, expected: Dict) => difference(run, actual, expected, "") ?? "No diff",
  ),
] as const;

function difference(
  run: Evaluation,
  actual: Value,
  expected: Value,
  path: string,
): string | undefined {
  run.spend(1);
  if (isDict(expected)) return mapDifference(run, actual, expected, path);
  if (Array.isArray(expected)) return listDifference(run, actual, expected, path);
  const pattern = typeof expected === "string" ? patternIn(expected) : undefined;
  if (pattern !== undefined) {
    const isNested = typeof actual === "object" && actual !== null;
    const text = isNested ? "" : formatValue(actual, run);
    if (!isNested && matchesRegex(text, pattern, run)) return undefined;
    return `Key '${path}': Regex mismatch (pattern: ${pattern}, value: ${text})`;
  }
  if (typeof expected === "number") {
    const same = actual === expected || typeof actual === "string" && actual === String(expected);
    return same
      ? undefined
      : `Key '${path}': Expected ${formatValue(expected, run)}, got ${formatValue(actual, run)}`;
  }
  return actual === expected
    ? undefined
    : `Key '${path}': Expected '${say(expected, run)}', got '${say(actual, run)}'`;
}

function mapDifference(
  run: Evaluation,
  actual: Value,
  expected: Dict,
  path: string,
): string | undefined {
  if (!isDict(actual)) return `Key '${path}': Expected a map, got ${typeName(actual)}`;
  const inner = (key: string) => path === "" ? key : `${path}.${key}`;
  for (const key of Object.keys(expected)) {
    const value = readField(actual, key);
    if (value === undefined) return `Key '${inner(key)}': Missing in source`;
    const found = difference(run, value, readField(expected, key) ?? null, inner(key));
    if (found !== undefined) return found;
  }
  const extra = Object.keys(actual).find((key) => readField(expected, key) === undefined);
  return extra === undefined ? undefined : `Key '${inner(extra)}': Extra field in source`;
}

function listDifference(
  run: Evaluation,
  actual: Value,
  expected: readonly Value[],
  path: string,
): string | undefined {
  if (!Array.isArray(actual)) return `Key '${path}': Expected a slice, got ${typeName(actual)}`;
  if (actual.length !== expected.length) {
    return `Key '${path}': Slice length mismatch (expected ${expected.length}, got ${actual.length})`;
  }
  for (const [index, item] of expected.entries()) {
    const found = difference(run, plain(actual[index]), plain(item), `${path}[${index}]`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The regular expression in `/…/`, if a text is one. */
function patternIn(text: string): string | undefined {
  return text.length > 2 && text.startsWith("/") && text.endsWith("/")
    ? text.slice(1, -1)
    : undefined;
}

function say(value: Value, run: Evaluation): string {
  return value === null ? "<nil>" : formatValue(value, run);
}
