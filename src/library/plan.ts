import type { Plan as PlanModel } from "../plan/plan.ts";
import { LoadError, UsageError } from "../base/errors.ts";
import type { Dict } from "../base/value/value.ts";
import type { Workflow as WorkflowModel } from "../workflow/model.ts";
import { explained } from "./explained.ts";
import { holdPlan, workflowOf } from "./handles.ts";
import type { Plan, Workflow } from "./types.ts";

/** The options for making a plan: its inputs, and the selected jobs. */
export interface PlanOptions {
  /** The variables that `vars` see by bare names, in place of the environment of the process. */
  readonly environment?: Readonly<Record<string, string>>;
  /**
   * Values for `vars` of the workflow, merged into them key by key. Text with braces in it stays
   * text. A name that the workflow does not have is an error.
   */
  readonly vars?: Dict;
  /** Jobs that run, with what they need, by id, name, or a pattern like `deploy*`; all without. */
  readonly only?: readonly string[];
  /** With `only`: whether what these jobs need is left out. */
  readonly noNeeds?: boolean;
  /** Jobs that are skipped as if their `skipif` were true, named in the same ways. */
  readonly skip?: readonly string[];
  /** False makes a plan also where static analysis proves that a run must fail. */
  readonly check?: boolean;
}

/**
 * Evaluates the `vars` of a workflow, resolves its graph and chooses its jobs. Throws `LoadError`
 * when the vars cannot be evaluated or are unknown to the workflow, or when static analysis proves
 * that a run must fail, and `UsageError` when a job is chosen that does not exist.
 *
 * @example Show which jobs wait for which
 * ```ts
 * import { loadWorkflow, makePlan } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * const plan = await makePlan(workflow, { environment: {} });
 * for (const { id, needs } of plan.jobs) console.log(id, "needs", needs.join(", "));
 * ```
 */
export async function makePlan(workflow: Workflow, options: PlanOptions = {}): Promise<Plan> {
  const held = workflowOf(workflow);
  const { only, noNeeds = false, skip } = options;
  if (only?.length === 0) throw new UsageError("only names no job", "leave it out to run all");
  if (noNeeds && !only) throw new UsageError("noNeeds goes with only", "name the jobs to run");
  const { makePlan: make } = await import("../plan/make_plan.ts");
  const { outlinePlan } = await import("../run/outline_plan.ts");
  const environment = options.environment ?? await environmentOfProcess();
  // Later changes to them do not affect the plan.
  const vars = structuredClone(options.vars ?? {});
  const given = [environment, vars];
  try {
    const whole = await make(await withVars(held.loaded.workflow, vars), environment);
    const model = only || skip ? await choose(whole, only, noNeeds, skip ?? []) : whole;
    if (options.check !== false) {
      const { refuseFailing } = await import("../check/refuse_run.ts");
      const { denoHost } = await import("../host/deno_host.ts");
      await refuseFailing(held.loaded, model, denoHost());
    }
    const seen = {
      workflow,
      vars: model.vars,
      jobs: await outlinePlan(model, true),
      warnings: model.warnings,
    };
    return holdPlan(seen, { model, permissions: held.permissions, given });
  } catch (error) {
    throw await explained(error, given);
  }
}

async function environmentOfProcess(): Promise<Readonly<Record<string, string>>> {
  return (await import("../host/deno_host.ts")).denoHost().env.all();
}

async function withVars(workflow: WorkflowModel, given: Dict): Promise<WorkflowModel> {
  if (Object.keys(given).length === 0) return workflow;
  const { matchVars, setVars } = await import("../plan/set_vars.ts");
  const found = [...matchVars(workflow.vars, given)];
  const problems = found.filter((each) => "message" in each);
  if (problems.length > 0) {
    const diagnostics = problems.map(({ message, hint }) => ({
      severity: "error" as const,
      code: "vars",
      message,
      ...hint === undefined ? {} : { hint },
    }));
    throw new LoadError("cannot set the vars of the workflow", diagnostics);
  }
  const settings = found.filter((each) => "value" in each);
  return { ...workflow, vars: setVars(workflow.vars, settings) };
}

async function choose(
  plan: PlanModel,
  only: readonly string[] | undefined,
  noNeeds: boolean,
  skip: readonly string[],
): Promise<PlanModel> {
  const { jobHint, matchJobs, selectJobs } = await import("../plan/select_jobs.ts");
  const find = (option: string, names: readonly string[]) =>
    new Set(names.flatMap((wanted) => {
      const found = matchJobs(plan.jobs, wanted);
      if (found.length > 0) return found;
      throw new UsageError(`${option}: unknown job "${wanted}"`, jobHint(plan.jobs, wanted));
    }));
  return selectJobs(plan, {
    ...only ? { only: find("only", only) } : {},
    withNeeds: !noNeeds,
    skip: find("skip", skip),
  });
}
