import { StepError } from "../../source/errors.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import { formatValue } from "../../value/format_value.ts";
import type { Dict } from "../../value/value.ts";
import type { JobState } from "../event.ts";
import { FieldError, isTrue } from "./evaluate_field.ts";

/** Counts the rounds of a job and their times, in memory that does not grow with them. */
export interface RoundStats {
  /** Counts a round that took so many milliseconds. */
  add(state: JobState, milliseconds: number): void;
  /** What expressions see as `stats`, with times in seconds. */
  values(): Dict;
}

/** Microseconds, to three digits. */
const PRECISION = {
  highestTrackableValue: 3_600_000_000,
  numberOfSignificantValueDigits: 3,
  autoResize: true,
  useWebAssembly: false,
} as const;

/** Counts nothing yet. */
export async function makeRoundStats(): Promise<RoundStats> {
  const { default: { build } } = await import("hdr-histogram-js");
  const times = build(PRECISION);
  const count = { passed: 0, failed: 0 };
  let [min, max, sum] = [Infinity, 0, 0];
  return {
    add(state, milliseconds) {
      if (state === "skipped") return;
      count[state]++;
      min = Math.min(min, milliseconds);
      max = Math.max(max, milliseconds);
      sum += milliseconds;
      times.recordValue(Math.round(milliseconds * 1000));
    },
    values() {
      const all = count.passed + count.failed;
      const percentile = (part: number) =>
        all === 0 ? 0 : Math.min(times.getValueAtPercentile(part) / 1e6, max / 1000);
      return {
        count: all,
        ...count,
        min: all === 0 ? 0 : min / 1000,
        mean: all === 0 ? 0 : sum / all / 1000,
        p50: percentile(50),
        p90: percentile(90),
        p95: percentile(95),
        p99: percentile(99),
        max: max / 1000,
      };
    },
  };
}

/** Throws why the rounds of a job are not as they should be, with the values that decided it. */
export function expectOf(expect: Expression, scope: Scope, stats: RoundStats): void {
  const names = { ...scope.names, stats: stats.values() };
  const field = ["repeat", "expect"];
  if (isTrue(expect, { ...scope, names }, field)) return;
  const { operands } = expect.explain({ ...scope, names }, false);
  const values = operands.map(({ text, value }) => `${text} is ${formatValue(value)}`);
  const error = new StepError(`expect is false: ${values.join(", ") || expect.source.trim()}`);
  throw new FieldError(field, error, expect);
}
