import type { PageData, PageJob, PageStep } from "../page_data.ts";

/** A row of the waterfall: a job or a step, by its index in the data. */
export interface Row {
  readonly kind: "job" | "step";
  readonly index: number;
  /** From 1, which is a job. */
  readonly level: number;
  /** Whether the rows below it are hidden; absent if there are none. */
  readonly isFolded?: boolean;
  /** Its position among its siblings, from 1, and their number. */
  position: number;
  of: number;
}

/** A job or step, and so the row that shows it. */
export type RowTarget = Pick<Row, "kind" | "index">;

/** Decides which rows are shown. */
export interface RowFilter {
  readonly fits: (step: PageStep, index: number) => boolean;
  readonly fitsJob: (job: PageJob) => boolean;
  readonly isFolded: (target: RowTarget) => boolean;
}

/** Finds the jobs and steps that fit, and the rows that contain them; counts the steps of jobs. */
export function findRows({ jobs, steps }: PageData, filter: RowFilter) {
  const { shown, count } = findSteps(steps, filter.fits);
  const rows: Row[] = [];
  /** The open rows around the next one: their children, and whether those are hidden. */
  const around: { readonly children: Row[]; readonly isHidden: boolean }[] = [
    { children: [], isHidden: false },
  ];
  const groups = [around[0]!.children];
  const addRow = (target: RowTarget, level: number, hasChildren: boolean) => {
    around.length = level;
    const { children, isHidden } = around.at(-1)!;
    const isFolded = hasChildren ? filter.isFolded(target) : undefined;
    around.push({ children: [], isHidden: isHidden || isFolded === true });
    groups.push(around.at(-1)!.children);
    if (isHidden) return;
    const row = { ...target, level, isFolded, position: children.length + 1, of: 0 };
    children.push(row);
    rows.push(row);
  };
  let at = 0;
  for (const [job, each] of jobs.entries()) {
    const first = at;
    while (at < shown.length && steps[shown[at]!]!.job === job) at++;
    const found = shown.slice(first, at);
    if (found.length === 0 && !filter.fitsJob(each)) continue;
    addRow({ kind: "job", index: job }, 1, found.length > 0);
    for (const [position, index] of found.entries()) {
      const { depth } = steps[index]!;
      const next = found[position + 1];
      const hasChildren = next !== undefined && steps[next]!.depth > depth;
      addRow({ kind: "step", index }, depth + 2, hasChildren);
    }
  }
  for (const siblings of groups) {
    for (const row of siblings) row.of = siblings.length;
  }
  return { rows, count };
}

/** The indexes of the steps that fit and of those that contain them. */
function findSteps(steps: PageData["steps"], fits: RowFilter["fits"]) {
  const shown: number[] = [];
  let count = 0;
  let depth = 0;
  // A step comes after those that contain it, so they follow it on the way back.
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index]!;
    if (!fits(step, index) && step.depth >= depth) continue;
    shown.push(index);
    if (step.depth === 0) count += step.runs ?? 1;
    depth = step.depth;
  }
  return { shown: shown.reverse(), count };
}
