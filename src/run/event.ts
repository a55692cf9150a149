import type { Position, SourceExcerpt } from "../source/source.ts";
import type { Value } from "../value/value.ts";
import type { MessageView } from "./message_view.ts";
import type { SuiteFinished, SuitePart, SuiteStarted } from "./suite_event.ts";

/**
 * What happens in a run, in order. Plain JSON data: secrets are masked and long texts are cut
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

export type * from "./message_view.ts";
export type * from "./suite_event.ts";

/** A run begins. */
export interface RunStarted {
  /** Which event it is. */
  readonly type: "run_started";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The name of the workflow. */
  readonly name: string;
  /** What the workflow is for. */
  readonly description?: string;
  /** The workflow file, or several joined by commas, as they were named. */
  readonly file: string;
  /** Where it is one of several. */
  readonly suite?: SuitePart;
  /** In the order of the file. */
  readonly jobs: readonly {
    /** As other jobs or expressions name it. */
    readonly id: string;
    /** As reports show it, with its templates evaluated. */
    readonly name: string;
    /** Ids of the jobs that it waits for. */
    readonly needs: readonly string[];
    /** Those of the workflow and its own, where there are any. */
    readonly tags?: readonly string[];
    /** Its steps, in order. */
    readonly steps: readonly StepOutline[];
  }[];
}

/** A step as the file has it. */
export interface StepOutline {
  /** As other jobs or expressions name it. */
  readonly id?: string;
  /** With its templates as they are written; the action where the file gives none. */
  readonly name: string;
  /** The name of the action. */
  readonly uses: string;
  /** How many entries its `iteration` has, where it has one and this is known before it runs. */
  readonly entries?: number;
  /** It cleans up: it is a step of `finally`. */
  readonly cleanup?: true;
  /** Told where it was asked for, since finding it takes time. */
  readonly place?: Position;
}

/** A job begins. */
export interface JobStarted {
  /** Which event it is. */
  readonly type: "job_started";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The id of the job. */
  readonly job: string;
  /** As reports show it, with its templates evaluated. */
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
  /** Position among the steps of the job, from 0; those of `finally` come last. */
  readonly step: number;
  /** It cleans up: it is a step of `finally`. */
  readonly cleanup?: true;
  /** As other jobs or expressions name it. */
  readonly id?: string;
  /** `repeat_index`, where the job repeats. */
  readonly round?: number;
  /** Position in the step's `iteration`, from 0. */
  readonly entry?: number;
}

/** A step begins. */
export interface StepStarted {
  /** Which event it is. */
  readonly type: "step_started";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Which run of which step. */
  readonly run: StepRun;
  /** As reports show it, with its templates evaluated. */
  readonly name: string;
  /** The name of the action. */
  readonly uses: string;
}

/** A step sleeps: before it runs, or between two attempts. */
export interface StepWaiting {
  /** Which event it is. */
  readonly type: "step_waiting";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Which run of which step. */
  readonly run: StepRun;
  /** How long. */
  readonly milliseconds: number;
  /** What it waits for. */
  readonly why: "wait" | "initial_delay" | "retry";
}

/** An attempt was not good enough and there is another one. */
export interface StepRetried {
  /** Which event it is. */
  readonly type: "step_retried";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Which run of which step. */
  readonly run: StepRun;
  /** The attempt that was not good enough. */
  readonly attempt: Attempt;
  /** How many attempts there may be. */
  readonly of: number;
}

/** A step is over. */
export interface StepFinished {
  /** Which event it is. */
  readonly type: "step_finished";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Which run of which step. */
  readonly run: StepRun;
  /** What became of it. */
  readonly result: StepResult;
}

/** What became of one run of a step. */
export interface StepResult {
  /** As reports show it, with its templates evaluated. */
  readonly name: string;
  /** The name of the action. */
  readonly uses: string;
  /**
   * Where a step of an embedded job begins, where that was asked for; the steps of the workflow
   * have it in its outline.
   */
  readonly place?: Position;
  /** How it came out. */
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
  /** What the step's `retry` allowed; absent without one. */
  readonly maxAttempts?: number;
  /** The action's own time, `rt`; absent where none was carried out. */
  readonly responseTime?: number;
  /** What took this time: milliseconds by name, in their order; what took none is left out. */
  readonly phases?: Readonly<Record<string, number>>;
  /** The action sends no request, so statistics omit its response time. */
  readonly instant?: true;
  /** The text that it adds to the report. */
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

/** One attempt of a step. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  /** How it came out. */
  readonly outcome: "passed" | "failed" | "error";
  /** Why it was not good enough. */
  readonly message?: string;
}

/** What was wrong, where, with which values. */
export interface Failure {
  /** `embedded`: steps of the embedded job failed; `load`: the workflow is invalid. */
  readonly kind: "test" | "action" | "expression" | "interrupted" | "embedded" | "load";
  /** The key of the step (or job) it is about: `test`, `with`, `outputs.id`. */
  readonly field: string;
  /** What was wrong, in words. */
  readonly message: string;
  /** What kept the action from a server, or the step whose output is missing (`causeOfRun`). */
  readonly cause?: string;
  /** What to try. */
  readonly hint?: string;
  /** Where in the file. */
  readonly place?: SourceExcerpt;
  /** The source text of the expression. */
  readonly expression?: string;
  /** The parts of a false test that decided it, with their values. */
  readonly operands?: readonly Operand[];
  /** How two lists, maps or long texts differ that should have been equal. */
  readonly difference?: Difference;
}

/** How the two sides of a comparison differ. */
export interface Difference {
  /** The source text of the side with the expected value. */
  readonly expected: string;
  /** The source text of the other side. */
  readonly received: string;
  /**
   * Lines of JSON or text: `-` begins an expected line, `+` a received line, `@` a line that says
   * where the next differences are.
   */
  readonly lines: readonly string[];
}

/** A test that came out true. */
export interface PassedTest {
  /** The source text of the expression. */
  readonly expression: string;
  /** Its parts that decided, with their values. */
  readonly operands: readonly Operand[];
}

/** A part of an expression and the value that it had. */
export interface Operand {
  /** As written: `res.body.total`. */
  readonly text: string;
  /** In the words of the expression language. */
  readonly type: string;
  /** The value, bounded and masked. */
  readonly value: Value;
}

/** Request and response, bounded and masked; the shape is the action's. */
export interface Exchange {
  /** The request as sent. */
  readonly req: Value;
  /** The response; nil where there was none. */
  readonly res: Value;
  /** A command for a shell that sends the request of a failed step once more. */
  readonly command?: string;
  /** The result in two words: `HTTP 500`, `exit 1`. */
  readonly brief?: string;
  /** How to show them; field by field where it is absent. */
  readonly view?: {
    /** How to show the request. */
    readonly request?: MessageView;
    /** How to show the response. */
    readonly response?: MessageView;
  };
}

/** A round of a repeated job is over. */
export interface RoundFinished {
  /** Which event it is. */
  readonly type: "round_finished";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The id of the job. */
  readonly job: string;
  /** `repeat_index`. */
  readonly round: number;
  /** How it came out. */
  readonly state: JobState;
}

/** The outcome of a job; skipped on purpose is not a failure. */
export type JobState = "passed" | "failed" | "skipped";

/** A job is over. */
export interface JobFinished {
  /** Which event it is. */
  readonly type: "job_finished";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The id of the job. */
  readonly job: string;
  /** As reports show it, with its templates evaluated. */
  readonly name: string;
  /** How it came out. */
  readonly state: JobState;
  /** Milliseconds. */
  readonly duration: number;
  /** Why it was skipped. */
  readonly reason?: string;
  /** What failed outside its steps, like its `skipif`. */
  readonly failures: readonly Failure[];
}

/** A run is over. */
export interface RunFinished {
  /** Which event it is. */
  readonly type: "run_finished";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** How long it took, in milliseconds. */
  readonly duration: number;
  /** How it came out. */
  readonly state: "passed" | "failed";
  /** Why it ended before its end, or what `--strict` made of it: `--strict: 1 warning`. */
  readonly interrupted?: string;
  /** How many jobs came out how. */
  readonly jobs: Readonly<Record<JobState, number>>;
  /** How many runs of steps came out how. */
  readonly steps: Readonly<Record<StepState, number>>;
  /** Steps whose action was no success and that nothing tested. */
  readonly untestedFailures: number;
  /** Steps that were good only after a failed attempt. */
  readonly flaky: number;
  /** Jobs of the workflow that were not selected, where there are any. */
  readonly leftOut?: number;
}

/** A message beside the results. `debug` is for those who asked for details. */
export interface Note {
  /** Which event it is. */
  readonly type: "note";
  /** The id of the run that it belongs to, unlike that of any other run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The audience of the message. */
  readonly level: "warning" | "debug";
  /** In words. */
  readonly text: string;
  /** Which run of which step. */
  readonly run?: StepRun;
}

/** Takes the events of a run. */
export type Emit = (event: RunEvent) => void;

/** An event before the id of its run is added. */
export type BareEvent<E = RunEvent> = E extends RunEvent ? Omit<E, "runId"> : never;
