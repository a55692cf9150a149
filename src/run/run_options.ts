import type { RunTls } from "../action/action.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { RunnerError } from "../base/errors.ts";
import type { ApiCoverage } from "../base/value/api_coverage.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Clock } from "../host/host.ts";
import type { Plan, PlannedJob } from "../plan/plan.ts";
import type { Masker } from "../secrets/masker.ts";
import type { Job } from "../workflow/model.ts";
import type { Cancellation, TimeLimit } from "./cancellation.ts";
import type {
  JobState,
  LoadSecondFields,
  PieceHeader,
  RunOrigin,
  StepResult,
  SuitePart,
} from "./event.ts";
import type { StepOutputs } from "./execute/outputs.ts";
import type { Locks } from "./execute/locks.ts";
import type { Slots } from "./execute/slots.ts";

export interface RunOptions {
  /** Interrupts the run, also before it has begun. */
  readonly cancellation?: Cancellation;
  /** The time limit of the whole run, in milliseconds; no limit without it. */
  readonly timeout?: TimeLimit;
  readonly detail?: Partial<Detail>;
  /**
   * Whether the steps of all rounds of repeated jobs are reported, as they are by default. If not,
   * only their tally is, with the details of the first round that passes and of failed steps.
   */
  readonly everyRound?: boolean;
  /** Contains known secrets; secrets found during the run are added. */
  readonly secrets?: Masker;
  /**
   * The time that the stages of a load job take at most, in milliseconds; `off` runs each such job
   * once, as if it had no `load`.
   */
  readonly load?: number | "off";
  /** Runs the rounds of load jobs in several processes. */
  readonly spreadLoad?: SpreadLoad | undefined;
  /** Begins no new job and no new step after the first failure. */
  readonly failFast?: boolean;
  /** A run fails if it warns or runs no step. */
  readonly strict?: boolean;
  /** The snapshot mode; by default `check` if CI=true, else `write`. */
  readonly snapshots?: SnapshotMode;
  /** The maximum number of jobs that run at once, at least 1; no limit without it. */
  readonly jobs?: number;
  /** Bounds the jobs of several runs together, in place of `jobs`. */
  readonly slots?: Pick<Slots, "use">;
  /** The locks of its jobs, which runs of a suite share. */
  readonly locks?: Locks;
  /** Once it has a reason, this run and others that share it begin nothing new. */
  readonly draining?: Cancellation;
  /** Additional outputs that its steps see, by the ids of the steps that published them. */
  readonly outputs?: StepOutputs;
  /**
   * Receives the outputs of its steps when its jobs are over, and for steps of repeated jobs the
   * round that they are from.
   */
  readonly onOutputs?: (outputs: StepOutputs, rounds: ReadonlyMap<string, number>) => void;
  /** How it was started, for reports. */
  readonly origin?: RunOrigin;
  /** Where it is one of several. */
  readonly suite?: SuitePart;
  /**
   * What its cleanup steps see of what ran before it: teardown cleans up after the whole suite, and
   * a piece after jobs that ran elsewhere.
   */
  readonly before?: RunProgress;
  /** Where it is one process of a run on many machines. */
  readonly piece?: RunPiece;
  /** The permissions of actions; all where it is absent. */
  readonly permissions?: Permissions;
  /** The default for all TLS connections. */
  readonly tls?: RunTls;
  /** The path of the API description against which requests are checked by default. */
  readonly openapi?: string;
  /** The time limit of cleanup steps once the run was interrupted, in milliseconds. */
  readonly cleanupTimeout?: number;
  /** Decides how to go on after a step that has failed, which its job waits for. */
  readonly onFailedStep?: (step: FailedStep) => Promise<FailureDecision>;
}

/**
 * `repeat` runs the step once more, `continue` lets the run go on as it would have, and after `stop`
 * nothing new begins but cleanup.
 */
export type FailureDecision = "repeat" | "continue" | "stop";

/** A step that has failed, before its job goes on. No secrets are in what it shows. */
export interface FailedStep {
  /** The id of its job. */
  readonly job: string;
  readonly result: StepResult;
  /** What expressions can read. */
  readonly names: readonly string[];
  /** The value of an expression in the scope of the step. Throws `ExpressionError`. */
  readonly evaluate: (expression: string) => { readonly value: Value };
  /** A text without secrets. */
  readonly mask: (text: string) => string;
}

/** The state of a run or a round, as cleanup steps see it. */
export interface RunProgress {
  readonly state: "passed" | "failed" | "interrupted";
  /** The number of its failed steps. */
  readonly failed: number;
}

/** The default time limit of cleanup steps after an interruption. */
export const CLEANUP_TIMEOUT = 30_000;

/** The part of a run that this process carries out, and the results of others before it. */
export interface RunPiece {
  /** Its description in `run_started`. */
  readonly header: PieceHeader;
  /** All jobs of the run, for explanations. */
  readonly whole: Plan;
  /** The outcomes of jobs that ran elsewhere, for those that need them. */
  readonly outcomes: ReadonlyMap<PlannedJob, JobOutcome>;
  /** The outputs of their steps, in the order of the file. */
  readonly outputs: readonly (readonly [stepId: string, values: Dict])[];
  /** When it begins: milliseconds since 1970. */
  readonly startAt?: number;
  /** Where it runs rounds of a load job for another process, which decides about the job. */
  readonly team?: Teamwork;
}

/** What a process has in common with others that run a load job together. */
export interface Teamwork {
  /** What the job sees of those that it needs. */
  readonly needs: Dict;
  /** The process is ready. Resolves when the job begins: milliseconds since 1970. */
  readonly begin: () => Promise<number>;
}

/** Several processes that run the rounds of a load job. */
export interface SpreadLoad {
  readonly processes: number;
  readonly roundsOf: (load: LoadToSpread) => LoadRounds;
}

/** The rounds of a load job. */
export interface LoadRounds {
  /** Resolves when all rounds are over. Throws what was thrown that is not about a step. */
  run(): Promise<void>;
  /** Why it ended before its time. */
  readonly stopped: string | undefined;
  /** Whether a step failed that the statistics do not excuse. */
  readonly hasFailed: boolean;
  /** Why they are not all that should have been run. */
  readonly problem?: RunnerError | undefined;
}

/** A load job that is about to begin, for what runs its rounds elsewhere. */
export interface LoadToSpread {
  readonly job: Job;
  readonly plan: Plan;
  readonly vars: Dict;
  /** What the job sees of those that it needs. */
  readonly needs: Dict;
  /** What the steps of other jobs have published. */
  readonly outputs: StepOutputs;
  readonly options: RunOptions;
  readonly detail: Detail;
  readonly snapshots: SnapshotMode;
  readonly secrets: Masker;
  readonly clock: Clock;
  readonly cancellation: Cancellation;
  readonly draining: Cancellation;
  readonly cleanup: Cancellation;
  readonly addCoverage: (api: ApiCoverage) => void;
  readonly warn: (text: string) => void;
  /** Takes each second; the result is why the job has to stop. */
  readonly onSecond: (second: LoadSecondFields) => string | undefined;
}

/** The outcome of a job. */
export interface JobOutcome {
  readonly state: JobState;
  readonly reason?: string;
  /** Skipped because of what happened elsewhere: those that need it cannot run either. */
  readonly blocked?: true;
}

/**
 * `check`: a missing snapshot is a failure. `write`: it is written. `update`: those of steps that
 * run are rewritten; `prune`: and those are removed that no step names.
 */
export type SnapshotMode = "check" | "write" | "update" | "prune";

/** The amount of detail that a run reports about what passed. */
export interface Detail {
  /** Keep request, response and outputs of each step, not only of those that failed. */
  readonly all: boolean;
  /** Pass on what actions log for `-v`. */
  readonly debug: boolean;
  /** Report the position of each step: at the start, or of embedded ones as they end. */
  readonly places: boolean;
  /** The number of characters that are kept of each field of a request or response. */
  readonly limit: number;
}
