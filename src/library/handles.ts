import type { Plan as PlanModel } from "../plan/plan.ts";
import type { Workflow as WorkflowModel } from "../workflow/model.ts";
import type { Plan, Workflow } from "./types.ts";

// What users hold says what they can rely on; what the program works with may change.
const workflows = new WeakMap<Workflow, WorkflowModel>();
const plans = new WeakMap<Plan, PlanModel>();

/** Ties what users see of a workflow to the workflow. */
export function holdWorkflow(seen: Workflow, model: WorkflowModel): Workflow {
  workflows.set(seen, model);
  return seen;
}

/** The workflow behind what users see. Throws TypeError for anything else. */
export function workflowOf(seen: Workflow): WorkflowModel {
  const model = workflows.get(seen);
  if (!model) throw new TypeError("the workflow must come from loadWorkflow()");
  return model;
}

/** Ties what users see of a plan to the plan. */
export function holdPlan(seen: Plan, model: PlanModel): Plan {
  plans.set(seen, model);
  return seen;
}

/** The plan behind what users see. Throws TypeError for anything else. */
export function planOf(seen: Plan): PlanModel {
  const model = plans.get(seen);
  if (!model) throw new TypeError("the plan must come from makePlan()");
  return model;
}
