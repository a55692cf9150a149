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

/** One line for each job and each step: its name, its id, and what a job needs. */
function renderList({ jobs }: Dag, plan: Plan): string {
  const planned = new Map(plan.jobs.map((one) => [one.job.id, one]));
  const rows = jobs.flatMap(({ id, name, steps, tags }): readonly Row[] => {
    const { skip, needs: needed } = planned.get(id)!;
    const needs = idsOfNeeds(needed);
    const remarks = [
      ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`]),
      ...(tags ? [`tags ${tags.join(", ")}`] : []),
      ...(skip === undefined ? [] : [`skipped: ${skip}`]),
    ];
    return [[shown(name), shown(id), shown(remarks.join("; "))], ...stepRows(steps, "  ")];
  });
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => widthOf(row[column]!))));
  return rows.map((row) =>
    row.map((text, column) =>
      text + " ".repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(text)))
    ).join("  ").trimEnd() + "\n"
  ).join("");
}

type Row = readonly [name: string, id: string, remarks: string];

function stepRows(steps: readonly DagStep[], indent: string): readonly Row[] {
  return steps.flatMap(({ id = "", name, steps: inner = [] }): readonly Row[] => [
    [indent + shown(name), shown(id), ""],
    ...stepRows(inner, `${indent}  `),
  ]);
}

/** A longer text widens no column. */
const WIDEST = 50;

function widthOf(text: string): number {
  const width = displayWidth(text);
  return width <= WIDEST ? width : 0;
}

/** A text on one line, with visible control characters. */
export function shown(text: string): string {
  return printable(oneLine(text));
}
