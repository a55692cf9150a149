import { renderText } from "../expr/template/render.ts";
import { ExpressionError } from "../base/errors.ts";
import type { DataTemplate, Scope, Template } from "../expr/expression.ts";
import { evaluateKnown } from "../plan/evaluate_vars.ts";
import type { Plan } from "../plan/plan.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import { hasOpenEntries, listedEntries, markCleanup } from "../workflow/step_facts.ts";
import type { Job, Step } from "../workflow/model.ts";
import type { Dag, DagStep } from "./dag.ts";
import { makeLevels } from "./make_levels.ts";

export interface DagOptions {
  /** Masks secrets in a name, including those of the vars it was rendered with. */
  readonly mask?: (name: string, vars: Dict) => string;
  /** Takes what expressions say is secret. */
  readonly addSecret?: (value: Value) => void;
}

/** The graph of a plan, with names as far as they are known before a run. */
export function makeDag(
  plan: Plan,
  { mask = (name) => name, addSecret = () => {} }: DagOptions = {},
): Dag {
  const scopeOf = (vars: Dict) => ({ names: { vars }, strict: true, addSecret });
  const { workflow, vars } = plan;
  const levels = makeLevels(plan.jobs);
  const nameOf = (template: Template, vars: Dict) =>
    mask(renderKnown(template, scopeOf(vars)), vars);
  const stepsOf = (job: Job, outer: Dict): DagStep[] =>
    job.steps.map((step) => {
      const seen = varsOf(step, outer, scopeOf(outer));
      const inside = step.embedded?.job;
      const name = step.name ? nameOf(step.name, seen) : step.action.name;
      return {
        ...(step.id === undefined ? {} : { id: step.id }),
        name: markCleanup(job, step, name),
        uses: step.action.name,
        ...(inside ? { steps: stepsOf(inside, givenVars(step, scopeOf(seen))) } : {}),
      };
    });
  return {
    name: mask(workflow.name, vars),
    jobs: plan.jobs.map((planned) => ({
      id: planned.job.id,
      name: nameOf(planned.job.name, vars),
      needs: planned.needs.map(({ job }) => job.id),
      level: levels.get(planned)!,
      ...tagsOf(workflow.tags, planned.job.tags),
      steps: stepsOf(planned.job, vars),
    })),
  };
}

function tagsOf(shared: readonly string[] = [], own: readonly string[] = []) {
  const tags = [...new Set([...shared, ...own])];
  return tags.length === 0 ? {} : { tags };
}

/** The vars of a step that are known before a run. */
function varsOf(step: Step, outer: Dict, scope: Scope): Dict {
  const { vars } = step;
  const iteration = listedEntries(step);
  if (hasOpenEntries(step)) return {};
  if (!vars && iteration.length === 0) return outer;
  const seen: Record<string, Value> = Object.assign(Object.create(null), outer);
  for (const template of [...(vars ? [vars] : []), ...iteration]) {
    for (const name of namesIn(template)) delete seen[name];
  }
  const own = vars ? evaluateKnown(vars, scope) as Dict : {};
  const changing = new Set(iteration.flatMap(namesIn));
  for (const [name, value] of Object.entries(own)) if (!changing.has(name)) seen[name] = value;
  return seen;
}

/** The vars that a step passes to its embedded job, as far as they are known. */
function givenVars({ with: params }: Step, scope: Scope): Dict {
  const known = evaluateKnown(params, scope) as Dict;
  return isDict(known.vars) ? known.vars : {};
}

function namesIn(template: DataTemplate): string[] {
  if (template.kind === "map") return template.entries.map(([name]) => name);
  return template.kind === "constant" ? Object.keys(template.value as Dict) : [];
}

/**
 * A template as text before anything has run: an expression that cannot be evaluated yet, or that
 * gives nil, stays as it is written.
 */
function renderKnown({ source, parts }: Template, scope: Scope): string {
  let text = "";
  let from = 0;
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      from += part.length;
      continue;
    }
    const end = source.indexOf("}}", part.end) + "}}".length;
    try {
      text += renderText({ source, parts: [part] }, scope);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      text += source.slice(from, end);
    }
    from = end;
  }
  return text;
}
