import type { Place } from "../source/source.ts";
import type { Value } from "../value/value.ts";

/**
 * What happens in a run, in order. Plain JSON data: secrets are masked and long texts are cut
 * before any reporter sees an event. Times are milliseconds since 1970, durations milliseconds.
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
  | Note;

export interface RunStarted {
  readonly type: "run_started";
  readonly time: number;
  readonly name: string;
  readonly description?: string;
  readonly file: string;
  /** In the order of the file. */
  readonly jobs: readonly {
    readonly id: string;
    readonly name: string;
    readonly needs: readonly string[];
    readonly steps: readonly StepOutline[];
  }[];
}

/** A step as the file has it. */
export interface StepOutline {
  readonly id?: string;
  /** With its templates as they are written; the action where the file gives none. */
  readonly name: string;
  readonly uses: string;
  /** Told where it was asked for, since finding it takes time. */
  readonly place?: SpotInFile;
}

/** Where something begins; line and column count from 1. */
export interface SpotInFile {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface JobStarted {
  readonly type: "job_started";
  readonly time: number;
  readonly job: string;
  readonly name: string;
  /** How often the job runs, where it has a `repeat`. */
  readonly rounds?: number;
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
  /** Position in the job's list, from 0. */
  readonly step: number;
  readonly id?: string;
  /** `repeat_index`, where the job repeats. */
  readonly round?: number;
  /** Position in the step's `iteration`, from 0. */
  readonly entry?: number;
}

export interface StepStarted {
  readonly type: "step_started";
  readonly time: number;
  readonly run: StepRun;
  readonly name: string;
  readonly uses: string;
}

/** A step sleeps: before it runs, or between two attempts. */
export interface StepWaiting {
  readonly type: "step_waiting";
  readonly time: number;
  readonly run: StepRun;
  readonly milliseconds: number;
  readonly why: "wait" | "initial_delay" | "retry";
}

/** An attempt was not good enough and there is another one. */
export interface StepRetried {
  readonly type: "step_retried";
  readonly time: number;
  readonly run: StepRun;
  readonly attempt: Attempt;
  readonly of: number;
}

export interface StepFinished {
  readonly type: "step_finished";
  readonly time: number;
  readonly run: StepRun;
  readonly result: StepResult;
}

export interface StepResult {
  readonly name: string;
  readonly uses: string;
  readonly state: StepState;
  readonly started: number;
  readonly duration: number;
  /** The `wait` before it. */
  readonly wait?: number;
  readonly attempts: readonly Attempt[];
  /** It was good only after it was not: the next run may come out otherwise. */
  readonly flaky?: true;
  /** What the step's `retry` allowed; absent without one. */
  readonly maxAttempts?: number;
  /** The action's own time, `rt`; absent where none was carried out. */
  readonly responseTime?: number;
  readonly echo?: string;
  /** Why it failed: every reason, in the order in which they came up. */
  readonly failures: readonly Failure[];
  /** The result of an action that nothing tested and that was no success: `exit 1`. */
  readonly untested?: string;
  /** How many steps of the job that it embeds were no success and nothing tested them. */
  readonly untestedInside?: number;
  /** What went over the wire; kept for failures, and for all steps where details are asked for. */
  readonly exchange?: Exchange;
  /** The test that it passed, where details are asked for. */
  readonly test?: PassedTest;
  /** What it published, where details are asked for: bounded and masked. */
  readonly outputs?: Value;
  /** Why it was skipped. */
  readonly reason?: string;
}

/** `untested`: carried out, but the step has no `test`. */
export type StepState = "passed" | "failed" | "skipped" | "untested";

export interface Attempt {
  /** From 1. */
  readonly number: number;
  readonly started: number;
  readonly duration: number;
  readonly outcome: "passed" | "failed" | "error";
  /** Why it was not good enough. */
  readonly message?: string;
}

/** What was wrong, where, with which values. */
export interface Failure {
  /** `embedded`: steps of the job that the step embeds failed, each told with its own failures. */
  readonly kind: "test" | "action" | "expression" | "interrupted" | "embedded";
  /** The key of the step (or job) it is about: `test`, `with`, `outputs.id`. */
  readonly field: string;
  readonly message: string;
  readonly hint?: string;
  readonly place?: Place;
  /** The source text of the expression. */
  readonly expression?: string;
  /** The parts of a false test that decided it, with their values. */
  readonly operands?: readonly Operand[];
  /** How two lists or maps differ that should have been equal. */
  readonly difference?: Difference;
}

/** What differs between two sides of a comparison. */
export interface Difference {
  /** Both sides as they are written. */
  readonly left: string;
  readonly right: string;
  /** Lines of JSON: `-` begins those of the left, `+` those of the right, `@` a path. */
  readonly lines: readonly string[];
}

/** A test that came out true. */
export interface PassedTest {
  /** The source text of the expression. */
  readonly expression: string;
  /** Its parts that decided, with their values. */
  readonly operands: readonly Operand[];
}

export interface Operand {
  /** As written: `res.body.total`. */
  readonly text: string;
  /** In the words of the expression language. */
  readonly type: string;
  readonly value: Value;
}

/** Request and response, bounded and masked; the shape is the action's. */
export interface Exchange {
  readonly req: Value;
  readonly res: Value;
  /** A command for a shell that sends the request of a failed step once more. */
  readonly command?: string;
}

/** A round of a repeated job is over. */
export interface RoundFinished {
  readonly type: "round_finished";
  readonly time: number;
  readonly job: string;
  readonly round: number;
  readonly state: JobState;
}

export type JobState = "passed" | "failed" | "skipped";

export interface JobFinished {
  readonly type: "job_finished";
  readonly time: number;
  readonly job: string;
  readonly name: string;
  readonly state: JobState;
  readonly duration: number;
  /** Why it was skipped. */
  readonly reason?: string;
  /** What failed outside its steps, like its `skipif`. */
  readonly failures: readonly Failure[];
}

export interface RunFinished {
  readonly type: "run_finished";
  readonly time: number;
  readonly duration: number;
  readonly state: "passed" | "failed";
  /** Why it ended before its end. */
  readonly interrupted?: string;
  readonly jobs: Readonly<Record<JobState, number>>;
  readonly steps: Readonly<Record<StepState, number>>;
  /** Steps whose action was no success and that nothing tested. */
  readonly untestedFailures: number;
  /** Steps that were good only after a failed attempt. */
  readonly flaky: number;
  /** Jobs of the workflow that were not chosen to run, where there are any. */
  readonly leftOut?: number;
}

/** Something to tell apart from results. `debug` is for those who asked for details. */
export interface Note {
  readonly type: "note";
  readonly time: number;
  readonly level: "warning" | "debug";
  readonly text: string;
  readonly run?: StepRun;
}

/** Takes the events of a run. */
export type Emit = (event: RunEvent) => void;
