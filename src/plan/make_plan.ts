import { ExpressionError } from "../base/errors.ts";
import { Draws, type RandomSource } from "../expr/draws.ts";
import type { Scope, Template } from "../expr/expression.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Job, Workflow } from "../workflow/model.ts";
import { namesOfMatrix, writtenId } from "../workflow/step_facts.ts";
import { type Plan, type PlannedJob, startsAlways, startsWhenNeedFailed } from "./plan.ts";

type Environment = Readonly<Record<string, string>>;

/**
 * Evaluates `vars` and the names of the jobs, loads the job files whose paths depend on `vars`, and
 * resolves `needs` to jobs. The workflow was checked: each need exists, and there is no cycle.
 * Throws LoadError when such a file is invalid, or when its `vars` or a path cannot be evaluated,
 * unless `evaluate` leaves out what fails.
 */
export async function makePlan(
  workflow: Workflow,
  environment: Environment,
  evaluate?: (
    workflow: Workflow,
    environment: Environment,
    addSecret: (value: Value) => void,
    random: RandomSource,
  ) => Dict | Promise<Dict>,
  draws: Draws = new Draws(),
): Promise<Plan> {
  const secrets: Value[] = [];
  const addSecret = (value: Value) => void secrets.push(value);
  const { name: file } = workflow.document;
  const random = draws.at(() => `${file} vars`);
  const vars = await (evaluate ?? evaluateVars)(workflow, environment, addSecret, random);
  const path = evaluate ? renderKnownPath : renderPath;
  const { jobs: written, warnings } =
    await workflow.loadJobFiles?.((template) => path(template, vars)) ??
      { jobs: workflow.jobs, warnings: [] };
  const scopeOf = (job: Job, names: Scope["names"] = {}): Scope => ({
    names: { vars, ...names },
    strict: true,
    addSecret,
    random: draws.at(() => `${file} ${job.id}`),
  });
  const jobs = written.some(({ matrix }) => matrix)
    ? (await import("./expand_matrices.ts")).expandMatrices(written, {
      document: workflow.document,
      sources: [environment, vars],
      secrets,
      scopeOf,
      isOutline: evaluate !== undefined,
    })
    : written;
  const planned = jobs.map((job) => {
    const name = nameOf(job, scopeOf(job, namesOfMatrix(job)));
    return { job, ...name, needs: [] as PlannedJob[], ...conditionOf(job) };
  });
  const byId = Map.groupBy(planned, ({ job }) => writtenId(job));
  for (const { job, needs } of planned) {
    for (const id of new Set(job.needs)) {
      const needed = byId.get(id);
      if (!needed) throw new Error(`unchecked need "${id}"`);
      needs.push(...needed);
    }
  }
  return {
    workflow: { ...workflow, jobs },
    vars,
    secrets,
    draws,
    jobs: planned,
    warnings,
  };
}

/** When a job starts, unless that is when its needs have succeeded. */
function conditionOf({ isCleanup, when }: Job): Pick<PlannedJob, "startsWhen"> {
  if (isCleanup || when === "always") return { startsWhen: startsAlways };
  return when === "failure" ? { startsWhen: startsWhenNeedFailed } : {};
}

async function evaluateVars(
  workflow: Workflow,
  environment: Environment,
  addSecret: (value: Value) => void,
  random: RandomSource,
): Promise<Dict> {
  const { vars, document } = workflow;
  if (vars.kind === "constant") return vars.value as Dict;
  const { evaluateVars } = await import("./evaluate_vars.ts");
  const location = { path: ["vars"], document, owner: "workflow" } as const;
  return evaluateVars(vars, location, environment, { addSecret, random });
}

/** The path of a job file. Throws ExpressionError. */
function renderPath(path: Template, vars: Dict): string {
  return path.renderText({ names: { vars }, strict: true });
}

/** The path of a job file; undefined if it depends on an unknown value. */
export function renderKnownPath(path: Template, vars: Dict): string | undefined {
  try {
    return renderPath(path, vars);
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

/**
 * A name sees `vars` and `matrix` alone, so that a job that never runs has one too. Where there is nothing in it
 * the job is known by its id.
 */
function nameOf({ id, name }: Job, scope: Scope): Pick<PlannedJob, "name" | "nameError"> {
  try {
    const text = name.renderText(scope, { display: true });
    return { name: text.trim() === "" ? id : text };
  } catch (nameError) {
    return { name: name.source, nameError };
  }
}
