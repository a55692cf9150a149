import type { Failure, StepResult } from "../../../run/event.ts";

/** What the page is told of a run; times are milliseconds since its beginning. */
export interface PageData {
  readonly duration: number;
  readonly jobs: readonly PageJob[];
  readonly steps: readonly PageStep[];
}

/** A job on the page. */
export interface PageJob {
  readonly id: string;
  readonly name: string;
  readonly needs: readonly string[];
  readonly state: "passed" | "failed" | "skipped" | "unfinished";
  readonly reason?: string;
  readonly start?: number;
  readonly duration: number;
  /** Whether the run would have been shorter without it. */
  readonly critical: boolean;
  readonly failures: readonly Failure[];
}

/** One run of one step on the page. */
export interface PageStep {
  /** Index of its job. */
  readonly job: number;
  readonly name: string;
  readonly state: StepResult["state"];
  readonly flaky: boolean;
  readonly start: number;
  readonly duration: number;
  /** How many steps it runs inside of. */
  readonly depth: number;
  /** `api.yml:14`. */
  readonly place?: string;
  readonly result: StepResult;
}
