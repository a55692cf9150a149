import type { ContractViolation, JobResult } from "../../action/action.ts";
import { ExpressionError, StepError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import { typeName, type Value } from "../../base/value/value.ts";
import type { Expression, Scope, Template } from "../../expr/expression.ts";
import type { Assertion, Duration } from "../../workflow/model.ts";
import type { Failure } from "../event.ts";

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
    const name = field.findLast((step) => typeof step === "string" && step !== "that");
    throw new StepError(
      `${name} must be true or false, it is ${type}`,
      type === "nil" ? "add ?? false where it may be missing" : "compare it with something",
      type === "nil" ? { decided: false } : {},
    );
  }, condition);
}

/** The message of an assertion. */
export function wordsOf({ says }: Assertion, scope: Scope): string | undefined {
  try {
    return says?.renderText(scope, { display: true });
  } catch {
    // The assertion matters more than a mistake in its words.
    return says?.source;
  }
}

/** Evaluates the value of a key; errors get the path of the key. */
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

/** An error with the key of the step or job in which it occurred. */
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

/** The names whose values come from the tested response, and not from the file alone. */
const RESULTS = /^(?:message|res|req|rt|status|outputs|needs|stats|run|job|\$env)$/;

/** Whether an expression cannot be evaluated because of the file and its vars alone. */
export function isMistake(error: unknown): boolean {
  const { cause, tree } = error instanceof FieldError ? error : { cause: error, tree: undefined };
  if (cause instanceof ExpressionError) {
    const { start, end, details: { reads = [] } } = cause;
    const blamed = reads.filter((read) => read.start < end && read.end >= start);
    return blamed.length > 0 && blamed.every(({ root }) => !RESULTS.test(root));
  }
  const names = tree?.source.split(/[^\w$]+/) ?? [];
  return cause instanceof StepError && names.includes("vars") &&
    !names.some((name) => RESULTS.test(name));
}

/** There is no entry or row to run, which does not fail a step. */
export class NothingToRun extends Error {}

/** Several errors, each reported as its own failure. */
export class FieldErrors extends Error {
  constructor(readonly errors: readonly FieldError[]) {
    super(errors.join("; "));
  }
}

/** Why an embedded job has no result. Another attempt would not help. */
export class EmbeddedError extends StepError {
  /** `failure` is the failure in the job file; absent if the job was stopped from outside. */
  constructor(message: string, readonly failure?: Failure) {
    super(message);
  }
}

/** An action was carried out, and its result is not what the step expects. */
export type Unexpected =
  | { readonly kind: "test"; readonly assertion: Assertion }
  | {
    readonly kind: "max_time";
    readonly limit: number;
    readonly elapsed: number;
    readonly phases: Readonly<Record<string, number>> | undefined;
  }
  | { readonly kind: "violation"; readonly violation: ContractViolation }
  | { readonly kind: "job"; readonly job: JobResult }
  | { readonly kind: "snapshot"; readonly difference: SnapshotDifference };

/** The difference of a result from its snapshot, or from what the snapshot's `match` says. */
export interface SnapshotDifference {
  readonly file: string;
  readonly message: string;
  /** Descriptions of the expected and the actual value. */
  readonly expected: string;
  readonly received: string;
  readonly before?: Value;
  readonly value?: Value;
  readonly mismatches?: readonly Mismatch[];
}

/** Says that a result is not as expected, and how. */
export class UnexpectedResult extends Error {
  constructor(readonly unexpected: Unexpected) {
    super(unexpected.kind);
  }
}
