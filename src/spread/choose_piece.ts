import type { Plan, PlannedJob } from "../plan/plan.ts";
import { jobHint, matchJobs, selectJobs } from "../plan/select_jobs.ts";
import type { PiecePart } from "../run/event.ts";
import { RunnerError, UsageError } from "../base/errors.ts";
import type { Job } from "../workflow/model.ts";
import { titleOfJob } from "../workflow/step_facts.ts";
import { MAX_PARTS } from "./piece_events.ts";
import type { RunFile } from "./run_file.ts";

/** The plan of the whole run: the jobs that were chosen when it was prepared. */
export function planOfRun(plan: Plan, { jobs }: Pick<RunFile, "jobs">): Plan {
  const byId = new Map(plan.jobs.map((planned) => [planned.job.id, planned]));
  const chosen = jobs.flatMap(({ id }) => byId.get(id) ?? []);
  const skipped = jobs.flatMap(({ id, skip }) => skip ? byId.get(id) ?? [] : []);
  const selection = { only: new Set(chosen), withNeeds: false, skip: new Set(skipped) };
  const selected = selectJobs(plan, selection);
  const ids = new Set(jobs.map(({ id }) => id));
  return { ...selected, jobs: selected.jobs.filter(({ job }) => ids.has(job.id)) };
}

/** The part of a run that the command line selects. */
export interface PieceChoice {
  /** Ids, names or patterns of jobs. */
  readonly only: readonly string[];
  /** The `finally` of the workflow instead. */
  readonly isFinally: boolean;
  /** A part of the rounds of the only job: `2/8`. */
  readonly rounds: string | undefined;
}

/** The jobs of a piece. Throws UsageError and RunnerError. */
export function choosePiece(
  { jobs }: Plan,
  { only, isFinally, rounds }: PieceChoice,
): { readonly chosen: ReadonlySet<PlannedJob>; readonly part?: PiecePart } {
  if (isFinally) {
    const last = jobs.filter(({ job }) => job.isCleanup);
    if (last.length > 0) return { chosen: new Set(last) };
    throw new RunnerError("the workflow has no finally that --finally could run");
  }
  const others = jobs.filter(({ job }) => !job.isCleanup);
  const wanted = new Set(only.flatMap((word) => {
    const found = matchJobs(others, word);
    if (found.length > 0) return found;
    throw new UsageError(`option --only: the run has no job "${word}"`, jobHint(others, word));
  }));
  const chosen = new Set(others.filter((job) => wanted.has(job)));
  if (rounds === undefined) return { chosen };
  const part = readPart(rounds);
  const [one, ...rest] = chosen;
  if (!one || rest.length > 0) {
    throw new UsageError("option --rounds splits one job", "choose a single job with --only");
  }
  checkSplittable(one.job);
  // The only part is the whole job, which decides its own `expect`.
  return part.of === 1 ? { chosen } : { chosen, part };
}

/** The plan of a piece: some jobs, which may need others that are not in it. */
export function planOfPiece(whole: Plan, chosen: ReadonlySet<PlannedJob>): Plan {
  return { ...whole, jobs: whole.jobs.filter((job) => chosen.has(job)) };
}

/** Reads `2/8`. Throws UsageError. */
function readPart(text: string): PiecePart {
  const [, index, of] = /^([1-9]\d{0,2})\/([1-9]\d{0,2})$/.exec(text)?.map(Number) ?? [];
  if (index !== undefined && of !== undefined && index <= of && of <= MAX_PARTS) {
    return { index, of };
  }
  throw new UsageError(
    `option --rounds must be a part and how many there are, not "${text}"`,
    `write --rounds 2/8 for the second of eight parts; there may be ${MAX_PARTS}`,
  );
}

/** Checks that the rounds of a job can run in several processes. Throws RunnerError. */
export function checkSplittable(job: Job): void {
  const { repeat, load } = job;
  const title = titleOfJob(job);
  if (load?.together) {
    throw new RunnerError(
      `the rounds of "${title}" cannot be split: they begin at one moment`,
      "run them in one process, or leave out its together",
    );
  }
  if (load) return;
  if (!repeat) {
    throw new RunnerError(
      `the job "${title}" has no repeat or load, and no rounds that could be split`,
    );
  }
  if (!repeat.async) {
    throw new RunnerError(
      `the rounds of "${title}" run one after the other and cannot be split`,
      "rounds that run at once can: repeat: { async: true }",
    );
  }
}
