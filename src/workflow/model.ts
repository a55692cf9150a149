import type { Action } from "../action/action.ts";
import type { ParameterType } from "../action/parameter.ts";
import type { DataTemplate, Expression, Template } from "../expr/expression.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import type { Path } from "../base/source.ts";
import type { Dict } from "../base/value/value.ts";
import type { Document } from "../base/yaml/document.ts";

export type { Document, Positions, ReplacedKey } from "../base/yaml/document.ts";

/** A workflow that has passed every check. */
export interface Workflow {
  readonly name: string;
  readonly description?: string;
  /** The top-level `vars`: always a map. */
  readonly vars: DataTemplate;
  /** The tags of every job, besides its own. */
  readonly tags?: readonly string[];
  readonly jobs: readonly Job[];
  readonly document: Document;
  /**
   * Loads the job files whose paths depend on `vars`: present if there are any. `render` fills
   * in such a path, and may leave a file out. Throws LoadError with all that is wrong with them.
   */
  readonly loadJobFiles?: (
    render: (path: Template) => string | undefined,
  ) => Promise<CompleteJobs>;
}

/** The jobs of a workflow with all job files, and the diagnostics of those that were loaded last. */
export interface CompleteJobs {
  readonly jobs: readonly Job[];
  readonly warnings: readonly Diagnostic[];
}

export interface Job {
  /** Unique in the workflow; `job_<index>` where the file gives none. */
  readonly id: string;
  /**
   * The `finally` of the workflow as a job: all its steps clean up, and it runs after all other
   * jobs, with any outcome.
   */
  readonly isCleanup?: true;
  readonly index: number;
  readonly path: Path;
  readonly name: Template;
  readonly needs: readonly string[];
  /** When it starts; by default once all its needs passed or were skipped on purpose. */
  readonly when?: "always" | "failure";
  /** Whether its steps after a failed one are skipped. */
  readonly stopsAtFailure?: true;
  readonly skipif?: Expression;
  /** Jobs with the same one never run at the same time. */
  readonly lock?: string;
  /** Whether a failure of it is allowed, and fails nothing. */
  readonly allowFailure?: Expression;
  readonly repeat?: Repeat;
  readonly load?: Load;
  /** The job runs once for each combination of its values: a plan has a job for each. */
  readonly matrix?: Matrix;
  /** The combination of the matrix that the job is, in a plan. */
  readonly combination?: Combination;
  /** In addition to those of the workflow. */
  readonly tags?: readonly string[];
  /** The steps, and then those of `finally`. */
  readonly steps: readonly Step[];
}

export interface Matrix {
  /** A map of the names to lists of values, with `include` and `exclude`. */
  readonly values: DataTemplate;
  /** How many of its jobs run at once; no limit without it. */
  readonly parallel?: number;
  /** Whether nothing new starts once one of its jobs has failed. */
  readonly failFast?: true;
}

/** One of the jobs that a job with a matrix becomes. */
interface Combination {
  /** The job as it is in the file. */
  readonly of: Pick<Job, "id" | "name">;
  /** What its expressions see as `matrix`. */
  readonly values: Dict;
}

export interface Repeat {
  readonly count: number;
  readonly interval: Duration;
  readonly async: boolean;
}

/** The load under which a job runs: it has one of these or `repeat`. */
export interface Load {
  /** In order; at least one. All have a rate, or all have users. */
  readonly stages: readonly LoadStage[];
  /** The number of rounds after which it ends. */
  readonly count?: number;
  /** How long rounds run before the first stage, which count for nothing. */
  readonly warmUp?: Duration;
  /** The pause of a user between two rounds. */
  readonly thinkTime: Duration;
  /** The number of rounds that may be under way. */
  readonly maxInFlight: number;
  /** Whether the first requests of all users are sent at one moment. */
  readonly together: boolean;
  /** Each round takes the next row. */
  readonly data?: Rows;
  /** Whether it ends with the last row, and does not begin with the first one again. */
  readonly takesRowsOnce: boolean;
  /** Whether a threshold decides how many users may fail to be set up. */
  readonly allowsSetupFailures?: boolean | undefined;
  /** Whether a user keeps the cookies of one round in the next. */
  readonly keepsCookies: boolean;
  /** Decide by the statistics whether the job passes. */
  readonly expect?: readonly Assertion[];
  /** Ends it early, as failed. */
  readonly stopIf?: Expression;
}

export interface LoadStage {
  /** Its place, where it is in a list. */
  readonly index?: number;
  /** Rounds that start in a second. */
  readonly rate?: number;
  /** Users that run one round after another. */
  readonly users?: number;
  /** How long it takes; absent where something else ends the only stage. */
  readonly duration?: Duration;
  /** Whether it goes there evenly from the stage before, or from 0. */
  readonly ramp?: true;
}

/** The sources of rows that are read before anything runs. */
export type Rows = Extract<Iteration, { readonly kind: "list" | "template" | "file" }>;

/** A condition that must be true. */
export interface Assertion {
  readonly expression: Expression;
  /** Its place, where it is in a list. */
  readonly index?: number;
  /** It is a map, with the expression under `that`. */
  readonly isMap?: true;
  /** What it says, for reports. */
  readonly says?: Template;
  /** It is not in the file: no other one says how many rounds may fail. */
  readonly isImplied?: true;
}

export interface Step {
  /** Present only where the file gives one: without it nothing is published. */
  readonly id?: string;
  /** Its place among all steps of the job. */
  readonly index: number;
  readonly path: Path;
  /** A step of `finally`. */
  readonly isCleanup?: true;
  /** A step of the `setup` of a load job. */
  readonly isSetup?: true;
  readonly name?: Template;
  readonly action: Action;
  /** `with` after the defaults of the job were merged in: always a map. */
  readonly with: DataTemplate;
  readonly test?: readonly Assertion[];
  readonly echo?: Template;
  /** The step's own `vars`, before they are merged over those of the workflow. */
  readonly vars?: DataTemplate;
  readonly outputs: readonly StepOutput[];
  readonly skipif?: Expression;
  /** Whether a failure of it is allowed, and fails nothing. */
  readonly allowFailure?: Expression;
  readonly wait?: Duration;
  readonly timeout: Duration;
  /** The time that its action may take: a longer one is a failure. */
  readonly maxTime?: Duration;
  /** Its result is compared with that of an earlier run. */
  readonly snapshot?: Snapshot;
  /** Its iteration: once for each entry, or until a condition is true. */
  readonly iteration?: Iteration;
  readonly retry?: Retry;
  /** What it evaluates once its action has returned. */
  readonly reads: readonly (Expression | Template)[];
  /** The job that the step embeds; if its path is a template, only a plan has it. */
  readonly embedded?: JobFile;
}

/** The part of a step that is compared with an earlier run. */
export interface Snapshot {
  /** The value; `res.body` where it is absent. */
  readonly of?: Expression;
  /** The name of its file, in place of the id of the step. */
  readonly name?: string;
  /** JSONPaths of values that may be any. */
  readonly ignore: readonly string[];
  /** The rules for values at JSONPaths. */
  readonly match: readonly { readonly path: string; readonly rule: string }[];
}

export type Iteration =
  | { readonly kind: "list"; readonly entries: readonly DataTemplate[]; readonly parallel: number }
  | {
    readonly kind: "template";
    readonly list: Template;
    /** The key of the step that it is under. */
    readonly field: Path;
    readonly parallel: number;
  }
  | Combinations
  | RowsFile
  | Loop;

/** Runs for the combinations of a matrix that are known only in the run. */
export interface Combinations {
  readonly kind: "matrix";
  readonly values: DataTemplate;
  /** The names of the values, where they are known. */
  readonly names: readonly string[] | undefined;
  /** How many combinations there may be. */
  readonly most: number;
  readonly parallel: number;
}

/** Runs for the rows of a file. */
export interface RowsFile {
  readonly kind: "file";
  /** Its path, relative to the file of the step. */
  readonly file: Template;
  /** Taken from the extension if absent. */
  readonly format?: DataFormat;
  /** The condition for rows, which it sees as vars. */
  readonly where?: Expression;
  /** The maximum number of rows. */
  readonly limit?: number;
  /** By the names of columns, or all by their values. */
  readonly types: ReadonlyMap<string, ColumnType> | "auto";
  /** The number of rows that run at once. */
  readonly parallel: number;
}

/** The formats of files with rows. */
export type DataFormat = "csv" | "json" | "jsonl" | "yaml";

export type ColumnType = ParameterType;

/** Runs until a condition is true. */
export interface Loop {
  readonly kind: "loop";
  readonly until: Expression;
  /** The maximum number of runs: the condition must be true by then. */
  readonly max: number;
  readonly interval: Duration;
}

/** A job in a file of its own. */
export interface JobFile {
  readonly document: Document;
  /** Its path is that of the whole document. Its `needs` and `repeat` are empty. */
  readonly job: Job;
}

export interface StepOutput {
  readonly name: string;
  readonly value: Expression;
}

export interface Retry {
  /** Absent where the time alone limits the attempts. */
  readonly maxAttempts?: number;
  /** The time of all attempts together, with the pauses between them. */
  readonly time?: Duration;
  readonly interval: Duration;
  readonly initialDelay: Duration;
  /** Whether an attempt waits as long as the other side asked, in place of the interval. */
  readonly respectsRetryAfter: boolean;
  /** By what the interval is multiplied after each attempt. */
  readonly backoff: number;
  readonly maxInterval?: Duration;
  readonly jitter: boolean;
  /** Polls: another attempt follows while it is false. */
  readonly until?: Expression;
  /** Gives up if it is true. */
  readonly stop?: Expression;
}

/** Milliseconds, or a text that gives a duration once it is rendered. */
export type Duration =
  | { readonly kind: "constant"; readonly milliseconds: number }
  | { readonly kind: "template"; readonly template: Template };
