import type { Attempt, Failure, RoundStats, StepResult } from "../../../run/event.ts";

/** The data of a run that the page shows; times are milliseconds since the run started. */
export interface PageData {
  readonly duration: number;
  readonly jobs: readonly PageJob[];
  readonly steps: readonly PageStep[];
}

/** A workflow in the index of a suite. */
export interface IndexEntry {
  readonly state: "passed" | "failed" | "skipped";
  /** The text to search, in lower case. */
  readonly text: string;
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
  /** Its place on the critical path, from 1, where there is more than one job. */
  readonly critical?: number;
  /** The results of its steps in all rounds, as lines of text, if it ran more than once. */
  readonly rounds?: string;
  /** The condition that decides whether its rounds were good enough. */
  readonly expect?: string;
  /** The statistics of its rounds: times in milliseconds. */
  readonly stats?: RoundStats;
  readonly failures: readonly Failure[];
}

/** One run of one step, as far as its row shows it. */
export interface PageStep {
  /** Index of its job. */
  readonly job: number;
  /** Unlike that of any other step beside it, and the same in other runs. */
  readonly key: string;
  readonly name: string;
  readonly uses: string;
  readonly state: StepResult["state"];
  readonly flaky?: true | undefined;
  readonly start: number;
  readonly duration: number;
  /** The number of steps that contain it. */
  readonly depth: number;
  /** `api.yml:14`. */
  readonly place?: string | undefined;
  /** The phases of the action: names and milliseconds, in order. */
  readonly phases?: readonly (readonly [name: string, duration: number])[] | undefined;
  /** Where there was more than one. */
  readonly attempts?: readonly PageAttempt[] | undefined;
}

/** When an attempt began, how long it took, and what came of it. */
export type PageAttempt = readonly [start: number, duration: number, outcome: Attempt["outcome"]];

/**
 * The details of a step. They are most of the page, so each is a line of its own that is parsed
 * when it is shown.
 */
export type PageDetails =
  & Pick<
    StepResult,
    | "assertions"
    | "echo"
    | "exchange"
    | "failures"
    | "maxAttempts"
    | "outputs"
    | "reason"
    | "responseTime"
    | "tests"
    | "untested"
    | "untestedInside"
    | "wait"
  >
  & { readonly attempts?: readonly Attempt[] };
