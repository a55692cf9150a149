import { StepError } from "../../base/errors.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import type { Assertion } from "../../workflow/model.ts";
import type { LoadStats, LoadThreshold, RoundStats } from "../event.ts";
import { type FieldError, wordsOf } from "../execute/evaluate_field.ts";
import { expectationError } from "../execute/round_stats.ts";

/** Holds the statistics in a scope against a threshold; why it failed is added to `errors`. */
export function judge(assertion: Assertion, scope: Scope, errors: FieldError[]): LoadThreshold {
  const { expression } = assertion;
  const error = expectationError(assertion, scope, ["load", "expect"]);
  if (error) errors.push(error);
  const says = wordsOf(assertion, scope);
  const isFalse = error?.cause instanceof StepError && error.cause.details.decided === false;
  return {
    expression: expression.source.trim(),
    ...says === undefined ? {} : { says },
    passed: error === undefined,
    operands: operandsOf(expression, scope, error === undefined),
    ...error && !isFalse ? { problem: String((error.cause as Error).message) } : {},
  };
}

/** The parts of an expression that decided its result. */
export function operandsOf(expression: Expression, scope: Scope, result: boolean) {
  return expression.explain(scope, result).operands.map(({ text, value }) => ({ text, value }));
}

/** The statistics of the rounds, as jobs that repeat have them. */
export function roundStats(stats: LoadStats): RoundStats {
  const { count, passed, failed, min, mean, p50, p90, p95, p99, max } = stats;
  return { count, passed, failed, min, mean, p50, p90, p95, p99, max };
}
