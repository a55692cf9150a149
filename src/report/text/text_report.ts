import { oneLine } from "../../base/text/printable.ts";
import type { LoadSecond, RunFinished } from "../../run/event.ts";
import type { Change, JobRecord, RunRecord } from "../record.ts";
import { PROGRESS_TIME, type Reporter, type ReportOptions } from "../reporter.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { jobIcon, runHeader } from "./layout.ts";
import { asText, roomOf } from "./lines.ts";
import { failedParts } from "../failed_parts.ts";
import type { TextOptions } from "./late_texts.ts";
import type { FailureEntry } from "./render_failure.ts";
import { renderSummary, totalRows } from "./summary.ts";
import { type JobWriter, writeAtOnce, writeFailures } from "./write_jobs.ts";

/** The lines of a report: those of its jobs, and those around them. */
interface ReportParts {
  readonly jobs: JobWriter;
  start?(run: RunRecord): string[];
  /** `failures` are those of all jobs, in the order of the file. */
  end(event: RunFinished, failures: readonly FailureEntry[], run: RunRecord): string[];
}

/** The report that people read. */
export function textReport(options: TextOptions, jobs = writeAtOnce(options)): Reporter {
  const { style, columns, late } = options;
  return reportOfParts(options, {
    jobs,
    start: ({ name, description }) => runHeader(name, description, style),
    end: (event, failures) => [
      ...failures.length > 0
        ? late.all.renderFailureList(failures, style, roomOf(columns?.()))
        : [],
      ...runSummary(event, options),
    ],
  });
}

/** The rows at the end of a run. */
function runSummary(event: RunFinished, { style, columns }: ReportOptions): string[] {
  return renderSummary(totalRows("Jobs", event, style), style, roomOf(columns?.()));
}

/** Reports failures, and the summary below the name of the workflow. */
export function quietReport(options: TextOptions): Reporter {
  return reportOfParts(options, {
    jobs: writeFailures(options),
    end: (event, _failures, { name }) => [
      `${jobIcon(event.state, options.style)} ${options.style.bold(oneLine(name))}`,
      ...runSummary(event, options),
    ],
  });
}

/** Reports one run by these parts. */
export function reportOfParts(
  { style, timing, columns, late }: TextOptions,
  { jobs, start, end }: ReportParts,
): Reporter {
  const times = timing ? new late.all.TimeSummary() : undefined;
  /** Of load jobs, the seconds that no line has shown. */
  const secondsOf = new Map<JobRecord, LoadSecond[]>();
  const failuresOf = new Map<JobRecord, FailureEntry[]>();
  const underWay = new JobsUnderWay();

  function showSecond(job: JobRecord, second: LoadSecond): string[] {
    if (!jobs.progress) return [];
    const seconds = secondsOf.getOrInsertComputed(job, () => []);
    // A second comes from each process; a line is about whole ones.
    const isDue = seconds.length > 0 && second.from >= seconds[0]!.from + PROGRESS_TIME;
    const shown = isDue ? seconds.splice(0) : [];
    seconds.push(second);
    if (!isDue) return [];
    const text = late.all.renderSeconds(shown);
    return jobs.progress(job, text, `${oneLine(job.name)}: ${text}`);
  }

  function endJob(job: JobRecord, { id }: RunRecord): string[] {
    const parts = failedParts(job);
    if (parts.length > 0) {
      failuresOf.set(job, parts.flatMap((part) => late.all.failureEntries(part, id)));
    }
    return jobs.end(job);
  }

  function linesOf({ event, run, job, step }: Change): string[] {
    if (!run) return [];
    if (job && step) return jobs.endStep(job, step);
    switch (event.type) {
      case "run_started":
        return start?.(run) ?? [];
      case "job_started":
        jobs.start?.(job!, run);
        return [];
      case "load_second":
        return showSecond(job!, event);
      case "job_finished":
        return endJob(job!, run);
      case "run_finished":
        return [
          ...times?.render(run.jobs, style, roomOf(columns?.())) ?? [],
          ...end(event, run.jobs.flatMap((job) => failuresOf.get(job) ?? []), run),
        ];
      default:
        return [];
    }
  }
  return {
    report(change) {
      times?.update(change);
      const lines = linesOf(change);
      underWay.update(change, lines.length > 0);
      return asText(lines);
    },
    progress: jobs.progress && ((now) => {
      // Load jobs have lines of their own.
      const silent = underWay.silent(now).filter(({ job }) => !job.load);
      const [first] = silent;
      if (!first) return "";
      const below = style.dim(`… ${first.text}`);
      const beside = silent.map(({ job, text }) => `${oneLine(job.name)} › ${text}`);
      return asText(jobs.progress!(first.job, below, style.dim(`… ${beside.join(", ")}`)));
    }),
  };
}

/** A job that has not been written about for a while, and what it does: `wait for it (20s)`. */
interface SilentJob {
  readonly run: RunRecord;
  readonly job: JobRecord;
  readonly text: string;
}

/** Follows which jobs are under way, to say so of those that take long. */
export class JobsUnderWay {
  readonly #jobs = new Map<JobRecord, { run: RunRecord; since: number; rounds: number }>();

  /** Takes an event into account; `isWritten` if the report has text about it. */
  update({ event, run, job }: Change, isWritten: boolean): void {
    if (!run || !job) return;
    if (event.type === "job_started") this.#jobs.set(job, { run, since: event.time, rounds: 0 });
    if (event.type === "job_finished") this.#jobs.delete(job);
    const state = this.#jobs.get(job);
    if (!state) return;
    if (isWritten) state.since = event.time;
    if (event.type === "round_finished") state.rounds = event.ended ?? state.rounds + 1;
  }

  /** The jobs of which nothing was written for some time. */
  silent(now: number): SilentJob[] {
    return [...this.#jobs].filter(([, { since }]) => now - since >= PROGRESS_TIME)
      .map(([job, { run, rounds }]) => ({ run, job, text: stateOf(run, job, rounds, now) }));
  }
}

/** `wait for it (20s)`, or `3 of 10 rounds (20s)`. */
function stateOf({ running }: RunRecord, job: JobRecord, rounds: number, now: number): string {
  const { id, rounds: all = 1, started = now } = job;
  const names: string[] = [];
  let step = running.values().find(({ run }) => run.job === id && !run.within);
  for (; step; step = step.inside) names.push(oneLine(step.name));
  const what = all > 1 ? `${rounds} of ${all} rounds` : names.join(" › ");
  const elapsed = formatElapsed(Math.round((now - started) / 1000) * 1000);
  return what === "" ? elapsed : `${what} (${elapsed})`;
}
