import type { Host } from "../host/host.ts";
import type { Deadlines } from "../host/deadlines.ts";
import type { Dict } from "../value/value.ts";
import type { Masker } from "../value/masker.ts";
import type { Plan } from "../plan/plan.ts";
import type { Workflow } from "../workflow/model.ts";
import type { Emit } from "./event.ts";
import type { Interruption } from "./interruption.ts";
import type { Outputs } from "./outputs.ts";
import type { Tally } from "./tally.ts";

/** What all parts of one run share. */
export interface Session {
  readonly host: Host;
  readonly deadlines: Deadlines;
  readonly workflow: Workflow;
  readonly plan: Plan;
  /** The workflow's `vars`, evaluated. */
  readonly vars: Dict;
  readonly outputs: Outputs;
  readonly stepIds: ReadonlySet<string>;
  readonly interruption: Interruption;
  /**
   * Once it has a reason nothing new is begun, neither job nor round nor step, while what is under
   * way may go on. An interruption closes a run too.
   */
  readonly closing: Interruption;
  /** Told of each step and each job that failed for good. */
  readonly onFailure: (job: string) => void;
  readonly secrets: Masker;
  readonly tally: Tally;
  /** Sends an event on its way, without secrets. */
  readonly emit: Emit;
  /** Has `end` called when the run is over. */
  readonly onRunEnd: (end: () => void | Promise<void>) => void;
  readonly addSecret: (text: string) => void;
  readonly detail: Detail;
}

/** How much a run tells about what went well. */
export interface Detail {
  /** Keep request, response and outputs of each step, not only of those that failed. */
  readonly all: boolean;
  /** Pass on what actions tell to those who ask. */
  readonly debug: boolean;
  /** Tell in the beginning where each step stands in its file. */
  readonly places: boolean;
  /** How many characters of each field of a request or response are kept. */
  readonly limit: number;
}
