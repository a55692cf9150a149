import type { Position } from "../base/source.ts";
import type { ApiCoverage } from "../base/value/api_coverage.ts";
import type { Value } from "../base/value/value.ts";
import type { LoadEndedFields, LoadOutline, LoadSecondFields, RoundTally } from "./rounds_event.ts";
import type {
  AssertionCount,
  Attempt,
  Failure,
  JobState,
  StepResult,
  StepRun,
  StepState,
  TraceContext,
} from "./step_result.ts";

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
  | MessagesCame
  | RoundFinished
  | RoundTraced
  | RoundsTallied
  | LoadSecond
  | LoadEnded
  | JobFinished
  | RunFinished
  | Note
  | SuiteStarted
  | SuiteFinished;

export type * from "./step_result.ts";
export type * from "./rounds_event.ts";

/** The fields that all events have. */
export interface EventBase<Type extends string> {
  /** The type of the event. */
  readonly type: Type;
  /** The id of the run or suite that it belongs to, unlike that of any other. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** A run begins. */
export interface RunStarted extends EventBase<"run_started"> {
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
  /** How it was started, if that was asked for; a suite has it for all of its runs. */
  readonly origin?: RunOrigin;
  /** The values of the vars of the workflow, bounded and masked, if details are asked for. */
  readonly vars?: Value;
  /** The trace of the run, and its span, where it is traced. */
  readonly trace?: TraceContext | undefined;
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

/** How, where and of which commit a run was started. */
export interface RunOrigin {
  /** The arguments of the command line, without secrets. */
  readonly args?: readonly string[];
  /** The name of the machine. */
  readonly host?: string;
  /** The commit that is checked out. */
  readonly commit?: string;
  /** The branch that is checked out. */
  readonly branch?: string;
  /** The system that started it, and the address of the build. */
  readonly ci?: { readonly name: string; readonly url?: string };
}

/** A step as the file has it. */
export interface StepOutline {
  /** The name used by other jobs and expressions. */
  readonly id?: string;
  /** With its templates as they are written; the action if the file has none. */
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
export interface JobStarted extends EventBase<"job_started"> {
  /** The id of the job. */
  readonly job: string;
  /** The text shown in reports, with evaluated templates. */
  readonly name: string;
  /** The number of times that the job runs, if it has a `repeat`. */
  readonly rounds?: number;
  /** What it is to do, if it has a `load`. */
  readonly load?: LoadOutline;
  /** Its place in the trace of the run, where it is traced. */
  readonly trace?: TraceContext | undefined;
}

/** A step begins. */
export interface StepStarted extends EventBase<"step_started"> {
  /** The run of a step. */
  readonly run: StepRun;
  /** The text shown in reports, with evaluated templates. */
  readonly name: string;
  /** The name of the action. */
  readonly uses: string;
}

/** A step sleeps: before it runs, or between two attempts. */
export interface StepWaiting extends EventBase<"step_waiting"> {
  /** The run of a step. */
  readonly run: StepRun;
  /** The time in milliseconds. */
  readonly milliseconds: number;
  /** The reason for the pause. */
  readonly why: "wait" | "initial_delay" | "retry";
}

/** An attempt was not good enough and there is another one. */
export interface StepRetried extends EventBase<"step_retried"> {
  /** The run of a step. */
  readonly run: StepRun;
  /** The attempt that was not good enough. */
  readonly attempt: Attempt;
  /** The maximum number of attempts; absent where their time alone is limited. */
  readonly of?: number;
}

/** A step is over. */
export interface StepFinished extends EventBase<"step_finished"> {
  /** The run of a step. */
  readonly run: StepRun;
  /** The outcome. */
  readonly result: StepResult;
}

/** A step that stayed open has ended, and messages had come to it. */
export interface MessagesCame extends EventBase<"messages_came"> {
  /** The run of a step. */
  readonly run: StepRun;
  /** The number of messages. */
  readonly count: number;
  /** The first 100 of them. */
  readonly messages: readonly {
    /** Milliseconds since 1970. */
    readonly time: number;
    /** JSON, without what is empty, and without headers; a long one is cut. */
    readonly text: string;
    /** Its place in the trace of its sender, by its header `traceparent`, where the run is traced. */
    readonly trace?: TraceContext | undefined;
  }[];
}

/** A round of a repeated job is over. */
export interface RoundFinished extends EventBase<"round_finished"> {
  /** The id of the job. */
  readonly job: string;
  /** `repeat_index`. */
  readonly round: number;
  /** Its outcome. */
  readonly state: JobState;
  /** Milliseconds, from when it was due. */
  readonly duration?: number;
  /** The number of rounds that have ended, where not each of them is reported. */
  readonly ended?: number;
}

/** A round of a load job is over whose trace is recorded; no other event has its steps. */
export interface RoundTraced extends EventBase<"round_traced"> {
  /** The id of the job. */
  readonly job: string;
  /** `repeat_index`. */
  readonly round: number;
  /** Its outcome. */
  readonly state: JobState;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  /** The trace of the round, and its span, which has none around it. */
  readonly trace: TraceContext;
  /** Its steps, in the order in which they ended. */
  readonly steps: readonly Pick<StepFinished, "run" | "result">[];
}

/** What all rounds of a repeated job or a load job did; it comes before the end of the job. */
export interface RoundsTallied extends EventBase<"rounds_tallied">, RoundTally {
  /** The id of the job. */
  readonly job: string;
  /** The number of rounds in which any step has ended. */
  readonly begun: number;
}

/** A second of a load job is over, also one without any round. */
export interface LoadSecond extends EventBase<"load_second">, LoadSecondFields {}

/** The results of a load job; emitted before the end of the job. */
export interface LoadEnded extends EventBase<"load_ended">, LoadEndedFields {}

/** A job is over. */
export interface JobFinished extends EventBase<"job_finished"> {
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
  /** It failed, which `allow_failure` expects; its state is `passed`. */
  readonly allowFailure?: true;
}

/** A run is over. */
export interface RunFinished extends EventBase<"run_finished"> {
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
  /** Steps that were good only after a failed attempt. */
  readonly flaky: number;
  /** The number of assertions of steps by outcome, if there were any. */
  readonly assertions?: AssertionCount;
  /** The used part of the APIs whose descriptions were checked, if any. */
  readonly coverage?: readonly ApiCoverage[];
  /** The percentage of operations of APIs that must be called, if one was asked for. */
  readonly minCoverage?: number;
  /** Jobs of the workflow that were not selected, if any. */
  readonly leftOut?: number;
}

/** A message beside the results. `debug` is for those who asked for details. */
export interface Note extends EventBase<"note"> {
  /** The audience of the message. */
  readonly level: "warning" | "debug";
  /** In words. */
  readonly text: string;
  /** The run of a step. */
  readonly run?: StepRun;
  /** The name of that step. */
  readonly name?: string;
}

/** Several workflows begin to run. Each of them is a run of its own, with its own `runId`. */
export interface SuiteStarted extends EventBase<"suite_started"> {
  /** The name that a suite file gives. */
  readonly name?: string;
  /** The number of workflows that will run here, without setup and teardown. */
  readonly workflows: number;
  /** The shard of the suite, if it is divided. */
  readonly shard?: {
    /** From 1. */
    readonly index: number;
    /** The number of shards. */
    readonly of: number;
  };
  /** Where it is one process of a run on several machines, whose `jobs` are workflows. */
  readonly piece?: PieceHeader;
  /** How it was started, if that was asked for. */
  readonly origin?: RunOrigin;
  /** The same for all shares of one suite: SHA-256 of its files and of what was chosen of them. */
  readonly hash: string;
}

/** All workflows are over. */
export interface SuiteFinished extends EventBase<"suite_finished"> {
  /** The time that it took, in milliseconds. */
  readonly duration: number;
  /** Its outcome. */
  readonly state: "passed" | "failed";
  /** Why it ended before its end. */
  readonly interrupted?: string;
  /** The number of workflows by outcome; setup and teardown are counted only if they fail. */
  readonly workflows: Readonly<Record<JobState, number>>;
  /** The number of runs of steps by outcome, those of setup and teardown too. */
  readonly steps: Readonly<Record<StepState, number>>;
}

/** The place of a run in a suite. */
export interface SuitePart {
  /** The `runId` of the suite. */
  readonly id: string;
  /** From 0, in the order of the suite, not of the runs. */
  readonly index: number;
  /** The role of the run if it is not one of the workflows. */
  readonly role?: "setup" | "teardown";
}

/** The run that a process carries out a part of, and that part. */
export interface PieceHeader {
  /** The name and number of the format. */
  readonly schema: "runner.events/1";
  /** The id of the run, which all its pieces share. */
  readonly run: string;
  /** SHA-256 of the files of the workflow. */
  readonly workflow: string;
  /** Milliseconds since 1970: of several pieces of one job the newest counts. */
  readonly created: number;
  /** The ids of the jobs that it runs. */
  readonly jobs: readonly string[];
  /** The name of the machine. */
  readonly host: string;
  /** The rounds of its only job that it runs, if others run elsewhere. */
  readonly part?: PiecePart;
}

/** A part of the rounds of a job: those whose index modulo `of` is `index` - 1. */
export interface PiecePart {
  /** From 1. */
  readonly index: number;
  /** The number of parts. */
  readonly of: number;
}

/** Takes the events of a run. */
export type Emit = (event: RunEvent) => void;

/** An event before the id of its run is added. */
export type BareEvent<E = RunEvent> = E extends RunEvent ? Omit<E, "runId"> : never;
