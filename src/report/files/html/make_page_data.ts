import { shortenExcerpt } from "../../../source/source.ts";
import type { Failure, StepResult } from "../../../run/event.ts";
import { printable } from "../../../source/printable.ts";
import { criticalPath } from "../../model/critical_path.ts";
import { renderRounds } from "../../text/render_rounds.ts";
import { addToTally, makeRoundTally } from "../../model/round_tally.ts";
import { PLAIN } from "../../style.ts";
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
    failures: job.failures.map(briefFailure),
  }));
}

/** How long a run took, as far as it came: milliseconds. */
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

/** What the row of a step shows; `job` is the index of its job. */
export function pageStep(
  { step: { run, result, place = result.place }, depth }: PlacedStep,
  job: number,
  started: number,
): PageStep {
  const { name, uses, state, duration, attempts } = result;
  return {
    job,
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

/** The same as JSON, which omits undefined values. */
type ToldDetails = {
  readonly [K in Exclude<keyof PageDetails, "exchange">]-?: PageDetails[K] | undefined;
};

/** Everything that the row of a step does not show, but for its exchange. */
export function pageDetails(result: StepResult): ToldDetails {
  return {
    responseTime: result.responseTime,
    echo: result.echo,
    untested: result.untested,
    untestedInside: result.untestedInside,
    outputs: result.outputs,
    test: result.test,
    maxAttempts: result.maxAttempts,
    wait: result.wait,
    reason: result.reason,
    failures: result.failures.map(briefFailure),
    attempts: result.attempts.length < 2 ? undefined : result.attempts,
  };
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
