import type { Draws } from "../expr/draws.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Job, Workflow } from "../workflow/model.ts";

/** A workflow with its `vars` evaluated and its graph resolved. */
export interface Plan {
  readonly workflow: Workflow;
  /** The workflow's `vars`, evaluated once. */
  readonly vars: Dict;
  /** Values that expressions marked as secret. */
  readonly secrets: readonly Value[];
  /** Where its random functions draw from. */
  readonly draws: Draws;
  /** In the order of the file; those of the workflow that were not chosen are not among them. */
  readonly jobs: readonly PlannedJob[];
  /** Diagnostics of job files that were loaded once the `vars` were known. */
  readonly warnings: readonly Diagnostic[];
}

/** A job with the jobs it waits for. */
export interface PlannedJob {
  readonly job: Job;
  /** The text shown in reports; the template itself if it cannot be evaluated. */
  readonly name: string;
  /** Why the name could not be evaluated. */
  readonly nameError?: unknown;
  readonly needs: readonly PlannedJob[];
  /** Why it is skipped without a look at its `skipif`. */
  readonly skip?: string;
  /** Decides whether it starts; without it, when all its needs passed or were skipped on purpose. */
  readonly startsWhen?: StartCondition;
}

/** Decides by the outcomes of its needs, in their order, whether a job starts. */
export type StartCondition = (needs: readonly NeedOutcome[]) => StartDecision;

/** Whether a job starts, and the reason if it does not. */
export type StartDecision = { readonly starts: true } | {
  readonly starts: false;
  readonly reason: string;
  /** It need not start: those that need it can. */
  readonly onPurpose?: true;
};

/** The outcome of a job that another one needs. */
interface NeedOutcome {
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped";
  /** Skipped because of another job, not on purpose. */
  readonly blocked?: true;
}

/** The condition of jobs that run after any outcome of their needs. */
export const startsAlways: StartCondition = () => ({ starts: true });

/** The condition of jobs that run because another failed. */
export const startsWhenNeedFailed: StartCondition = (needs) =>
  needs.some(({ state, blocked }) => state === "failed" || blocked)
    ? { starts: true }
    : { starts: false, reason: "when: failure, and none of its needs failed", onPurpose: true };

/** The default condition of a job. */
export const startsWhenNeedsSucceed: StartCondition = (needs) => {
  const need = needs.find(({ state, blocked }) => state === "failed" || blocked);
  if (!need) return { starts: true };
  const what = need.state === "failed" ? "failed" : "was skipped";
  return { starts: false, reason: `needs "${need.title}", which ${what}` };
};

/** The jobs that are done before another starts. */
export interface JobsBefore<J> {
  readonly jobs: ReadonlySet<J>;
  /** Whether these are all: the needs on the way are known. */
  readonly isSure: boolean;
}

/** The direct and indirect needs of a job. `needsOf` returns nothing for unknown jobs. */
export function jobsBefore<J>(
  later: J,
  needsOf: (job: J) => readonly J[] | undefined,
): JobsBefore<J> {
  const first = needsOf(later);
  const jobs = new Set(first);
  let isSure = first !== undefined;
  // The set grows while it is walked through.
  for (const job of jobs) {
    const needs = needsOf(job);
    if (!needs) isSure = false;
    for (const need of needs ?? []) jobs.add(need);
  }
  return { jobs, isSure };
}

/** Whether a job of a plan runs in rounds. */
export function hasRounds({ jobs }: Plan): boolean {
  return jobs.some(({ job }) => job.repeat !== undefined || job.load !== undefined);
}
