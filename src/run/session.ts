import type { ActionContext, JobResult, ResourceScope, RunTls } from "../action/action.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { Draws } from "../expr/draws.ts";
import type { Host } from "../host/host.ts";
import type { Deadlines } from "../host/deadlines.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Masker } from "../secrets/masker.ts";
import type { Plan } from "../plan/plan.ts";
import type { Document, JobFile, Step } from "../workflow/model.ts";
import type { BareEvent, JobState, PiecePart, StepRun, StepState } from "./event.ts";
import type { Position } from "../base/source.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Outputs } from "./execute/outputs.ts";
import type { AddExchangedSecrets } from "../secrets/add_secrets.ts";

/** The state that all parts of a run share, or those of an embedded job in it. */
export interface Session {
  readonly host: Host;
  readonly deadlines: Deadlines;
  /** Resources that the steps of a run share until it ends. */
  readonly scope: ResourceScope;
  /** The document of the steps: the workflow, or a job file. */
  readonly document: Document;
  /** Where a step of an embedded job begins, where that is asked for. */
  readonly spotOf?: (step: Step) => Position;
  /** Absent in an embedded job, to which the plan is nothing. */
  readonly plan?: Plan;
  /** The `vars` of the workflow, evaluated, or those that an embedded job was given. */
  readonly vars: Dict;
  readonly outputs: Outputs;
  /** Whether the outputs of all entries of a step are kept. */
  readonly keepsAll: boolean;
  readonly cancellation: Cancellation;
  /**
   * Once it has a reason nothing new is begun, neither job nor round nor step, while what is under
   * way may go on. A cancellation closes a run too.
   */
  readonly draining: Cancellation;
  /**
   * Ends the steps that clean up, which `cancellation` does not end: the end of the time that
   * they have once the others were interrupted.
   */
  readonly cleanup: Cancellation;
  /** Their time limit, in milliseconds. */
  readonly cleanupTimeout: number;
  /** The state of the run, also for an embedded job. */
  readonly progress: () => RunProgress;
  /** Whether the first failure closes the run, or the embedded job that it is in. */
  readonly failFast: boolean;
  /** Whether a step that fails is tolerated, since the statistics of all rounds decide. */
  readonly toleratesFailures?: boolean;
  /** Whether a step that nothing tested fails if its action was unsuccessful. */
  readonly strict: boolean;
  readonly snapshots: Snapshots;
  readonly secrets: Masker;
  /** Adds what an expression says is secret. */
  readonly addSecretValue: (value: Value) => void;
  /** Where random functions draw from. */
  readonly draws: Draws;
  /** Adds the secrets in what an action was given, sent or received. */
  readonly addExchangedSecrets: AddExchangedSecrets;
  readonly tally: Tally;
  /** Emits an event of this run, with its secrets masked. */
  readonly emit: (event: BareEvent) => void;
  /** Runs a job file, for a step that embeds one. */
  readonly runJobFile: RunJobFile;
  readonly detail: Detail;
  /** The permissions of actions; all where it is absent. */
  readonly permissions?: Permissions;
  /** The TLS options of the run. */
  readonly tls?: RunTls;
  /** The rounds of its repeated job that it runs, if others run elsewhere. */
  readonly part?: PiecePart;
  /** The API description that requests are held against if a step does not say otherwise. */
  readonly openapi?: string;
}

/** The snapshot settings of a run. */
export interface Snapshots {
  readonly mode: SnapshotMode;
  /** The workflow, whose name the directory of its snapshots has. */
  readonly workflow: Document;
}

/**
 * `check`: a missing snapshot is a failure. `write`: it is written. `update`: those of steps that
 * run are rewritten; `prune`: and those are removed that no step names.
 */
export type SnapshotMode = "check" | "write" | "update" | "prune";

/** The state of a run or a round, as cleanup steps see it. */
export interface RunProgress {
  readonly state: "passed" | "failed" | "interrupted";
  /** The number of its failed steps. */
  readonly failed: number;
}

/** Runs a job file in an attempt of the step that embeds it, which is run `within`. */
export type RunJobFile = (
  session: Session,
  attempt: ActionContext,
  within: StepRun,
  file: JobFile,
  vars: Dict,
) => Promise<JobResult>;

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

/** Counts what became of jobs and steps. */
export interface Tally {
  readonly jobs: Record<JobState, number>;
  readonly steps: Record<StepState, number>;
  untestedFailures: number;
  flaky: number;
  readonly assertions: { passed: number; failed: number };
}
