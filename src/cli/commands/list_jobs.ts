import type { Dag, DagStep } from "../../dag/dag.ts";
import type { Plan } from "../../plan/plan.ts";
import { displayWidth } from "../../source/display_width.ts";
import { printableLine } from "../../source/printable.ts";

/** One line for each job and each step: its id, its name, and what a job needs. */
export function renderList({ jobs }: Dag, plan: Plan): string {
  const skipped = new Map(plan.jobs.map(({ job, skip }) => [job.id, skip]));
  const width = widthOf(jobs);
  const lines = jobs.flatMap(({ id, name, needs, steps }) => {
    const skip = skipped.get(id);
    const remarks = [
      ...(needs.length === 0 ? [] : [`needs ${needs.join(", ")}`]),
      ...(skip === undefined ? [] : [`skipped: ${skip}`]),
    ];
    const remark = remarks.length === 0 ? "" : `  (${remarks.join("; ")})`;
    return [`${pad(id, width)}  ${oneLine(name)}${oneLine(remark)}`, ...stepLines(steps, "  ")];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function stepLines(steps: readonly DagStep[], indent: string): string[] {
  const width = widthOf(steps);
  return steps.flatMap(({ id, name, steps: inner }) => [
    `${indent}${pad(id ?? NO_ID, width)}  ${oneLine(name)}`,
    ...stepLines(inner ?? [], `${indent}  `),
  ]);
}

/** Stands where a step has no id. */
const NO_ID = "-";
/** An id that is longer than this is on its own. */
const WIDEST = 30;

function widthOf(items: readonly { readonly id?: string }[]): number {
  const widths = items.map(({ id = NO_ID }) => displayWidth(oneLine(id)));
  return Math.max(...widths.filter((width) => width <= WIDEST), 1);
}

function pad(id: string, width: number): string {
  const text = oneLine(id);
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

function oneLine(text: string): string {
  return printableLine(text.replace(/\s*\n\s*/g, " "));
}
