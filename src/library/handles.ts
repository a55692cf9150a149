import type { Permissions } from "../action/permissions/permissions.ts";
import type { Plan as PlanModel } from "../plan/plan.ts";
import type { Loaded } from "../workflow/load_workflow.ts";
import type { Plan, Workflow } from "./types.ts";

/** The internals of a workflow handle. */
export interface HeldWorkflow {
  readonly loaded: Loaded;
  readonly permissions?: Permissions | undefined;
}

/** The internals of a plan handle. */
export interface HeldPlan {
  readonly model: PlanModel;
  readonly permissions?: Permissions | undefined;
  /** Values that may hold secrets besides the environment of the process. */
  readonly given: readonly Readonly<Record<string, unknown>>[];
}

// Users hold the stable public type; the internal type may change.
const workflows = new WeakMap<Workflow, HeldWorkflow>();
const plans = new WeakMap<Plan, HeldPlan>();

/** Ties what users see of a workflow to the workflow. */
export function holdWorkflow(seen: Workflow, held: HeldWorkflow): Workflow {
  workflows.set(seen, held);
  return seen;
}

/** The workflow behind what users see. Throws TypeError for anything else. */
export function workflowOf(seen: Workflow): HeldWorkflow {
  const held = workflows.get(seen);
  if (!held) throw new TypeError("the workflow must come from loadWorkflow()");
  return held;
}

/** Ties what users see of a plan to the plan. */
export function holdPlan(seen: Plan, held: HeldPlan): Plan {
  plans.set(seen, held);
  return seen;
}

/** The plan behind what users see. Throws TypeError for anything else. */
export function planOf(seen: Plan): HeldPlan {
  const held = plans.get(seen);
  if (!held) throw new TypeError("the plan must come from makePlan()");
  return held;
}
