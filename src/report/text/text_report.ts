import { oneLine } from "../../base/text/printable.ts";
import type { LoadSecond, RunFinished } from "../../run/event.ts";
import type { Change, JobRecord, RunRecord } from "../record.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
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

/** Milliseconds between two lines about a load job under way. */
const PROGRESS_TIME = 10_000;

/** Reports one run by these parts. */
export function reportOfParts(
  { style, timing, columns, late }: TextOptions,
  { jobs, start, end }: ReportParts,
): Reporter {
  const times = timing ? new late.all.TimeSummary() : undefined;
  /** Of load jobs, the seconds that no line has shown. */
  const secondsOf = new Map<JobRecord, LoadSecond[]>();
  const failuresOf = new Map<JobRecord, FailureEntry[]>();

  function showSecond(job: JobRecord, second: LoadSecond): string[] {
    if (!jobs.progress) return [];
    const seconds = secondsOf.getOrInsertComputed(job, () => []);
    // A second comes from each process; a line is about whole ones.
    const isDue = seconds.length > 0 && second.from >= seconds[0]!.from + PROGRESS_TIME;
    const shown = isDue ? seconds.splice(0) : [];
    seconds.push(second);
    return isDue ? jobs.progress(job, late.all.renderSeconds(shown)) : [];
  }

  function endJob(job: JobRecord): string[] {
    const parts = failedParts(job);
    if (parts.length > 0) failuresOf.set(job, parts.flatMap(late.all.failureEntries));
    return jobs.end(job);
  }

  function linesOf({ event, run, job, step }: Change): string[] {
    if (!run) return [];
    if (job && step) return jobs.endStep(job, step);
    switch (event.type) {
      case "run_started":
        return start?.(run) ?? [];
      case "job_started":
        jobs.start?.(job!);
        return [];
      case "load_second":
        return showSecond(job!, event);
      case "job_finished":
        return endJob(job!);
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
      return asText(linesOf(change));
    },
  };
}
