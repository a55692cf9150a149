import type { Permissions } from "../action/permissions/permissions.ts";
import type { Plan as PlanModel } from "../plan/plan.ts";
import type { Suite as SuiteModel } from "../suite/suite.ts";
import type { Loaded } from "../workflow/load_workflow.ts";
import type { Plan, Suite, Workflow } from "./types.ts";

/**
 * What is behind the objects that users of the library hold: these have stable public types, and
 * what is behind them may change.
 */
class Handles<Seen extends object, Held> {
  readonly #held = new WeakMap<Seen, Held>();
  readonly #problem: string;

  /** `problem` is the message for an object that is not from here. */
  constructor(problem: string) {
    this.#problem = problem;
  }

  add(seen: Seen, held: Held): Seen {
    this.#held.set(seen, held);
    return seen;
  }

  /** Throws TypeError for an object that the library has not made. */
  get(seen: Seen): Held {
    const held = this.#held.get(seen);
    if (!held) throw new TypeError(this.#problem);
    return held;
  }
}

/** Permissions of the actions, and values that may hold secrets. */
interface Held {
  readonly permissions?: Permissions;
  readonly secrets: readonly Readonly<Record<string, unknown>>[];
}

export const workflows = new Handles<Workflow, Omit<Held, "secrets"> & { loaded: Loaded }>(
  "the workflow must come from loadWorkflow()",
);

export const plans = new Handles<Plan, Held & { model: PlanModel }>(
  "the plan must come from makePlan()",
);

export const suites = new Handles<Suite, Held & { model: SuiteModel; workers?: number }>(
  "the suite must come from loadSuite()",
);
