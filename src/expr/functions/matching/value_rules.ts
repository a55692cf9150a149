import { didYouMean } from "../../../base/text/suggest.ts";
import { formatValue } from "../../../base/value/format_value.ts";
import type { Value } from "../../../base/value/value.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { matchesRegex, patternIn } from "../../evaluate/regex.ts";
import { CHECK_FUNCTIONS } from "../check_functions.ts";
import { isOfNamedType, TYPE_NAMES } from "./matchers.ts";

/** The forms of strings that have a function: `uuid` of `is_uuid()`. */
const FORMS: ReadonlyMap<string, (run: Evaluation, value: Value) => Value> = new Map(
  CHECK_FUNCTIONS.flatMap(({ name, call }) =>
    name.startsWith("is_")
      ? [[name.slice(3), call as (run: Evaluation, value: Value) => Value] as const]
      : []
  ),
);

/** Describes the problem with a rule for values: a form, a type or a regular expression. */
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
export function followsRule(run: Evaluation, value: Value, rule: string): boolean {
  const pattern = patternIn(rule);
  if (pattern !== undefined) {
    return (typeof value !== "object" || value === null) &&
      matchesRegex(formatValue(value, run), pattern, run);
  }
  return FORMS.get(rule)?.(run, value) === true || isOfNamedType(value, rule);
}
