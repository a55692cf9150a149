import type { ActionContext, JobResult, ResourceScope, RunTls } from "../action/action.ts";
import type { Permissions } from "../action/permissions/permissions.ts";
import type { Host } from "../host/host.ts";
import type { Deadlines } from "../host/deadlines.ts";
import type { Dict, Value } from "../value/value.ts";
import type { Masker } from "../value/masker.ts";
import type { Plan } from "../plan/plan.ts";
import type { Document, JobFile, Step } from "../workflow/model.ts";
import type { BareEvent, JobState, StepRun, StepState } from "./event.ts";
import type { Position } from "../source/source.ts";
import type { Cancellation } from "./cancellation.ts";
import type { Outputs } from "./execute/outputs.ts";
import type { AddExchangedSecrets } from "./mask/secrets.ts";

/** What all parts of one run share, or those of an embedded job in it. */
export interface Session {
  readonly host: Host;
  readonly deadlines: Deadlines;
  /** What the steps of a run share, until it ends. */
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
  readonly stepIds: ReadonlySet<string>;
  readonly cancellation: Cancellation;
  /**
   * Once it has a reason nothing new is begun, neither job nor round nor step, while what is under
   * way may go on. A cancellation closes a run too.
   */
  readonly draining: Cancellation;
  /**
   * What ends the steps that clean up, in place of what ends the others: the end of the time that
   * they have once the others were interrupted.
   */
  readonly cleanup: Cancellation;
  /** How long they have, in milliseconds. */
  readonly cleanupTimeout: number;
  /** How the run is going, also for an embedded job. */
  readonly progress: () => Progress;
  /** Whether the first failure closes the run, or the embedded job that it is in. */
  readonly failFast: boolean;
  /** Whether a step that nothing tested fails if its action was no success. */
  readonly strict: boolean;
  readonly secrets: Masker;
  /** Adds what an expression says is secret. */
  readonly addSecretValue: (value: Value) => void;
  /** Adds the secrets in what an action was given, sent or received. */
  readonly addExchangedSecrets: AddExchangedSecrets;
  readonly tally: Tally;
  /** What was said of commands in the background that failed: why a server cannot be reached. */
  readonly endedServices: string[];
  /** Emits an event of this run, with its secrets masked. */
  readonly emit: (event: BareEvent) => void;
  /** Runs a job file, for a step that embeds one. */
  readonly runJobFile: RunJobFile;
  readonly detail: Detail;
  /** What actions may reach; everything where it is absent. */
  readonly permissions?: Permissions;
  /** What the options of the run say about TLS. */
  readonly tls?: RunTls;
}

/** How a run or a round is going, as steps that clean up see it. */
export interface Progress {
  readonly state: "passed" | "failed" | "interrupted";
  /** How many of its steps failed. */
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

/** How much a run reports about what passed. */
export interface Detail {
  /** Keep request, response and outputs of each step, not only of those that failed. */
  readonly all: boolean;
  /** Pass on what actions log for `-v`. */
  readonly debug: boolean;
  /** Report the position of each step: at the start, or of embedded ones as they end. */
  readonly places: boolean;
  /** How many characters of each field of a request or response are kept. */
  readonly limit: number;
}

/** Counts what became of jobs and steps. */
export interface Tally {
  readonly jobs: Record<JobState, number>;
  readonly steps: Record<StepState, number>;
  untestedFailures: number;
  flaky: number;
}
