import type { Position } from "../base/source.ts";
import type { ApiCoverage } from "../base/value/api_coverage.ts";
import type { Value } from "../base/value/value.ts";
import type { Attempt } from "./attempt_event.ts";
import type {
  AssertionCount,
  Exchange,
  Failure,
  PassedTest,
  SnapshotOutcome,
} from "./failure_event.ts";
import type { PieceHeader } from "./piece_event.ts";
import type { SuiteFinished, SuitePart, SuiteStarted } from "./suite_event.ts";

/**
 * An event of a run; they come in order. Plain JSON data: secrets are masked and long texts are cut
 * before any reporter sees an event. Times are milliseconds since 1970, durations
 * milliseconds, to the microsecond where they were measured.
 */
export type RunEvent =
  | RunStarted
  | JobStarted
  | StepStarted
  | StepWaiting
  | StepRetried
  | StepFinished
  | RoundFinished
  | JobFinished
  | RunFinished
  | Note
  | SuiteStarted
  | SuiteFinished;

export type * from "./attempt_event.ts";
export type * from "./failure_event.ts";
export type * from "./message_view.ts";
export type * from "./piece_event.ts";
export type * from "./suite_event.ts";

/** A run begins. */
export interface RunStarted {
  /** The type of the event. */
  readonly type: "run_started";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The name of the workflow. */
  readonly name: string;
  /** The purpose of the workflow. */
  readonly description?: string;
  /** The workflow file, or several joined by commas, as they were named. */
  readonly file: string;
  /** Where it is one of several. */
  readonly suite?: SuitePart;
  /** Where it is one process of a run on many machines. */
  readonly piece?: PieceHeader;
  /** In the order of the file. */
  readonly jobs: readonly {
    /** The name used by other jobs and expressions. */
    readonly id: string;
    /** The text shown in reports, with evaluated templates. */
    readonly name: string;
    /** Ids of the jobs that it waits for. */
    readonly needs: readonly string[];
    /** The tags of the workflow and its own, if there are any. */
    readonly tags?: readonly string[];
    /** Its steps, in order. */
    readonly steps: readonly StepOutline[];
  }[];
}

/** A step as the file has it. */
export interface StepOutline {
  /** The name used by other jobs and expressions. */
  readonly id?: string;
  /** With its templates as they are written; the action where the file gives none. */
  readonly name: string;
  /** The name of the action. */
  readonly uses: string;
  /** The number of entries of its `iteration`, if it has one and this is known before it runs. */
  readonly entries?: number;
  /** It cleans up: it is a step of `finally`. */
  readonly cleanup?: true;
  /** Its position, if that was asked for: finding it takes time. */
  readonly place?: Position;
}

/** A job begins. */
export interface JobStarted {
  /** The type of the event. */
  readonly type: "job_started";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The id of the job. */
  readonly job: string;
  /** The text shown in reports, with evaluated templates. */
  readonly name: string;
  /** The number of times that the job runs, if it has a `repeat`. */
  readonly rounds?: number;
  /** The condition that its rounds must meet, as written in the file. */
  readonly expect?: string;
}

/** One run of one step: of one round and one entry of its `iteration`. */
export interface StepRun {
  /** The id of the job of the workflow, also for a step of a job that is embedded in it. */
  readonly job: string;
  /**
   * The run of the step that embeds the job of this one. Such a step begins and ends while that
   * one runs, anew in each attempt of it, and is not counted in the totals of the run.
   */
  readonly within?: StepRun;
  /** Position among the steps of the job, from 0; those of `finally` come last. */
  readonly step: number;
  /** It cleans up: it is a step of `finally`. */
  readonly cleanup?: true;
  /** The name used by other jobs and expressions. */
  readonly id?: string;
  /** `repeat_index`, where the job repeats. */
  readonly round?: number;
  /** Position in the step's `iteration`, from 0. */
  readonly entry?: number;
}

/** A step begins. */
export interface StepStarted {
  /** The type of the event. */
  readonly type: "step_started";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The run of a step. */
  readonly run: StepRun;
  /** The text shown in reports, with evaluated templates. */
  readonly name: string;
  /** The name of the action. */
  readonly uses: string;
}

/** A step sleeps: before it runs, or between two attempts. */
export interface StepWaiting {
  /** The type of the event. */
  readonly type: "step_waiting";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The run of a step. */
  readonly run: StepRun;
  /** The time in milliseconds. */
  readonly milliseconds: number;
  /** The reason for the pause. */
  readonly why: "wait" | "initial_delay" | "retry";
}

/** An attempt was not good enough and there is another one. */
export interface StepRetried {
  /** The type of the event. */
  readonly type: "step_retried";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The run of a step. */
  readonly run: StepRun;
  /** The attempt that was not good enough. */
  readonly attempt: Attempt;
  /** The maximum number of attempts. */
  readonly of: number;
}

/** A step is over. */
export interface StepFinished {
  /** The type of the event. */
  readonly type: "step_finished";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The run of a step. */
  readonly run: StepRun;
  /** The outcome. */
  readonly result: StepResult;
}

/** The outcome of one run of a step. */
export interface StepResult {
  /** The text shown in reports, with evaluated templates. */
  readonly name: string;
  /** The name of the action. */
  readonly uses: string;
  /**
   * Where a step of an embedded job begins, where that was asked for; the steps of the workflow
   * have it in its outline.
   */
  readonly place?: Position;
  /** Its outcome. */
  readonly state: StepState;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  /** The `wait` before it. */
  readonly wait?: number;
  /** Every attempt, in order. */
  readonly attempts: readonly Attempt[];
  /** It was good only after it was not: the next run may come out otherwise. */
  readonly flaky?: true;
  /** The number of attempts that the step's `retry` allows; absent without one. */
  readonly maxAttempts?: number;
  /** The action's own time, `rt`; absent where none was carried out. */
  readonly responseTime?: number;
  /** The phases of that time: milliseconds by name, in their order, without phases of 0. */
  readonly phases?: Readonly<Record<string, number>>;
  /** The action sends no request, so statistics omit its response time. */
  readonly instant?: true;
  /** The text that it adds to the report. */
  readonly echo?: string;
  /** Why it failed: every reason, in the order in which they came up. */
  readonly failures: readonly Failure[];
  /** The result of an unsuccessful action that nothing tested: `exit 1`. */
  readonly untested?: string;
  /** The number of steps of the embedded job that did not succeed and were not tested. */
  readonly untestedInside?: number;
  /** The request and the response; kept for failures, and for all steps if details are asked for. */
  readonly exchange?: Exchange;
  /** The number of its assertions that were true and false, if any were evaluated. */
  readonly assertions?: AssertionCount;
  /** Its snapshot, where it was compared with one or has written one. */
  readonly snapshot?: SnapshotOutcome;
  /** The tests that came out true, where details are asked for. */
  readonly tests?: readonly PassedTest[];
  /** The outputs, bounded and masked, if details are asked for. */
  readonly outputs?: Value;
  /** Why it was skipped. */
  readonly reason?: string;
}

/**
 * `untested`: carried out, but the step has no `test`. `tolerated`: failed in a round of a job whose
 * `repeat.expect` alone decides.
 */
export type StepState = "passed" | "failed" | "skipped" | "untested" | "tolerated";

/** A round of a repeated job is over. */
export interface RoundFinished {
  /** The type of the event. */
  readonly type: "round_finished";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The id of the job. */
  readonly job: string;
  /** `repeat_index`. */
  readonly round: number;
  /** Its outcome. */
  readonly state: JobState;
  /** Milliseconds, from when it was due. */
  readonly duration?: number;
}

/** The outcome of a job; skipped on purpose is not a failure. */
export type JobState = "passed" | "failed" | "skipped";

/** A job is over. */
export interface JobFinished {
  /** The type of the event. */
  readonly type: "job_finished";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The id of the job. */
  readonly job: string;
  /** The text shown in reports, with evaluated templates. */
  readonly name: string;
  /** Its outcome. */
  readonly state: JobState;
  /** Milliseconds. */
  readonly duration: number;
  /** Why it was skipped. */
  readonly reason?: string;
  /** It was skipped because of what happened elsewhere, not on purpose. */
  readonly blocked?: true;
  /** Failures outside its steps, for example in its `skipif`. */
  readonly failures: readonly Failure[];
  /** The statistics of its rounds, where any ended. */
  readonly stats?: RoundStats;
}

/** The outcome of the rounds of a job, and their times: milliseconds. */
export interface RoundStats {
  /** The number of rounds that ended. */
  readonly count: number;
  /** The number of rounds that passed. */
  readonly passed: number;
  /** The number of rounds that failed. */
  readonly failed: number;
  /** The shortest time. */
  readonly min: number;
  /** The arithmetic mean. */
  readonly mean: number;
  /** The time that half of them did not exceed. */
  readonly p50: number;
  /** The time that 90 of 100 did not exceed. */
  readonly p90: number;
  /** The time that 95 of 100 did not exceed. */
  readonly p95: number;
  /** The time that 99 of 100 did not exceed. */
  readonly p99: number;
  /** The longest time. */
  readonly max: number;
}

/** A run is over. */
export interface RunFinished {
  /** The type of the event. */
  readonly type: "run_finished";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The time that it took, in milliseconds. */
  readonly duration: number;
  /** Its outcome. */
  readonly state: "passed" | "failed";
  /** Why it ended before its end, or what `--strict` made of it: `--strict: 1 warning`. */
  readonly interrupted?: string;
  /** The number of jobs by outcome. */
  readonly jobs: Readonly<Record<JobState, number>>;
  /** The number of runs of steps by outcome; those that never began were skipped. */
  readonly steps: Readonly<Record<StepState, number>>;
  /** Steps without a test whose action was unsuccessful. */
  readonly untestedFailures: number;
  /** Steps that were good only after a failed attempt. */
  readonly flaky: number;
  /** The number of assertions of steps by outcome, if there were any. */
  readonly assertions?: AssertionCount;
  /** The used part of the APIs whose descriptions were checked, if any. */
  readonly coverage?: readonly ApiCoverage[];
  /** The percentage of operations of APIs that must be called, if one was asked for. */
  readonly minCoverage?: number;
  /** Jobs of the workflow that were not selected, where there are any. */
  readonly leftOut?: number;
}

/** A message beside the results. `debug` is for those who asked for details. */
export interface Note {
  /** The type of the event. */
  readonly type: "note";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The audience of the message. */
  readonly level: "warning" | "debug";
  /** In words. */
  readonly text: string;
  /** The run of a step. */
  readonly run?: StepRun;
}

/** Takes the events of a run. */
export type Emit = (event: RunEvent) => void;

/** An event before the id of its run is added. */
export type BareEvent<E = RunEvent> = E extends RunEvent ? Omit<E, "runId"> : never;
