import type { Expression, Scope, Template } from "../../expr/expression.ts";
import type { Failure } from "../event.ts";
import { StepError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import { typeName } from "../../base/value/value.ts";
import type { Duration } from "../../workflow/model.ts";

/** The milliseconds under a key; a template that gives no duration is a `StepError`. */
export function evaluateDuration(duration: Duration, scope: Scope, field: Path): number {
  if (duration.kind === "constant") return duration.milliseconds;
  return inField(field, () => {
    const value = duration.template.render(scope);
    const milliseconds = parseDuration(value);
    if (milliseconds !== undefined) return milliseconds;
    throw new StepError(`"${field.at(-1)}" ${durationProblem(value)}`);
  }, duration.template);
}

/** The value of a `test` or `skipif`: exactly true or false, anything else is an error. */
export function isTrue(condition: Expression, scope: Scope, key: string | Path): boolean {
  const field = typeof key === "string" ? [key] : key;
  return inField(field, () => {
    const value = condition.evaluate(scope);
    if (typeof value === "boolean") return value;
    const type = typeName(value);
    const name = field.findLast((step) => typeof step === "string");
    throw new StepError(
      `${name} must be true or false, it is ${type}`,
      type === "nil" ? "add ?? false where it may be missing" : "compare it with something",
      type === "nil" ? { decided: false } : {},
    );
  }, condition);
}

/** An error with the key of the step or job that it came up in. */
export class FieldError extends Error {
  constructor(
    readonly field: Path,
    override readonly cause: unknown,
    /** The evaluated text, if it is a single one. */
    readonly tree?: Expression | Template,
  ) {
    super(String(cause));
  }
}

/** Several of them, each a failure of its own. */
export class FieldErrors extends Error {
  constructor(readonly errors: readonly FieldError[]) {
    super(errors.join("; "));
  }
}

/** Evaluates what a key holds; an error then knows the key. */
export function inField<T>(
  field: Path,
  evaluate: () => T,
  tree?: Expression | Template,
): T {
  try {
    return evaluate();
  } catch (error) {
    throw error instanceof FieldError ? error : new FieldError(field, error, tree);
  }
}

/** Why an embedded job came to no result. Another attempt would come to none either. */
export class EmbeddedError extends StepError {
  /** `failure` is what failed in the job file; without it the job was stopped from outside. */
  constructor(message: string, readonly failure?: Failure) {
    super(message);
  }
}
