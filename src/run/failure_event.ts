import type { SourceExcerpt } from "../base/source.ts";
import type { Value } from "../base/value/value.ts";
import type { MessageView } from "./message_view.ts";

/** A failure: the problem, its place and the values involved. */
export interface Failure {
  /** `embedded`: steps of the embedded job failed; `load`: the workflow is invalid. */
  readonly kind: "test" | "action" | "expression" | "interrupted" | "embedded" | "load";
  /** The key of the step (or job) it is about: `test`, `with`, `outputs.id`. */
  readonly field: string;
  /** The problem, in words. */
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
  /** The response; nil where there was none. */
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
