import { StepError } from "../../base/errors.ts";
import type { Scope } from "../../expr/expression.ts";
import { roundDuration } from "../../base/value/duration.ts";
import { formatValue } from "../../base/value/format_value.ts";
import type { Dict } from "../../base/value/value.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { Assertion } from "../../workflow/model.ts";
import type { JobState, RoundStats } from "../event.ts";
import { FieldError, FieldErrors, isTrue, wordsOf } from "./evaluate_field.ts";

/** Counts the rounds of a job and their times. */
export interface RoundCounter {
  /** Counts a round that took so many milliseconds. */
  add(state: JobState, milliseconds: number): void;
  /** The statistics so far; undefined where no round ended. */
  result(): RoundStats | undefined;
}

/** Times in milliseconds, from which percentiles are computed. */
interface Times {
  add(milliseconds: number): void;
  percentile(part: number): number;
}

/** Microseconds, to three digits. */
const PRECISION = {
  highestTrackableValue: 3_600_000_000,
  numberOfSignificantValueDigits: 3,
  autoResize: true,
  useWebAssembly: false,
} as const;

/**
 * Counts nothing yet. With `isLoad` its memory does not grow with the rounds; else the times are
 * exact, and no library is needed for them.
 */
export async function makeRoundStats(isLoad: boolean): Promise<RoundCounter> {
  return countRounds(isLoad ? await histogram() : list());
}

/** The same where the times are known already. */
export function exactRoundStats(): RoundCounter {
  return countRounds(list());
}

function countRounds(times: Times): RoundCounter {
  const count = { passed: 0, failed: 0 };
  let [min, max, sum] = [Infinity, 0, 0];
  return {
    add(state, milliseconds) {
      if (state === "skipped") return;
      count[state]++;
      min = Math.min(min, milliseconds);
      max = Math.max(max, milliseconds);
      sum += milliseconds;
      times.add(milliseconds);
    },
    result() {
      const all = count.passed + count.failed;
      if (all === 0) return undefined;
      const at = (part: number) => roundDuration(Math.min(times.percentile(part), max));
      return {
        count: all,
        ...count,
        min: roundDuration(min),
        mean: roundDuration(sum / all),
        p50: at(50),
        p90: at(90),
        p95: at(95),
        p99: at(99),
        max: roundDuration(max),
      };
    },
  };
}

async function histogram(): Promise<Times> {
  const { default: { build } } = await import("hdr-histogram-js");
  const times = build(PRECISION);
  return {
    add: (milliseconds) => times.recordValue(Math.round(milliseconds * 1000)),
    percentile: (part) => times.getValueAtPercentile(part) / 1000,
  };
}

function list(): Times {
  const times: number[] = [];
  return {
    add: (milliseconds) => void times.push(milliseconds),
    percentile(part) {
      times.sort((a, b) => a - b);
      return times[Math.max(0, Math.ceil(part / 100 * times.length) - 1)] ?? 0;
    },
  };
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
  // Microseconds are whole: a quotient of a thousand would have a long tail of digits.
  const seconds = Object.entries(times).map(([name, time]) =>
    [name, Math.round(time * 1000) / 1_000_000] as const
  );
  const stats: Dict = { count, passed, failed, ...Object.fromEntries(seconds) };
  const names = { ...scope.names, stats };
  const errors = expect.flatMap((one) => errorOf(one, { ...scope, names }));
  if (errors.length > 0) throw new FieldErrors(errors);
}

function errorOf(assertion: Assertion, scope: Scope): FieldError[] {
  const { expression } = assertion;
  const field = assertionPath(["repeat", "expect"], assertion);
  try {
    if (isTrue(expression, scope, field)) return [];
  } catch (error) {
    if (error instanceof FieldError) return [error];
    throw error;
  }
  const { operands } = expression.explain(scope, false);
  const values = operands.map(({ text, value }) => `${text} is ${formatValue(value)}`);
  const why = values.join(", ") || expression.source.trim();
  const says = wordsOf(assertion, scope);
  const words = says === undefined ? "" : `${says}: `;
  const error = new StepError(`${words}expect is false: ${why}`, undefined, { decided: false });
  return [new FieldError(field, error, expression)];
}
