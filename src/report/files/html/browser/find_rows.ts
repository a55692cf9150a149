import type { PageData, PageJob, PageStep } from "../page_data.ts";

/** A row of the waterfall: a job or a step, by its index in the data. */
export interface Row {
  readonly kind: "job" | "step";
  readonly index: number;
  /** From 1, which is a job. */
  readonly level: number;
  /** Whether what is below it is hidden; absent where nothing is below it. */
  readonly isFolded?: boolean;
  /** Its position among its siblings, from 1, and their number. */
  readonly position: number;
  readonly of: number;
}

/** The rows to show. */
export interface Wish {
  readonly fits: (step: PageStep, index: number) => boolean;
  readonly fitsJob: (job: PageJob) => boolean;
  readonly isFolded: (kind: Row["kind"], index: number) => boolean;
}

/** The rows to show, and the number of steps among them. */
export interface FoundRows {
  readonly rows: readonly Row[];
  readonly count: number;
}

/** Finds rows: jobs and steps that fit, and what those are in. */
export function findRows({ jobs, steps }: PageData, { fits, fitsJob, isFolded }: Wish): FoundRows {
  let count = 0;
  const isKept = new Array<boolean>(steps.length).fill(false);
  const jobsWithSteps = new Set<number>();
  // Containers of a step come before it, so a backward search meets them next.
  let depth = 0;
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index]!;
    const isFit = fits(step, index);
    if (isFit) count++;
    if (!isFit && step.depth >= depth) continue;
    isKept[index] = true;
    depth = step.depth;
    jobsWithSteps.add(step.job);
  }

  type Draft = { -readonly [Key in keyof Row]: Row[Key] };
  const rows: Draft[] = [];
  /** The open rows around the next one: each, if it is shown, and those just below it. */
  const around: { below: Draft[]; isHidden: boolean }[] = [];
  const root: Draft[] = [];
  const add = (kind: Row["kind"], index: number, level: number, hasMore: boolean) => {
    around.length = level - 1;
    const parent = around.at(-1);
    const isHidden = parent?.isHidden ?? false;
    const folded = hasMore && isFolded(kind, index);
    const row: Draft = { kind, index, level, position: 0, of: 0 };
    if (hasMore) row.isFolded = folded;
    around.push({ below: [], isHidden: isHidden || folded });
    if (isHidden) return;
    (parent?.below ?? root).push(row);
    rows.push(row);
  };
  const groups: Draft[][] = [root];
  let at = 0;
  jobs.forEach((job, index) => {
    const first = at;
    while (at < steps.length && steps[at]!.job === index) at++;
    if (!jobsWithSteps.has(index) && !fitsJob(job)) return;
    const kept: number[] = [];
    for (let step = first; step < at; step++) if (isKept[step]) kept.push(step);
    add("job", index, 1, kept.length > 0);
    groups.push(around[0]!.below);
    kept.forEach((step, place) => {
      const { depth } = steps[step]!;
      const next = kept[place + 1];
      const hasMore = next !== undefined && steps[next]!.depth > depth;
      add("step", step, depth + 2, hasMore);
      if (hasMore) groups.push(around.at(-1)!.below);
    });
  });
  for (const group of groups) {
    group.forEach((row, place) => {
      row.position = place + 1;
      row.of = group.length;
    });
  }
  return { rows, count };
}
