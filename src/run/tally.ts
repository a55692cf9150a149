import type { JobState, StepState } from "./event.ts";

/** Counts what became of jobs and steps. */
export interface Tally {
  readonly jobs: Record<JobState, number>;
  readonly steps: Record<StepState, number>;
  untestedFailures: number;
  flaky: number;
}

/** A count of nothing. */
export function emptyTally(): Tally {
  return {
    jobs: { passed: 0, failed: 0, skipped: 0 },
    steps: { passed: 0, failed: 0, skipped: 0, untested: 0 },
    untestedFailures: 0,
    flaky: 0,
  };
}
