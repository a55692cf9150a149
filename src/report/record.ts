import type { Position } from "../base/source.ts";
import type { Value } from "../base/value/value.ts";
import { workflowState } from "../run/count_steps.ts";
import type {
  Failure,
  JobState,
  LoadEnded,
  LoadOutline,
  LoadSecond,
  MessagesCame,
  Note,
  RoundsTallied,
  RoundTally,
  RunEvent,
  RunFinished,
  RunOrigin,
  StepOutline,
  StepRun,
  StepTree,
  StepWaiting,
  SuiteFinished,
  SuitePart,
  SuiteStarted,
  TraceContext,
} from "../run/event.ts";
import { Histogram, type HistogramSummary } from "../base/value/histogram.ts";

/** All that the events of a run have reported so far. */
export interface RunRecord {
  /** The `runId` of its events. */
  readonly id: string;
  /** The program that wrote the report. */
  readonly tool: Tool;
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
  /** Its trace and its span, where it is traced. */
  readonly trace?: TraceContext | undefined;
  /** In the order of the file. */
  readonly jobs: readonly JobRecord[];
  readonly warnings: readonly Note[];
  /** The steps under way by `runKey`, the oldest first. */
  readonly running: ReadonlyMap<string, RunningStep>;
  /** The messages that came to steps that stayed open, by `runKey`. */
  readonly messages: ReadonlyMap<string, MessagesCame>;
  /** The end of the run; absent until then, and if it was cut off. */
  readonly end?: RunFinished;
}

/** A program and its version. */
export interface Tool {
  readonly name: string;
  readonly version: string;
}

/** A step under way. */
export interface RunningStep {
  readonly run: StepRun;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** The attempt under way, from the second one on. */
  readonly attempt?: { readonly number: number; readonly of: number | undefined };
  readonly waiting?: { readonly until: number; readonly why: StepWaiting["why"] };
  /** The step under way of the job that it embeds. */
  readonly inside?: RunningStep;
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
  /** Milliseconds since 1970; absent where it did not start. */
  readonly started?: number;
  /** Its place in the trace of the run, where it is traced. */
  readonly trace?: TraceContext | undefined;
  /** Milliseconds. */
  readonly duration: number;
  /** Absent where the run was cut off before its end. */
  readonly state?: JobState;
  /** Why it was skipped. */
  readonly reason?: string;
  /** It was skipped because of what happened elsewhere, not on purpose. */
  readonly blocked?: true;
  /** It failed, which `allow_failure` expects. */
  readonly allowFailure?: true;
  /** The failures outside its steps. */
  readonly failures: readonly Failure[];
  /**
   * Each run of each step, by step and entry. Of a job with several rounds the first run of each
   * step that did not fail and the first failure of each kind, by round.
   */
  readonly steps: readonly StepRecord[];
  /** The results of all rounds, if it has several. */
  readonly tally?: Pick<RoundsTallied, "begun" | "rounds" | "times" | "steps">;
  /** The plan and the results of its `load`, if it has one. */
  readonly load?: LoadRecord;
}

/** A load job and its result. */
export interface LoadRecord {
  readonly outline: LoadOutline;
  /** In the order of their events; each of several processes reports its own. */
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

/** What an event changed: the record of its run, and of its job, as they are after it. */
export interface Change<E extends RunEvent = RunEvent> {
  readonly event: E;
  /** Absent where the event is about a suite. */
  readonly run?: RunRecord;
  readonly job?: JobRecord;
  /** A step that is over, of a job that does not repeat, with those inside of it. */
  readonly step?: StepRecord;
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

/** The outcome of several runs together; a suite that was cut off has failed. */
export function stateOfAll(
  records: readonly RunRecord[],
  suite: SuiteRecord | undefined,
): "passed" | "failed" {
  if (suite) return suite.end?.state ?? "failed";
  return records.every((record) => stateOf(record) !== "failed") ? "passed" : "failed";
}

/** The outcome of the rounds of a job, and their times: milliseconds. */
export type RoundStats =
  & Record<"count" | "passed" | "failed", number>
  & Omit<HistogramSummary, "count" | "p999">;

/** The statistics of the rounds of a job; undefined where none has ended. */
export function roundStats({ rounds, times }: RoundTally): RoundStats | undefined {
  const summary = times && Histogram.decode(times).summary();
  if (!summary) return undefined;
  const { count, p999: _, ...rest } = summary;
  return { count, passed: rounds.passed, failed: rounds.failed, ...rest };
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
