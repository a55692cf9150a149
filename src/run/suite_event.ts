/** Several workflows begin to run. Each of them is a run of its own, with its own `runId`. */
export interface SuiteStarted {
  /** Which event it is. */
  readonly type: "suite_started";
  /** The id of the suite, unlike that of any run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** The name that a suite file gives. */
  readonly name?: string;
  /** How many workflows are going to run here, without setup and teardown. */
  readonly workflows: number;
  /** Which share of the suite this is, where it is divided. */
  readonly shard?: {
    /** From 1. */
    readonly index: number;
    /** How many shares there are. */
    readonly of: number;
  };
  /** The same for all shares of one suite: SHA-256 of its files and of what was chosen of them. */
  readonly hash: string;
}

/** All workflows are over. */
export interface SuiteFinished {
  /** Which event it is. */
  readonly type: "suite_finished";
  /** The id of the suite, unlike that of any run. */
  readonly runId: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** How long it took, in milliseconds. */
  readonly duration: number;
  /** How it came out. */
  readonly state: "passed" | "failed";
  /** Why it ended before its end. */
  readonly interrupted?: string;
  /** How many workflows came out how; setup and teardown are counted only where they fail. */
  readonly workflows: Readonly<Record<"passed" | "failed" | "skipped", number>>;
  /** How many runs of steps came out how, in the workflows that are counted. */
  readonly steps: Readonly<Record<"passed" | "failed" | "skipped" | "untested", number>>;
}

/** The place of a run in a suite. */
export interface SuitePart {
  /** The `runId` of the suite. */
  readonly id: string;
  /** From 0, in the order of the suite, not of the runs. */
  readonly index: number;
  /** What the run is for where it is not one of the workflows. */
  readonly role?: "setup" | "teardown";
}
