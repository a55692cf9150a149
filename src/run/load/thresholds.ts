import { StepError } from "../../base/errors.ts";
import { explained } from "../../expr/hints.ts";
import { formatValue } from "../../base/value/format_value.ts";
import type { Dict } from "../../base/value/value.ts";
import { explain } from "../../expr/evaluate/explain.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import { referencesIn } from "../../expr/references.ts";
import type { Assertion } from "../../workflow/model.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { LoadThreshold } from "../event.ts";
import { FieldError, isTrue, wordsOf } from "../execute/evaluate_field.ts";

const FAILURES_HINT = "no round may fail unless a threshold reads failed, passed or codes: " +
  "stats.failed / stats.count < 0.01";

/** Holds the statistics in a scope against a threshold; why it failed is added to `errors`. */
export function judge(assertion: Assertion, scope: Scope, errors: FieldError[]): LoadThreshold {
  const { expression } = assertion;
  const hint = assertion.isImplied ? FAILURES_HINT : undefined;
  const error = notMeasured(assertion, scope) ??
    thresholdError(assertion, scope, hint);
  if (error) errors.push(error);
  const says = wordsOf(assertion, scope);
  const isFalse = error?.cause instanceof StepError && error.cause.details.decided === false;
  return {
    expression: expression.source.trim(),
    says,
    passed: error === undefined,
    operands: operandsOf(expression, scope, error === undefined),
    problem: error && !isFalse ? String((explained(error.cause) as Error).message) : undefined,
  };
}

/** Why a threshold cannot be decided: it reads a step that never ran. */
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

/** Why a threshold is not true. */
function thresholdError(
  assertion: Assertion,
  scope: Scope,
  hint?: string,
): FieldError | undefined {
  const { expression } = assertion;
  const field = assertionPath(["load", "expect"], assertion);
  try {
    if (isTrue(expression, scope, field)) return undefined;
  } catch (error) {
    if (error instanceof FieldError) return error;
    throw error;
  }
  const { operands } = explain(expression, scope, false);
  const values = operands.map(({ text, value }) => `${text} is ${formatValue(value)}`);
  const why = values.join(", ") || expression.source.trim();
  const says = wordsOf(assertion, scope);
  const words = says === undefined ? "" : `${says}: `;
  const error = new StepError(`${words}expect is false: ${why}`, hint, { decided: false });
  return new FieldError(field, error, expression);
}

/** The parts of an expression that decided its result. */
export function operandsOf(expression: Expression, scope: Scope, result: boolean) {
  return explain(expression, scope, result).operands.map(({ text, value }) => ({ text, value }));
}
