import { denoHost } from "../host/deno_host.ts";
import { makePlan as make } from "../plan/make_plan.ts";
import { outlinePlan } from "../run/outline.ts";
import { holdPlan, workflowOf } from "./handles.ts";
import type { Plan, Workflow } from "./types.ts";

/** How a plan is made. */
export interface PlanOptions {
  /** What workflow `vars` see by bare names, in place of the environment of the process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Evaluates the `vars` of a workflow and resolves its graph. Throws `LoadError` when they cannot
 * be evaluated.
 *
 * @example See what waits for what
 * ```ts
 * import { loadWorkflow, makePlan } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * const plan = await makePlan(workflow, { environment: {} });
 * for (const { id, needs } of plan.jobs) console.log(id, "needs", needs.join(", "));
 * ```
 */
export async function makePlan(workflow: Workflow, options: PlanOptions = {}): Promise<Plan> {
  const plan = await make(workflowOf(workflow), options.environment ?? denoHost().env.all());
  return holdPlan({ workflow, vars: plan.vars, jobs: await outlinePlan(plan, true) }, plan);
}
