import type {
  Failure,
  JobState,
  LoadEnded,
  LoadOutline,
  LoadSecond,
  Note,
  RoundsTallied,
  RoundStats,
  RunFinished,
  RunOrigin,
  StepOutline,
  StepTree,
  SuiteFinished,
  SuitePart,
  SuiteStarted,
} from "../../run/event.ts";
import type { Position } from "../../base/source.ts";
import type { Value } from "../../base/value/value.ts";
import { workflowState } from "../../run/count_steps.ts";

/** All that is known about a run, for reports that are written when it is over. */
export interface RunRecord {
  /** The `runId` of its events. */
  readonly id: string;
  /** The program that wrote the report. */
  readonly tool: { readonly name: string; readonly version: string };
  readonly name: string;
  readonly description?: string;
  /** The workflow file, or several joined by commas, as they were named. */
  readonly file: string;
  /** Where it is one of several. */
  readonly suite?: SuitePart;
  /** How it was started; that of a suite is in its start. */
  readonly origin?: RunOrigin;
  /** The values of its vars. */
  readonly vars?: Value;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** In the order of the file. */
  readonly jobs: readonly JobRecord[];
  readonly warnings: readonly Note[];
  /** The end of the run; absent if it was cut off. */
  readonly end?: RunFinished;
}

/** A job and its result. */
export interface JobRecord {
  readonly id: string;
  readonly name: string;
  readonly needs: readonly string[];
  /** The tags of the workflow and its own, if there are any. */
  readonly tags?: readonly string[];
  /** The steps as the file has them. */
  readonly outline: readonly StepOutline[];
  /** The number of times that it runs, if it has a `repeat`. */
  readonly rounds?: number;
  /** The statistics of its rounds, where any ended. */
  readonly stats?: RoundStats;
  /** Milliseconds since 1970; absent where it did not start. */
  readonly started?: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Absent where the run was cut off before its end. */
  readonly state?: JobState;
  /** Why it was skipped. */
  readonly reason?: string;
  /** It was skipped because of what happened elsewhere, not on purpose. */
  readonly blocked?: true;
  /** It failed, which `allow_failure` expects. */
  readonly known?: true;
  /** The failures outside its steps. */
  readonly failures: readonly Failure[];
  /**
   * Each run of each step, by step and entry. Of a job with several rounds the first run of each
   * step that did not fail and the first failure of each kind, by round.
   */
  readonly steps: readonly StepRecord[];
  /** What all rounds came to, if it has several. */
  readonly tally?: Pick<RoundsTallied, "begun" | "rounds" | "steps">;
  /** What it was to do and did, if it has a `load`. */
  readonly load?: LoadRecord;
}

/** A load job and its result. */
export interface LoadRecord {
  readonly outline: LoadOutline;
  /** As they came: of several processes there are several with the same `from`. */
  readonly seconds: readonly LoadSecond[];
  /** Absent where the run was cut off before its end. */
  readonly end?: LoadEnded;
}

/** The record of several workflows together. */
export interface SuiteRecord {
  readonly start: SuiteStarted;
  /** Their end; absent if they were cut off. */
  readonly end?: SuiteFinished;
}

/** One run of one step. */
export interface StepRecord extends StepTree {
  /** The number of runs that it is an example of, if its job has several rounds. */
  readonly runs?: number;
  /** Where the step begins in its file; that of an embedded one is in its result. */
  readonly position?: Position;
  /** The steps of the job that it embeds, as they ran in its last attempt. */
  readonly inside: readonly StepRecord[];
}

/** Says of a run without an end why it has none. */
export const CUT_OFF = "the run was cut off";

/** The run that a report is about; undefined where it is about a suite. */
export function loneRecord(records: readonly RunRecord[]): RunRecord | undefined {
  const [record, ...others] = records;
  return others.length === 0 && !record?.suite ? record : undefined;
}

/** The outcome of a run: a workflow of a suite was skipped if nothing of it was run. */
export function stateOf({ end, suite }: RunRecord): JobState {
  if (!end) return "failed";
  return suite ? workflowState(end) : end.state;
}

/** The outcome of several runs together. */
export function stateOfAll(
  records: readonly RunRecord[],
  suite: SuiteRecord | undefined,
): "passed" | "failed" {
  if (suite?.end) return suite.end.state;
  return records.every((record) => stateOf(record) !== "failed") ? "passed" : "failed";
}

/** The time from the start of the first run to the end of the last one: milliseconds. */
export function timesOf(records: readonly RunRecord[]): { started: number; duration: number } {
  const started = records.reduce((first, one) => Math.min(first, one.started), Infinity);
  const ended = records.reduce(
    (last, one) => Math.max(last, one.started - started + (one.end?.duration ?? 0)),
    0,
  );
  return { started: Number.isFinite(started) ? started : 0, duration: ended };
}
