import type { Permissions } from "../action/permissions/permissions.ts";
import type { Plan as PlanModel } from "../plan/plan.ts";
import type { Suite as SuiteModel } from "../suite/suite.ts";
import type { Loaded } from "../workflow/load_workflow.ts";
import type { Plan, Suite, Workflow } from "./types.ts";

/**
 * The models that belong to the objects of users of the library: the types of these objects are
 * public and stable, and the models may change.
 */
class Handles<Public extends object, Internal> {
  readonly #internals = new WeakMap<Public, Internal>();
  readonly #problem: string;

  /** `problem` is the message for an object that the library has not made. */
  constructor(problem: string) {
    this.#problem = problem;
  }

  add(object: Public, internal: Internal): Public {
    this.#internals.set(object, internal);
    return object;
  }

  /** Throws TypeError for an object that the library has not made. */
  get(object: Public): Internal {
    const internal = this.#internals.get(object);
    if (!internal) throw new TypeError(this.#problem);
    return internal;
  }
}

/** Permissions of the actions, and values that may hold secrets. */
interface Origin {
  readonly permissions?: Permissions;
  readonly secrets: readonly Readonly<Record<string, unknown>>[];
}

export const workflows = new Handles<Workflow, Omit<Origin, "secrets"> & { loaded: Loaded }>(
  "the workflow must come from loadWorkflow()",
);

export const plans = new Handles<Plan, Origin & { model: PlanModel }>(
  "the plan must come from makePlan()",
);

export const suites = new Handles<Suite, Origin & { model: SuiteModel; workers?: number }>(
  "the suite must come from loadSuite()",
);
