import { StepError } from "../../base/errors.ts";
import { typeMeantBy } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { formatValue } from "../../base/value/format_value.ts";
import {
  type Comparison,
  describeExpected,
  differences,
  isAsExpected,
  isOfNamedType,
  makeMatcher,
  type MatchProblem,
  TYPE_NAMES,
} from "./differences.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import type { Dict, Value } from "../../base/value/value.ts";
import { loadRegexEngine, matchesRegex, patternIn, regexProblem } from "../evaluate/regex.ts";
import { Fault } from "../fault.ts";
import { BODIES as CHECKS } from "./checks.ts";
import { type ConstantArgument, define, type FunctionBodies } from "./function.ts";

/** The argument with the expected value. */
const EXPECTED: ConstantArgument = { position: 1, problem: patternProblem, isDeep: true };

/** Functions that compare data with an expected value, and matchers for parts of it. */
export const BODIES: FunctionBodies = {
  match_json: define(
    "Whether both are equal; an expected string between slashes is a regular expression.",
    (actual: Dict, expected: Dict) => isAsExpected(actual, expected, "match"),
    {
      load: loadRegexEngine,
      constant: EXPECTED,
      mismatches: (actual: Value, expected: Value) => findMismatches(actual, expected, "match"),
    },
  ),
  diff_json: define(
    'The first difference that match_json finds, as a sentence, or "No diff".',
    (actual: Dict, expected: Dict) => {
      const [found] = differences(actual, expected, "match");
      return found ? `Key '${keyPath(found.path)}': ${found.message}` : "No diff";
    },
    { load: loadRegexEngine, constant: EXPECTED },
  ),
  includes_json: define(
    "Whether the value contains the part: in maps the keys of the part, in lists the same number of items in the same order; a string between slashes is a regular expression.",
    (actual: Value, part: Value) => isAsExpected(actual, part, "include"),
    { load: loadRegexEngine, constant: EXPECTED, mismatches: findMismatches },
  ),
  anything: define(
    "In an expected value: any value, nil too, if there is one.",
    () => makeMatcher({ kind: "anything" }),
  ),
  is_type: define(
    "In an expected value: any value of a type of `type()`, or of `integer`, `number`, `boolean` or `list`.",
    (name: string) => {
      const problem = typeProblem(name);
      if (problem !== undefined) throw new Fault(problem);
      return makeMatcher({ kind: "is_type", type: name });
    },
    { constant: { position: 0, problem: typeProblem } },
  ),
  unordered: define(
    "In an expected value: a list of these items in any order.",
    (items: readonly Value[]) => makeMatcher({ kind: "unordered", items }),
  ),
};

/** The problem of a regular expression in an expected value; undefined if there is none. */
function patternProblem(text: string): string | undefined {
  const pattern = patternIn(text);
  return pattern === undefined ? undefined : regexProblem(pattern);
}

function keyPath(path: MatchProblem["path"]): string {
  return path.map((step, index) =>
    typeof step === "number" ? `[${step}]` : index === 0 ? step : `.${step}`
  ).join("");
}

/** Every place where a value is not as expected. */
export function findMismatches(
  actual: Value,
  expected: Value,
  how: Comparison = "include",
): Mismatch[] {
  return [...differences(actual, expected, how)].map(({ path, expected, actual, note }) => ({
    path,
    expected: expected === undefined ? undefined : describeExpected(expected),
    actual,
    note,
  }));
}

/**
 * Loads the comparison of `includes_json()` for an action: it gives every mismatch of a value and
 * a part, and throws a StepError for an invalid regular expression and for lists that are too long.
 */
export async function loadMatching(): Promise<typeof findMismatches> {
  await loadRegexEngine();
  return (actual, part) => {
    try {
      return findMismatches(actual, part);
    } catch (error) {
      throw error instanceof Fault ? new StepError(error.message, error.hint) : error;
    }
  };
}

function typeProblem(name: string): string | undefined {
  if (TYPE_NAMES.includes(name)) return undefined;
  const other = typeMeantBy(name);
  const hint = other === undefined ? didYouMean(name, TYPE_NAMES) : `write "${other}"`;
  const types = `the types are ${TYPE_NAMES.join(", ")}`;
  return `unknown type "${name}" in is_type(): ${hint ?? types}`;
}

/** The forms of strings that have a function: `uuid` of `is_uuid()`. */
const FORMS: ReadonlyMap<string, (value: Value) => Value> = new Map(
  Object.entries(CHECKS).filter(([name]) => name.startsWith("is_"))
    .map(([name, { call }]) => [name.slice("is_".length), call as (value: Value) => Value]),
);

/** The problem of a rule of a snapshot for values: a form, a type or a regular expression. */
export function ruleProblem(
  rule: string,
  problemOf: (pattern: string) => string | undefined,
): string | undefined {
  const pattern = patternIn(rule);
  if (pattern !== undefined) return problemOf(pattern);
  const names = [...FORMS.keys(), ...TYPE_NAMES];
  if (names.includes(rule)) return undefined;
  const hint = didYouMean(rule, names) ?? `the rules are ${names.join(", ")}, and /pattern/`;
  return `unknown rule "${rule}": ${hint}`;
}

/** Whether a value is as a rule says. */
export function followsRule(value: Value, rule: string): boolean {
  const pattern = patternIn(rule);
  if (pattern !== undefined) {
    return (typeof value !== "object" || value === null) &&
      matchesRegex(formatValue(value), pattern);
  }
  return FORMS.get(rule)?.(value) === true || isOfNamedType(value, rule);
}
