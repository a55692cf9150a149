import { StepError } from "../../base/errors.ts";
import type { Dict } from "../../base/value/value.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import { referencesIn } from "../../expr/references.ts";
import type { Assertion } from "../../workflow/model.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { LoadStats, LoadThreshold, RoundStats } from "../event.ts";
import { FieldError, wordsOf } from "../execute/evaluate_field.ts";
import { expectationError } from "../execute/round_stats.ts";

const FAILURES_HINT = "no round may fail unless a threshold reads failed, passed or codes: " +
  "stats.failed / stats.count < 0.01";

/** Holds the statistics in a scope against a threshold; why it failed is added to `errors`. */
export function judge(assertion: Assertion, scope: Scope, errors: FieldError[]): LoadThreshold {
  const { expression } = assertion;
  const hint = assertion.isImplied ? FAILURES_HINT : undefined;
  const error = notMeasured(assertion, scope) ??
    expectationError(assertion, scope, ["load", "expect"], hint);
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

/** Why nothing is known of what a threshold reads, whatever it says. */
function notMeasured(assertion: Assertion, { names }: Scope): FieldError | undefined {
  const { expression } = assertion;
  const measured = (names.stats as Dict).steps as Dict;
  for (const { root, keys: [first, step] } of referencesIn(expression.node)) {
    if (root !== "stats" || first?.name !== "steps" || !step) continue;
    if (Object.hasOwn(measured, step.name)) continue;
    const error = new StepError(`nothing was measured: the step "${step.name}" never ran`);
    return new FieldError(assertionPath(["load", "expect"], assertion), error, expression);
  }
  return undefined;
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
