import { isEqual } from "../../../base/value/compare.ts";
import { formatValue } from "../../../base/value/format_value.ts";
import { type Matcher, matcherIn } from "../../../base/value/matcher.ts";
import {
  type Dict,
  isDict,
  isNumber,
  plain,
  readField,
  typeName,
  type Value,
} from "../../../base/value/value.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { loadRegexEngine, matchesRegex, patternIn, regexProblem } from "../../evaluate/regex.ts";
import { type ConstantArgument, define, defineNew } from "../function.ts";
import { findMismatches, includesJson } from "./includes_json.ts";
import { isOfNamedType, MATCHER_FUNCTIONS } from "./matchers.ts";
import { pairUp } from "./pair_up.ts";

/** The argument with the expected value. */
const EXPECTED: ConstantArgument = { position: 1, problem: patternProblem, isDeep: true };

/** Functions that hold data against a pattern of it. */
export const MATCH_FUNCTIONS = [
  {
    ...define(
      "match_json(actual: map, expected: map)",
      "Whether both are equal; an expected string between slashes is a regular expression.",
      (run, actual: Dict, expected: Dict) => findMismatch(run, actual, expected) === undefined,
    ),
    constant: EXPECTED,
  },
  {
    ...define(
      "diff_json(actual: map, expected: map)",
      'The first difference that match_json finds, as a sentence, or "No diff".',
      (run, actual: Dict, expected: Dict) => {
        const found = findMismatch(run, actual, expected);
        return found ? `Key '${sayPath(found.path)}': ${found.message}` : "No diff";
      },
    ),
    constant: EXPECTED,
  },
  {
    ...defineNew(
      "includes_json(actual: any, part: any)",
      "Whether the value contains the part: in maps the keys of the part, in lists as many items, " +
        "each with its part; a string between slashes is a regular expression.",
      includesJson,
      loadRegexEngine,
      EXPECTED,
    ),
    mismatches: findMismatches,
  },
  ...MATCHER_FUNCTIONS,
] as const;

/** The problem of a regular expression in an expected value; undefined if there is none. */
function patternProblem(text: string): string | undefined {
  const pattern = patternIn(text);
  return pattern === undefined ? undefined : regexProblem(pattern);
}

/** Where data first differs from what was expected of it. */
export interface JsonMismatch {
  /** Keys and indexes, from the outside. */
  readonly path: readonly (string | number)[];
  /** The problem, in the words of diff_json. */
  readonly message: string;
  /** The values there; undefined where a side has none. */
  readonly actual: Value | undefined;
  readonly expected: Value | undefined;
}

/** The first difference that match_json finds. */
export function findMismatch(
  run: Evaluation,
  actual: Value,
  expected: Value,
): JsonMismatch | undefined {
  run.spend(1);
  const matcher = matcherIn(expected);
  if (matcher) return matcherMismatch(run, actual, expected, matcher);
  if (isDict(expected)) return mapMismatch(run, actual, expected);
  if (Array.isArray(expected)) return listMismatch(run, actual, expected);
  const here = (message: string): JsonMismatch => ({ path: [], message, actual, expected });
  const pattern = typeof expected === "string" ? patternIn(expected) : undefined;
  if (pattern !== undefined) {
    const isNested = typeof actual === "object" && actual !== null;
    const text = isNested ? "" : formatValue(actual, run);
    if (!isNested && matchesRegex(text, pattern, run)) return undefined;
    return here(`Regex mismatch (pattern: ${pattern}, value: ${text})`);
  }
  if (isNumber(expected)) {
    const same = isEqual(actual, expected) ||
      typeof actual === "string" && actual === String(expected);
    return same
      ? undefined
      : here(`Expected ${formatValue(expected, run)}, got ${formatValue(actual, run)}`);
  }
  return actual === expected
    ? undefined
    : here(`Expected '${say(expected, run)}', got '${say(actual, run)}'`);
}

function matcherMismatch(
  run: Evaluation,
  actual: Value,
  expected: Value,
  matcher: Matcher,
): JsonMismatch | undefined {
  const here = (message: string): JsonMismatch => ({ path: [], message, actual, expected });
  switch (matcher.kind) {
    case "anything":
      return undefined;
    case "is_type":
      return isOfNamedType(actual, matcher.type)
        ? undefined
        : here(`Expected type ${matcher.type}, got ${typeName(actual)}`);
    case "unordered": {
      const { items } = matcher;
      if (!Array.isArray(actual)) return here(`Expected a slice, got ${typeName(actual)}`);
      const fits = (wanted: number, given: number) =>
        !findMismatch(run, plain(actual[given]), plain(items[wanted]));
      const left = pairUp(items.length, actual.length, fits, run);
      const rest = left.wanted.length + left.given.length;
      return rest === 0 ? undefined : here(`Items that match none in any order: ${rest}`);
    }
  }
}

function mapMismatch(run: Evaluation, actual: Value, expected: Dict): JsonMismatch | undefined {
  if (!isDict(actual)) {
    return { path: [], message: `Expected a map, got ${typeName(actual)}`, actual, expected };
  }
  for (const key of Object.keys(expected)) {
    const wanted = readField(expected, key) ?? null;
    const value = readField(actual, key);
    if (value === undefined) {
      return { path: [key], message: "Missing in source", actual: undefined, expected: wanted };
    }
    const found = findMismatch(run, value, wanted);
    if (found) return { ...found, path: [key, ...found.path] };
  }
  const extra = Object.keys(actual).find((key) => readField(expected, key) === undefined);
  if (extra === undefined) return undefined;
  const value = readField(actual, extra);
  return { path: [extra], message: "Extra field in source", actual: value, expected: undefined };
}

function listMismatch(
  run: Evaluation,
  actual: Value,
  expected: readonly Value[],
): JsonMismatch | undefined {
  const here = (message: string): JsonMismatch => ({ path: [], message, actual, expected });
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

function sayPath(path: JsonMismatch["path"]): string {
  return path.map((step, index) =>
    typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`
  ).join("");
}

function say(value: Value, run: Evaluation): string {
  return value === null ? "<nil>" : formatValue(value, run);
}
