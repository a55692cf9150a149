import { didYouMean } from "../../base/text/suggest.ts";
import { jobsBefore } from "../../plan/plan.ts";
import type { Problem } from "../../workflow/problem.ts";
import { isGeneratedId, titleOfJob } from "../../workflow/step_facts.ts";
import { isDict } from "../../base/value/value.ts";
import { holdsTemplate } from "../../expr/template.ts";
import type { Check, CheckedJob, CheckedStep, CheckModel } from "../model.ts";

/** Steps that other steps name, as they stay open: `from` of receive, `on` of websocket. */
export const openStep: Check = {
  codes: [
    {
      code: "unknown-open-step",
      severity: "error",
      summary: "Names a step that does not stay open, or is not open yet.",
    },
  ],
  *find(model) {
    for (const step of model.steps) {
      for (const { id, key, index } of openStepsOf(step)) {
        const problem = problemOf(id, step, model);
        if (!problem) continue;
        const path = [...step.draft.path, "with", key, ...index === undefined ? [] : [index]];
        yield { severity: "error", code: "unknown-open-step", path, ...problem };
      }
    }
  },
};

/** The parameters that name open steps, by action. */
const NAMING: Readonly<Record<string, string>> = { receive: "from", websocket: "on" };

interface Named {
  readonly id: string;
  readonly key: string;
  readonly index?: number;
}

/** The steps that a step names, where this is known before the run. */
export function openStepsOf({ draft: { action }, raw }: CheckedStep): readonly Named[] {
  const key = NAMING[action?.name ?? ""];
  const value = key && isDict(raw.with) ? raw.with[key] : undefined;
  if (key === undefined || value === undefined) return [];
  return [value].flat().flatMap((id, index) =>
    typeof id === "string" && !holdsTemplate(id)
      ? { id, key, ...Array.isArray(value) && { index } }
      : []
  );
}

/** Whether a step stays open until the run ends. */
export function staysOpen({ draft: { action }, raw }: CheckedStep): boolean {
  return action?.staysOpen?.(isDict(raw.with) ? raw.with : {}) ?? false;
}

function problemOf(
  id: string,
  reader: CheckedStep,
  { stepsById, steps, vars }: CheckModel,
): Pick<Problem, "message" | "hint"> | undefined {
  const named = stepsById.get(id);
  if (!named) {
    // A job file may name a step of the job that embeds it.
    if (!vars) return undefined;
    const open = steps.flatMap((step) => staysOpen(step) ? step.draft.id ?? [] : []);
    const list = open.length === 0 ? HOW : `these stay open: ${open.join(", ")}`;
    return { message: `no step has the id "${id}"`, hint: didYouMean(id, open) ?? list };
  }
  // What it is may be unknown.
  if (named.some(({ draft }) => !draft.action)) return undefined;
  const open = named.filter(staysOpen);
  if (open.length === 0) {
    const hint = named.some(({ draft }) => draft.action?.messageFields)
      ? `add "background: true" to its parameters`
      : HOW;
    return { message: `the step "${id}" does not stay open`, hint };
  }
  const { job, draft } = reader;
  if (open.some((step) => step.job === job && step.draft.index < draft.index)) return undefined;
  const before = jobsBefore(job, needsOf);
  if (!before.isSure || open.some((step) => before.jobs.has(step.job))) return undefined;
  const [step] = open;
  if (step!.job === job) {
    return { message: `the step "${id}" is not open yet: it runs after this one` };
  }
  const title = titleOfJob(step!.job.draft);
  return {
    message: `the job "${title}" with the step "${id}" may not have run before this`,
    hint: isGeneratedId(step!.job.draft.id)
      ? "give that job an id, and add the id to the needs of this one"
      : `add it to the needs of this job: needs: [${step!.job.draft.id}]`,
  };
}

const HOW = 'name the id of a step of listen, or of one with "background: true"';

function needsOf({ needs }: CheckedJob): readonly CheckedJob[] | undefined {
  return needs;
}
