import { shortenExcerpt } from "../../../base/source.ts";
import type {
  Attempt,
  Failure,
  JobState,
  StepResult,
  StepRun,
  StepTally,
} from "../../../run/event.ts";
import { roundsText } from "../details.ts";
import { criticalPath } from "../../text/time_summary.ts";
import { labelOf } from "../cases.ts";
import type { HistoryRun } from "../history.ts";
import {
  type JobRecord,
  type RoundStats,
  roundStats,
  type RunRecord,
  type StepRecord,
} from "../../record.ts";
import { distributionOf, type PageLoad, pageLoad, type TimeDistribution } from "./load_data.ts";

/** The data of a run that the page shows; times are milliseconds since the run started. */
export interface PageData {
  readonly duration: number;
  readonly jobs: readonly PageJob[];
  readonly steps: readonly PageStep[];
}

/** A run of a history, and its steps where it has a count of them. */
export interface PageHistoryRun
  extends Pick<HistoryRun, "started" | "duration" | "state" | "isPartial" | "steps"> {
  /** The p95 of load jobs and their steps, in milliseconds. */
  readonly loads?: readonly (readonly [name: string, p95: number])[];
}

/** A workflow in the index of a suite. */
export interface IndexEntry {
  readonly state: JobState;
  /** The text to search, in lower case. */
  readonly text: string;
}

/** A job on the page. */
export interface PageJob extends
  Pick<
    JobRecord,
    "id" | "name" | "needs" | "reason" | "duration" | "known" | "failures"
  > {
  readonly state: JobState | "unfinished";
  readonly start?: number;
  /** Its position on the critical path, from 1, if there is more than one job. */
  readonly critical?: number;
  /** The number of its steps that never began. */
  readonly notRun?: number;
  /** The results of its steps in all rounds, as lines of text, if it ran more than once. */
  readonly rounds?: string;
  /** What it did as a load job. */
  readonly load?: PageLoad;
  /** The response times of its steps in all rounds. */
  readonly times?: readonly TimeDistribution[];
  /** The statistics of its rounds. */
  readonly stats?: RoundStats;
}

/** One run of one step, as far as its row shows it. */
export interface PageStep
  extends Pick<StepResult, "name" | "uses" | "state" | "known" | "flaky" | "duration"> {
  /** Index of its job. */
  readonly job: number;
  /** The number of runs that it is an example of. */
  readonly runs?: number;
  /** Unlike that of any other step beside it, and the same in other runs. */
  readonly key: string;
  readonly start: number;
  /** The number of steps that contain it. */
  readonly depth: number;
  /** `api.yml:14`. */
  readonly position?: string;
  /** The phases of the action: names and milliseconds, in order. */
  readonly phases?: readonly (readonly [name: string, duration: number])[];
  /** If there was more than one. */
  readonly attempts?: readonly (readonly [
    start: number,
    duration: number,
    outcome: Attempt["outcome"],
  ])[];
}

/** The details of a step; they are most of the page, so each is parsed when it is shown. */
export type PageDetails = ReturnType<typeof pageDetails>;

/** The jobs of a run as the page shows them. */
export function pageJobs({ jobs, started, warnings }: RunRecord): PageJob[] {
  const critical = jobs.length < 2 ? [] : criticalPath(jobs);
  return jobs.map((job) => {
    const { id, name, needs, state = "unfinished", reason, duration, known } = job;
    const position = critical.indexOf(id);
    return {
      ...{ id, name, needs, state, reason, duration, known },
      start: job.started === undefined ? undefined : job.started - started,
      critical: position < 0 ? undefined : position + 1,
      notRun: countNotRun(job) || undefined,
      ...job.load ? { load: pageLoad(job, warnings, keyOf) } : roundsOf(job),
      failures: job.failures.map(briefFailure),
    };
  });
}

function roundsOf({ tally, rounds = 1 }: JobRecord): Partial<PageJob> {
  if (!tally) return {};
  return {
    stats: roundStats(tally),
    rounds: roundsText(tally.steps, rounds),
    times: timesIn(tally.steps),
  };
}

/** The response times of steps and of those inside of them, if there are several. */
function timesIn(steps: readonly StepTally[]): NonNullable<PageJob["times"]> {
  return steps.flatMap(({ name, times, instant, inside }) => [
    ...instant ? [] : distributionOf(name, times).filter(({ count }) => count > 1),
    ...timesIn(inside),
  ]);
}

/** The steps that never began, or their entries where others did, as the run counts them. */
function countNotRun({ outline, steps, tally, rounds = 1 }: JobRecord): number {
  if (steps.length === 0) return outline.length;
  if (tally) {
    // A row is about the runs of a step that were not skipped, if there are any.
    const skipped = tally.steps.filter(({ first }) => first?.result.state !== "skipped")
      .reduce((sum, { states }) => sum + states.skipped, 0);
    return skipped + (tally.begun < rounds ? outline.length : 0);
  }
  return outline.reduce((sum, { entries }, index) => {
    const ran = steps.filter(({ run }) => run.step === index);
    const last = ran.reduce((last, { run: { entry = 0 } }) => Math.max(last, entry + 1), 0);
    return sum + Math.max(entries ?? (ran.length === 0 ? 1 : 0), last) - ran.length;
  }, 0);
}

/** The time that a run took, up to its last event: milliseconds. */
export function pageDuration({ end, jobs, started }: RunRecord): number {
  if (end) return end.duration;
  const times = jobs.flatMap((job) => [
    (job.started ?? started) + job.duration,
    ...job.steps.map(({ result }) => result.started + result.duration),
  ]);
  return times.reduce((last, time) => Math.max(last, time), started) - started;
}

/** A step and the number of steps that contain it. */
interface NestedStep {
  readonly step: StepRecord;
  readonly depth: number;
}

/** The runs of the steps of a job, each followed by those inside of it. */
export function* flatSteps(steps: readonly StepRecord[], depth = 0): Iterable<NestedStep> {
  for (const step of steps) {
    yield { step, depth };
    yield* flatSteps(step.inside, depth + 1);
  }
}

/** The data of the row of a step; `job` is the index of its job. */
export function pageStep(
  { step: { run, runs, result, position = result.place }, depth }: NestedStep,
  job: number,
  started: number,
): PageStep {
  const { name, uses, state, known, flaky, duration, phases, attempts } = result;
  return {
    job,
    runs,
    key: keyOf(run),
    name: name + labelOf(run.entry, run.round),
    ...{ uses, state, known, flaky },
    start: result.started - started,
    duration,
    depth,
    position: position && `${position.file}:${position.line}`,
    phases: phases && Object.entries(phases),
    attempts: attempts.length < 2
      ? undefined
      : attempts.map((one) => [one.started - started, one.duration, one.outcome] as const),
  };
}

/** The id of a step or its number, with its round and entry: `login`, `3`, `login.r2.e1`. */
export function keyOf({ id, step, round, entry }: StepRun): string {
  return encodeURIComponent(id ?? String(step + 1)) +
    (round === undefined ? "" : `.r${round}`) + (entry === undefined ? "" : `.e${entry + 1}`);
}

/** The details of a step that its row does not show. */
export function pageDetails(result: StepResult) {
  const { responseTime, echo, outputs, tests, assertions } = result;
  const { maxAttempts, retryTime, resent, wait, reason, exchange } = result;
  return {
    ...{ responseTime, echo, outputs, tests, assertions },
    ...{ maxAttempts, retryTime, resent, wait, reason },
    failures: result.failures.map(briefFailure),
    attempts: result.attempts.length < 2 ? undefined : result.attempts.map(briefAttempt),
    exchange,
  };
}

function briefAttempt({ detail, ...attempt }: Attempt): Attempt {
  if (!detail) return attempt;
  return { ...attempt, detail: { ...detail, failures: detail.failures.map(briefFailure) } };
}

const LONGEST_LINE = 1000;

/** A file may be one line of megabytes, and each failure in it would contain all of that. */
export function briefFailure(failure: Failure): Failure {
  const { place: location } = failure;
  return location ? { ...failure, place: shortenExcerpt(location, LONGEST_LINE) } : failure;
}
