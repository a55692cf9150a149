import { criticalPath } from "../../critical_path.ts";
import type { JobRecord, RunRecord, StepRecord } from "../run_record.ts";
import type { PageJob, PageStep } from "./page_data.ts";

/** The jobs of a run as the page shows them. */
export function pageJobs({ jobs, started }: RunRecord): PageJob[] {
  const critical = new Set(criticalPath(jobs));
  return jobs.map((job) => ({
    id: job.id,
    name: job.name,
    needs: job.needs,
    state: job.state ?? "unfinished",
    ...job.reason === undefined ? {} : { reason: job.reason },
    ...job.started === undefined ? {} : { start: job.started - started },
    duration: job.duration,
    critical: critical.has(job.id),
    failures: job.failures,
  }));
}

/** The runs of the steps of a job, each followed by those inside of it. */
export function* pageSteps(
  { steps }: JobRecord,
  job: number,
  { started }: RunRecord,
): Iterable<PageStep> {
  for (const step of steps) yield* withInside(step, job, started, 0);
}

function* withInside(
  { run, result, place, inside }: StepRecord,
  job: number,
  started: number,
  depth: number,
): Iterable<PageStep> {
  const { name, state, duration, flaky = false } = result;
  const where = [
    ...run.entry === undefined ? [] : [`entry ${run.entry}`],
    ...run.round === undefined ? [] : [`round ${run.round}`],
  ];
  yield {
    job,
    name: where.length === 0 ? name : `${name} [${where.join(", ")}]`,
    state,
    flaky,
    start: result.started - started,
    duration,
    depth,
    ...place ? { place: `${place.file}:${place.line}` } : {},
    result,
  };
  for (const step of inside) yield* withInside(step, job, started, depth + 1);
}
