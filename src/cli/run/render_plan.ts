import { displayWidth } from "../../base/text/display_width.ts";
import { oneLine, printable } from "../../base/text/printable.ts";
import type { Dict } from "../../base/value/value.ts";
import { type Dag, type DagOptions, type DagStep, makeDag } from "../../dag/dag.ts";
import { idsOfNeeds, type Plan } from "../../plan/plan.ts";
import { addSecretsOf, addSecretValue } from "../../secrets/find_secrets.ts";
import type { Masker } from "../../secrets/masker.ts";
import type { PlanOptions } from "../../suite/load_plan.ts";
import { renderDryRun } from "./dry_run.ts";

/** The text of `--list` for a plan that is an outline, of `--dry-run` for any other. */
export function renderPlan(
  plan: Plan,
  { isOutline, environment }: PlanOptions,
  secrets: Masker,
): string {
  if (isOutline) return renderList(makeDag(plan, makeNameMask(plan, secrets)), plan);
  return renderDryRun(plan, environment, secrets);
}

/**
 * Masks secrets in the names of jobs and steps, also those in the `vars` around them and those that
 * expressions name. The masker learns them.
 */
export function makeNameMask({ secrets }: Plan, masker: Masker): Required<DagOptions> {
  const addSecret: DagOptions["addSecret"] = (value) => addSecretValue(value, masker);
  for (const value of secrets) addSecret(value);
  const known = new Set<Dict>();
  return {
    addSecret,
    mask(name, vars) {
      if (!known.has(vars)) addSecretsOf(vars, masker);
      known.add(vars);
      return masker.mask(name);
    },
  };
}

/** One line for each job and each step: its id, its name, and what a job needs. */
function renderList({ jobs }: Dag, plan: Plan): string {
  const planned = new Map(plan.jobs.map((one) => [one.job.id, one]));
  const width = widthOf(jobs);
  const lines = jobs.flatMap(({ id, name, steps, tags }) => {
    const { skip, needs: needed } = planned.get(id)!;
    const needs = idsOfNeeds(needed);
    const remarks = [
      ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`]),
      ...(tags ? [`tags ${tags.join(", ")}`] : []),
      ...(skip === undefined ? [] : [`skipped: ${skip}`]),
    ];
    const remark = remarks.length === 0 ? "" : `  (${shown(remarks.join("; "))})`;
    return [`${pad(id, width)}  ${shown(name)}${remark}`, ...stepLines(steps, "  ")];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function stepLines(steps: readonly DagStep[], indent: string): string[] {
  const width = widthOf(steps);
  return steps.flatMap(({ id, name, steps: inner }) => [
    `${indent}${pad(id ?? NO_ID, width)}  ${shown(name)}`,
    ...stepLines(inner ?? [], `${indent}  `),
  ]);
}

/** Shown where a step has no id. */
const NO_ID = "-";
/** An id that is longer than this is on its own. */
const WIDEST = 30;

function widthOf(items: readonly { readonly id?: string }[]): number {
  const widths = items.map(({ id = NO_ID }) => displayWidth(shown(id)));
  return Math.max(...widths.filter((width) => width <= WIDEST), 1);
}

function pad(id: string, width: number): string {
  const text = shown(id);
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

/** A text on one line, with visible control characters. */
export function shown(text: string): string {
  return printable(oneLine(text));
}
