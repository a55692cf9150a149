import { didYouMean } from "../base/text/suggest.ts";
import type { Plan, PlannedJob } from "./plan.ts";

/** The part of a plan to run. */
export interface Selection {
  /** All jobs where it is not given. */
  readonly only?: ReadonlySet<PlannedJob>;
  /** Whether what these jobs need comes along. */
  readonly withNeeds: boolean;
  /** Jobs that are skipped as if their `skipif` were true. */
  readonly skip: ReadonlySet<PlannedJob>;
}

/**
 * The selected part of a plan, with the cleanup jobs. In place of a job that was not selected, its
 * jobs wait for the jobs that it would have waited for.
 */
export function selectJobs(plan: Plan, { only, withNeeds, skip }: Selection): Plan {
  const wanted = only && withNeeds ? withTheirNeeds(only) : only ?? new Set(plan.jobs);
  const chosen = new Set([...wanted, ...plan.jobs.filter(({ job }) => job.isCleanup)]);
  const copies = new Map(
    plan.jobs.filter((job) => chosen.has(job)).map((job) => {
      const needs: PlannedJob[] = [];
      return [job, { ...job, needs, ...(skip.has(job) ? { skip: "--skip" } : {}) }];
    }),
  );
  for (const [job, { needs }] of copies) {
    // A set that grows is walked to its end.
    const before = new Set(job.needs);
    for (const need of before) {
      const copy = copies.get(need);
      if (copy) needs.push(copy);
      else for (const earlier of need.needs) before.add(earlier);
    }
  }
  return { ...plan, jobs: [...copies.values()] };
}

function withTheirNeeds(jobs: Iterable<PlannedJob>): ReadonlySet<PlannedJob> {
  // A set that grows is walked to its end.
  const all = new Set(jobs);
  // Cleanup jobs run after the others without needing them.
  for (const { job, needs } of all) if (!job.isCleanup) { for (const need of needs) all.add(need); }
  return all;
}

/**
 * The jobs with that id or name; where there are none, those whose id or name fits it as a
 * pattern: `*` is any text, `?` one character, `[ab]` one of those and `[!ab]` none of them.
 */
export function matchJobs(jobs: readonly PlannedJob[], wanted: string): readonly PlannedJob[] {
  const same = jobs.filter((planned) => namesOf(planned).includes(wanted));
  if (same.length > 0 || !/[*?[]/.test(wanted)) return same;
  const pattern = globPattern(wanted);
  return jobs.filter((planned) => namesOf(planned).some((name) => pattern.test(name)));
}

/** The error for a selected job that does not exist. */
export function jobHint(jobs: readonly PlannedJob[], wanted: string): string {
  const ids = jobs.map(({ job }) => job.id);
  const some = ids.slice(0, 10).join(", ") + (ids.length > 10 ? ", …" : "");
  return didYouMean(wanted, jobs.flatMap(namesOf)) ?? `the jobs are ${some}`;
}

/** All by which a job can be chosen. */
function namesOf({ job, name }: PlannedJob): readonly string[] {
  return [...new Set([job.id, name, job.name.source])];
}

function globPattern(glob: string): RegExp {
  const source = glob.replace(/\*+|\?|\[(!?)([^\]]+)\]|[\s\S]/g, (part, not, set) => {
    if (part.startsWith("*")) return "[^]*";
    if (part === "?") return "[^]";
    if (set !== undefined) return `[${not ? "^" : ""}${set.replace(/[\\\]^]/g, "\\$&")}]`;
    return part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  });
  try {
    return new RegExp(`^${source}$`, "u");
  } catch {
    // A range that runs backwards, like [z-a], fits nothing.
    return /(?!)/;
  }
}
