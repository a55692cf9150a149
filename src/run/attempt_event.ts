import type { Exchange, Failure } from "./failure_event.ts";

/** One attempt of a step. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
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

/** What is known of an attempt that was followed by another one. */
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
