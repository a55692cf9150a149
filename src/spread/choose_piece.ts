import type { Plan, PlannedJob } from "../plan/plan.ts";
import { jobHint, matchJobs } from "../plan/select_jobs.ts";
import type { PiecePart } from "../run/event.ts";
import { RunnerError, UsageError } from "../base/errors.ts";
import { didYouMean, firstNames } from "../base/text/suggest.ts";
import { membersOfShard } from "../suite/divide_suite.ts";
import type { Shard } from "../suite/suite.ts";
import type { Job } from "../workflow/model.ts";
import { titleOfJob } from "../workflow/step_facts.ts";
import { MAX_PARTS } from "./piece_events.ts";
import type { RunFile, RunFileWorkflow } from "./run_file.ts";

/** The part of a run that the command line selects. */
export interface PieceChoice {
  /** Ids, names or patterns of jobs; of a suite, files or names of workflows. */
  readonly only: readonly string[];
  /** The `finally` of the workflow, or the setup or teardown of the suite, instead. */
  readonly stage?: "finally" | "setup" | "teardown";
  /** A part of the rounds of the only job: `2/8`. */
  readonly rounds?: string;
  /** A share of the workflows of a suite. */
  readonly shard?: Shard;
}

/** The jobs of a piece of a workflow. Throws UsageError and RunnerError. */
export function choosePiece(
  { jobs }: Plan,
  { only, stage, rounds }: PieceChoice,
): { readonly chosen: ReadonlySet<PlannedJob>; readonly part?: PiecePart } {
  if (stage === "finally") {
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

/** The workflows of a piece of a suite. Throws UsageError and RunnerError. */
export function chooseWorkflows(
  { workflows }: RunFile,
  { only, stage, shard }: PieceChoice,
): readonly RunFileWorkflow[] {
  const ofStage = workflows.filter(({ role }) => role === stage);
  if (stage !== undefined) {
    if (ofStage.length > 0) return ofStage;
    throw new RunnerError(`the suite has no ${stage} that --${stage} could run`);
  }
  const all = ofStage.map((workflow) => ({ ...workflow, path: workflow.workflow.file }));
  if (shard) return membersOfShard(all, shard);
  const files = [...new Set(all.flatMap(({ path, name }) => [path, name]))];
  for (const file of only) {
    if (files.includes(file)) continue;
    throw new UsageError(
      `option --only: the suite has no workflow "${file}"`,
      didYouMean(file, files) ?? `the workflows are ${firstNames(files)}`,
    );
  }
  return all.filter(({ path, name }) => only.includes(path) || only.includes(name));
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
