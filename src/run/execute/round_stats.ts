import { StepError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { Histogram } from "../../base/value/histogram.ts";
import type { Scope } from "../../expr/expression.ts";
import { formatValue } from "../../base/value/format_value.ts";
import type { Dict } from "../../base/value/value.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { Assertion } from "../../workflow/model.ts";
import type { JobState, RoundStats } from "../event.ts";
import { seconds } from "../load/load_stats.ts";
import { FieldError, FieldErrors, isTrue, wordsOf } from "./evaluate_field.ts";

/** Counts the rounds of a job and their times. */
export class RoundCounter {
  readonly #times = new Histogram();
  #passed = 0;
  #failed = 0;

  /** Counts a round that took so many milliseconds. */
  add(state: JobState, milliseconds: number): void {
    if (state === "skipped") return;
    if (state === "passed") this.#passed++;
    else this.#failed++;
    this.#times.add(milliseconds);
  }

  /** The statistics so far; undefined where no round ended. */
  result(): RoundStats | undefined {
    const summary = this.#times.summary();
    if (!summary) return undefined;
    const { count, p999: _, ...times } = summary;
    return { count, passed: this.#passed, failed: this.#failed, ...times };
  }
}

const NO_ROUNDS: RoundStats = {
  ...{ count: 0, passed: 0, failed: 0 },
  ...{ min: 0, mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, max: 0 },
};

/** Throws why the rounds of a job are not as they should be, with the values that decided it. */
export function expectOf(
  expect: readonly Assertion[],
  scope: Scope,
  { count, passed, failed, ...times }: RoundStats = NO_ROUNDS,
): void {
  const inSeconds = Object.entries(times).map(([name, time]) => [name, seconds(time)] as const);
  const stats: Dict = { count, passed, failed, ...Object.fromEntries(inSeconds) };
  const names = { ...scope.names, stats };
  const errors = expect.flatMap((one) =>
    expectationError(one, { ...scope, names }, ["repeat", "expect"]) ?? []
  );
  if (errors.length > 0) throw new FieldErrors(errors);
}

/** Why an assertion of statistics under a key is not true. */
export function expectationError(
  assertion: Assertion,
  scope: Scope,
  key: Path,
  hint?: string,
): FieldError | undefined {
  const { expression } = assertion;
  const field = assertionPath(key, assertion);
  try {
    if (isTrue(expression, scope, field)) return undefined;
  } catch (error) {
    if (error instanceof FieldError) return error;
    throw error;
  }
  const { operands } = expression.explain(scope, false);
  const values = operands.map(({ text, value }) => `${text} is ${formatValue(value)}`);
  const why = values.join(", ") || expression.source.trim();
  const says = wordsOf(assertion, scope);
  const words = says === undefined ? "" : `${says}: `;
  const error = new StepError(`${words}expect is false: ${why}`, hint, { decided: false });
  return new FieldError(field, error, expression);
}
