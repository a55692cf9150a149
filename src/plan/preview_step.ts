import { type Dict, isDict, merge, type Value } from "../base/value/value.ts";
import type { Step } from "../workflow/model.ts";
import { fieldsOf, type Knowledge, knownValue, type Preview, previewData } from "./preview.ts";

/** A step before it runs, with one run for each entry of its iteration. */
export interface StepPreview {
  readonly step: Step;
  /** The values known in all of its runs. */
  readonly known: Knowledge;
  /** The vars that it adds to those of the workflow. */
  readonly vars?: Preview;
  readonly runs: readonly RunPreview[];
}

export interface RunPreview {
  /** The vars that its entry adds to those of the step. */
  readonly vars?: Preview;
  readonly with: Preview;
  /** The steps of the job that it embeds. */
  readonly inside?: readonly StepPreview[];
}

/** A step as far as it is known. */
export function previewStep(step: Step, before: Knowledge): StepPreview {
  const vars = step.vars && previewData(step.vars, before);
  const known = vars ? learnVars(before, vars) : before;
  const preview = { step, vars };
  const { iteration } = step;
  if (!iteration || iteration.kind === "loop") {
    return { ...preview, known, runs: [previewRun(step, known)] };
  }
  if (iteration.kind !== "list") {
    const open = withoutVars(known);
    return { ...preview, known: open, runs: [previewRun(step, open)] };
  }
  const entries = iteration.entries.map((entry) => previewData(entry, known));
  const runs = entries.map((entry) => ({
    vars: entry,
    ...previewRun(step, learnVars(known, entry)),
  }));
  return { ...preview, known: forgetVars(known, entries.flatMap(keysOf)), runs };
}

function previewRun({ with: template, embedded }: Step, known: Knowledge): RunPreview {
  const params = previewData(template, known);
  if (!embedded) return { with: params };
  const vars = fieldsOf(params).find(([name]) => name === "vars")?.[1] ?? NO_VARS;
  // If even the names of the vars are unknown, nothing can be evaluated.
  const names = { repeat_index: 0, ...(vars.kind === "text" ? {} : { vars: {} }) };
  const nothing = { scope: { names, strict: true }, openVars: new Set<string>() };
  const within = learnVars(nothing, vars);
  return { with: params, inside: embedded.job.steps.map((step) => previewStep(step, within)) };
}

const NO_VARS: Preview = { kind: "value", value: {} };

/** The known values after vars have been added; vars whose values are still open are not known. */
export function learnVars(known: Knowledge, added: Preview): Knowledge {
  if (!Object.hasOwn(known.scope.names, "vars")) return known;
  const vars: Record<string, Value> = Object.assign(Object.create(null), known.scope.names.vars);
  const openVars = new Set(known.openVars);
  for (const [key, field] of fieldsOf(added)) {
    const value = knownValue(field);
    if (value === undefined || isDict(value) && openVars.has(key)) {
      delete vars[key];
      openVars.add(key);
    } else {
      vars[key] = merge(vars[key] ?? null, value);
      openVars.delete(key);
    }
  }
  return withVars(known, vars, openVars);
}

/** The values known in all runs, where some vars differ in each. */
function forgetVars(known: Knowledge, names: readonly string[]): Knowledge {
  const vars = Object.assign(Object.create(null), known.scope.names.vars);
  for (const name of names) delete vars[name];
  return withVars(known, vars, new Set([...known.openVars, ...names]));
}

/** The values known where any var may be replaced. */
function withoutVars({ scope, openVars }: Knowledge): Knowledge {
  const { vars: _, ...names } = scope.names;
  return { scope: { ...scope, names }, openVars };
}

function withVars(known: Knowledge, vars: Dict, openVars: ReadonlySet<string>): Knowledge {
  const { scope } = known;
  return { scope: { ...scope, names: { ...scope.names, vars } }, openVars };
}

function keysOf(preview: Preview): string[] {
  return fieldsOf(preview).map(([key]) => key);
}
