import type { PieceHeader } from "./piece_event.ts";

/** Several workflows begin to run. Each of them is a run of its own, with its own `runId`. */
export interface SuiteStarted {
  /** The type of the event. */
  readonly type: "suite_started";
  /** The id of the suite, unlike that of any run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
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
  /** The same for all shares of one suite: SHA-256 of its files and of what was chosen of them. */
  readonly hash: string;
}

/** All workflows are over. */
export interface SuiteFinished {
  /** The type of the event. */
  readonly type: "suite_finished";
  /** The id of the suite, unlike that of any run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The time that it took, in milliseconds. */
  readonly duration: number;
  /** Its outcome. */
  readonly state: "passed" | "failed";
  /** Why it ended before its end. */
  readonly interrupted?: string;
  /** The number of workflows by outcome; setup and teardown are counted only if they fail. */
  readonly workflows: Readonly<Record<"passed" | "failed" | "skipped", number>>;
  /** The number of runs of steps by outcome, in the workflows that are counted. */
  readonly steps: Readonly<
    Record<"passed" | "failed" | "skipped" | "untested" | "tolerated", number>
  >;
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
