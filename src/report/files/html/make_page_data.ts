import { shortenExcerpt } from "../../../base/source.ts";
import type { Attempt, Failure, StepResult, StepRun } from "../../../run/event.ts";
import { printable } from "../../../base/text/printable.ts";
import { criticalPath } from "../../text/time_summary.ts";
import { renderRounds } from "../../text/render_rounds.ts";
import { addToTally, makeRoundTally } from "../../model/round_tally.ts";
import { PLAIN } from "../../reporter.ts";
import { labelOf } from "../cases.ts";
import type { JobRecord, RunRecord, StepRecord } from "../run_record.ts";
import type { PageDetails, PageJob, PageStep } from "./page_data.ts";

const LONGEST_LINE = 1000;

/** The jobs of a run as the page shows them. */
export function pageJobs({ jobs, started }: RunRecord): PageJob[] {
  const critical = jobs.length < 2 ? [] : criticalPath(jobs);
  const places = new Map(critical.map((id, place) => [id, place + 1]));
  return jobs.map((job) => ({
    id: job.id,
    name: job.name,
    needs: job.needs,
    state: job.state ?? "unfinished",
    ...job.reason === undefined ? {} : { reason: job.reason },
    ...job.started === undefined ? {} : { start: job.started - started },
    duration: job.duration,
    ...places.has(job.id) ? { critical: places.get(job.id)! } : {},
    ...job.rounds === undefined ? {} : { rounds: roundsText(job, job.rounds) },
    ...job.expect === undefined ? {} : { expect: job.expect },
    ...job.stats ? { stats: job.stats } : {},
    failures: job.failures.map(briefFailure),
  }));
}

/** The time that a run took, up to its last event: milliseconds. */
export function pageDuration({ end, jobs, started }: RunRecord): number {
  if (end) return end.duration;
  let last = started;
  for (const job of jobs) {
    last = Math.max(last, (job.started ?? started) + job.duration);
    for (const { result } of job.steps) last = Math.max(last, result.started + result.duration);
  }
  return last - started;
}

/** A step with how many steps it runs inside of. */
export interface PlacedStep {
  readonly step: StepRecord;
  readonly depth: number;
}

/** The runs of the steps of a job, each followed by those inside of it. */
export function* flatSteps(steps: readonly StepRecord[], depth = 0): Iterable<PlacedStep> {
  for (const step of steps) {
    yield { step, depth };
    if (step.inside.length > 0) yield* flatSteps(step.inside, depth + 1);
  }
}

/** The data of the row of a step; `job` is the index of its job. */
export function pageStep(
  { step: { run, result, place = result.place }, depth }: PlacedStep,
  job: number,
  started: number,
): PageStep {
  const { name, uses, state, duration, attempts } = result;
  return {
    job,
    key: keyOf(run),
    name: name + labelOf(run.entry, run.round),
    uses,
    state,
    flaky: result.flaky,
    start: result.started - started,
    duration,
    depth,
    place: place && `${place.file}:${place.line}`,
    phases: result.phases && Object.entries(result.phases),
    attempts: attempts.length < 2
      ? undefined
      : attempts.map((one) => [one.started - started, one.duration, one.outcome] as const),
  };
}

/** The id of a step or its number, with its round and entry: `login`, `3`, `login.r2.e1`. */
function keyOf({ id, step, round, entry }: StepRun): string {
  return encodeURIComponent(id ?? String(step + 1)) +
    (round === undefined ? "" : `.r${round}`) + (entry === undefined ? "" : `.e${entry + 1}`);
}

/** The same as JSON, which omits undefined values. */
type JsonDetails = {
  readonly [K in Exclude<keyof PageDetails, "attempts" | "exchange">]-?: PageDetails[K] | undefined;
};

/** Everything that the row of a step does not show, but for its exchange and its attempts. */
export function pageDetails(result: StepResult): JsonDetails {
  return {
    responseTime: result.responseTime,
    echo: result.echo,
    untested: result.untested,
    untestedInside: result.untestedInside,
    outputs: result.outputs,
    tests: result.tests,
    assertions: result.assertions,
    maxAttempts: result.maxAttempts,
    wait: result.wait,
    reason: result.reason,
    failures: result.failures.map(briefFailure),
  };
}

/** The attempts of a step where there was more than one. */
export function pageAttempts(attempts: readonly Attempt[]): readonly Attempt[] | undefined {
  if (attempts.length < 2) return undefined;
  return attempts.map(({ detail, ...attempt }) =>
    detail
      ? { ...attempt, detail: { ...detail, failures: detail.failures.map(briefFailure) } }
      : attempt
  );
}

/** A file may be one line of megabytes, and each failure in it would contain all of that. */
export function briefFailure(failure: Failure): Failure {
  const { place } = failure;
  return place ? { ...failure, place: shortenExcerpt(place, LONGEST_LINE) } : failure;
}

function roundsText({ steps }: JobRecord, rounds: number): string {
  const tally = makeRoundTally();
  for (const step of steps) addToTally(tally, step);
  return printable(renderRounds(tally, rounds, { timing: false, style: PLAIN }).join("\n"));
}
