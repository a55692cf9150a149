import type { MessageView } from "../action/explainer.ts";
import type { Position, SourceExcerpt } from "../base/source.ts";
import type { Value } from "../base/value/value.ts";

export type { MessageView };

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

/** The place of a run, a job, a round or a step in a trace, by W3C Trace Context. */
export interface TraceContext {
  /** The id of the trace: 32 hexadecimal digits. */
  readonly id: string;
  /** The id of its span: 16 hexadecimal digits. */
  readonly span: string;
  /** The id of the span around it: of the run, the job, the round, or an attempt of the step around. */
  readonly parent?: string | undefined;
  /** Whether the trace is recorded: of the rounds of a load job, one in a hundred. */
  readonly sampled: boolean;
  /** The address of the trace, by RUNNER_TRACE_URL; of a step that failed. */
  readonly url?: string;
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
  /** Its place in a trace, where the run is traced. */
  readonly trace?: TraceContext | undefined;
  /** The `wait` before it. */
  readonly wait?: number;
  /** Every attempt, in order. */
  readonly attempts: readonly Attempt[];
  /** It failed, which `allow_failure` expects; its state is `allowed`. */
  readonly allowFailure?: true;
  /** It was good only after it was not: the next run may come out otherwise. */
  readonly flaky?: true;
  /** How often a request was sent again, as the server had closed the connection without an answer. */
  readonly resent?: number;
  /** The number of attempts that the step's `retry` allows; absent without one. */
  readonly maxAttempts?: number;
  /** Milliseconds that the step's `retry` allows for all attempts; absent without such a limit. */
  readonly retryTime?: number;
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

/** A step that is over, with the steps of the job that it embeds as its last attempt ran them. */
export interface StepTree {
  /** The run of the step. */
  readonly run: StepRun;
  /** Its outcome. */
  readonly result: StepResult;
  /** The steps of the job that it embeds. */
  readonly inside: readonly StepTree[];
}

/**
 * `untested`: carried out, but the step has no `test`. `allowed`: failed in a round of a load job whose
 * thresholds decide, or where `allow_failure` expects it.
 */
export type StepState = "passed" | "failed" | "skipped" | "untested" | "allowed";

/** The outcome of a job; skipped on purpose is not a failure. */
export type JobState = "passed" | "failed" | "skipped";

/** One attempt of a step. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  /** The id of its span, which is within that of the step, where the run is traced. */
  readonly span?: string;
  /** Its outcome. */
  readonly outcome: "passed" | "failed" | "error";
  /** Why it was not good enough. */
  readonly message?: string;
  /**
   * Details of an attempt that was followed by another one, if details are asked for: of many
   * attempts, the first and the latest have them. Those of the last attempt are in the result.
   */
  readonly detail?: AttemptDetail;
}

/** An attempt that was followed by another one. */
export interface AttemptDetail {
  /** Every reason why it was not good enough. */
  readonly failures: readonly Failure[];
  /** The action's own time; absent where it was not carried out. */
  readonly responseTime?: number;
  /** The phases of that time: milliseconds by name, in their order, without phases of 0. */
  readonly phases?: Readonly<Record<string, number>>;
  /** The request and the response. */
  readonly exchange?: Exchange;
}

/** A failure: the problem, its place and the values involved. */
export interface Failure {
  /** `embedded`: steps of the embedded job failed; `load`: the workflow is invalid. */
  readonly kind: "test" | "action" | "expression" | "interrupted" | "embedded";
  /** The key of the step (or job) it is about: `test`, `with`, `outputs.id`. */
  readonly field: string;
  /** Describes the problem. */
  readonly message: string;
  /** The cause: an unreachable server, or the step whose output is missing (`causeOfRun`). */
  readonly cause?: string;
  /** A suggestion. */
  readonly hint?: string;
  /** Where in the file. */
  readonly place?: SourceExcerpt;
  /** The source text of the expression. */
  readonly expression?: string;
  /** The parts of a false test that decided it, with their values. */
  readonly operands?: readonly Operand[];
  /** The difference of two lists, maps or long texts that should be equal. */
  readonly difference?: Difference;
  /** What an API description says of a part of a message, and what came instead. */
  readonly violation?: Violation;
}

/** The two sides of a violation of an API description. */
export interface Violation {
  /** The part of the request or response: `body.price`. */
  readonly part: string;
  /** Where in the description: `api.yml:12:86`. */
  readonly place: string;
  /** What the description says: `type integer`. */
  readonly expected: string;
  /** The value as JSON, or `missing`. */
  readonly received: string;
}

/** The difference of the two sides of a comparison. */
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
  /** Both sides are long, and are best read beside each other. */
  readonly sideBySide?: true;
}

/** The number of assertions by outcome. */
export interface AssertionCount {
  /** True. */
  readonly passed: number;
  /** False, or impossible to evaluate. */
  readonly failed: number;
}

/** The outcome of the snapshot of a step. */
export interface SnapshotOutcome {
  /** Its file. */
  readonly file: string;
  /** Whether it was as before, was made, was replaced, or is another or missing. */
  readonly state: "passed" | "written" | "updated" | "failed";
}

/** A test that came out true. */
export interface PassedTest {
  /** What it asserts, where the step says it. */
  readonly says?: string;
  /** The source text of the expression. */
  readonly expression: string;
  /** Its parts that decided, with their values. */
  readonly operands: readonly Operand[];
}

/** A part of an expression and the value that it had. */
export interface Operand {
  /** The text as written: `res.body.total`. */
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
  /** The response; nil if there was none. */
  readonly res: Value;
  /**
   * A command for a shell that sends the request once more: of failed steps, or of all if details
   * are asked for.
   */
  readonly command?: string;
  /** The result in two words: `HTTP 500`, `exit 1`. */
  readonly brief?: string;
  /** The view of them; field by field if absent. */
  readonly view?: {
    /** The view of the request. */
    readonly request?: MessageView;
    /** The view of the response. */
    readonly response?: MessageView;
  };
}
