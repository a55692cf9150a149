import { oneLine } from "../../base/text/printable.ts";
import type {
  LoadSecond,
  RoundsTallied,
  RunEvent,
  RunFinished,
  RunStarted,
  StepTree,
} from "../../run/event.ts";
import { StepTrees } from "../../run/step_trees.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import { jobIcon, runHeader } from "./layout.ts";
import { asText, roomOf } from "./lines.ts";
import {
  type FailureEntry,
  makeFailureEntry,
  makeStepEntries,
  renderFailureList,
} from "./render_failure.ts";
import { renderSeconds } from "./render_load.ts";
import { failuresOfRounds } from "./render_rounds.ts";
import { renderSummary, totalRows } from "./summary.ts";
import { TimeSummary } from "./time_summary.ts";
import { type JobBlock, type JobWriter, writeAtOnce, writeFailures } from "./write_jobs.ts";

/** The lines of a report: those of its jobs, and those around them. */
interface ReportParts {
  readonly jobs: JobWriter;
  /** A step of a job that runs once is over. */
  onStep?(block: JobBlock, step: StepTree): void;
  /** The rounds of a repeated job are over. */
  onRounds?(block: JobBlock, tally: RoundsTallied): void;
  start(event: RunStarted): string[];
  /** `failures` are those of all jobs, in the order of the file. */
  end(event: RunFinished, failures: readonly FailureEntry[]): string[];
}

/** The report that people read. */
export function textReport(options: ReportOptions, jobs = writeAtOnce(options)): Reporter {
  const { style, columns } = options;
  return reportOfParts(options, {
    jobs,
    start: ({ name, description }) => runHeader(name, description, style),
    end: (event, failures) => [
      ...renderFailureList(failures, style, roomOf(columns?.())),
      ...runSummary(event, options),
    ],
  });
}

/** The rows at the end of a run. */
function runSummary(event: RunFinished, { style, columns }: ReportOptions): string[] {
  return renderSummary(totalRows("Jobs", event, style), style, roomOf(columns?.()));
}

/** Reports failures, and the summary below the name of the workflow. */
export function quietReport(options: ReportOptions): Reporter {
  let name = "";
  return reportOfParts(options, {
    jobs: writeFailures(options),
    start(event) {
      name = event.name;
      return [];
    },
    end: (event) => [
      `${jobIcon(event.state, options.style)} ${options.style.bold(oneLine(name))}`,
      ...runSummary(event, options),
    ],
  });
}

/** Milliseconds between two lines about a load job under way. */
const PROGRESS_TIME = 10_000;

/** Follows the events of one run, and reports them by these parts. */
export function reportOfParts(
  { style, timing, columns }: ReportOptions,
  parts: ReportParts,
): Reporter {
  const { jobs } = parts;
  const trees = new StepTrees();
  const times = timing ? new TimeSummary() : undefined;
  /** Of load jobs, the seconds that no line has shown. */
  const secondsOf = new Map<string, LoadSecond[]>();
  /** By id, in the order of the file. */
  const blocks = new Map<string, JobBlock>();

  function blockOf(id: string, name = id): JobBlock {
    let block = blocks.get(id);
    if (!block) {
      block = { position: blocks.size, name, rounds: 1, lines: 0, failures: [] };
      blocks.set(id, block);
    }
    return block;
  }

  function linesOf(event: RunEvent): string[] {
    const step = trees.take(event);
    switch (event.type) {
      case "run_started":
        for (const { id, name } of event.jobs) blockOf(id, name);
        return parts.start(event);
      case "job_started": {
        const { name, rounds = 1 } = event;
        const block = blockOf(event.job);
        Object.assign(block, { name, rounds });
        jobs.start?.(block);
        return [];
      }
      case "step_finished": {
        if (!step) return [];
        const block = blockOf(event.run.job);
        parts.onStep?.(block, step);
        block.failures.push(...makeStepEntries(step, block.name));
        return jobs.endStep(block, step);
      }
      case "load_second": {
        if (!jobs.progress) return [];
        const seconds = secondsOf.getOrInsertComputed(event.job, () => []);
        // A second comes from each process; a line is about whole ones.
        const isDue = seconds.length > 0 && event.from >= seconds[0]!.from + PROGRESS_TIME;
        const shown = isDue ? seconds.splice(0) : [];
        seconds.push(event);
        return isDue ? jobs.progress(blockOf(event.job), renderSeconds(shown)) : [];
      }
      case "load_ended":
        blockOf(event.job).load = event;
        return [];
      case "rounds_tallied": {
        const block = blockOf(event.job);
        block.tally = event;
        parts.onRounds?.(block, event);
        return [];
      }
      case "job_finished": {
        const block = blockOf(event.job);
        const { name, failures } = event;
        if (failures.length > 0 && !event.known) {
          block.failures.push(makeFailureEntry(name, failures));
        }
        if (block.tally) block.failures.push(...failuresOfRounds(block.tally.steps, block.name));
        return jobs.end(block, event);
      }
      case "run_finished": {
        const failures = [...blocks.values()].flatMap((block) => block.failures);
        return [
          ...times?.render(style, roomOf(columns?.())) ?? [],
          ...parts.end(event, failures),
        ];
      }
      default:
        return [];
    }
  }
  return {
    report(event) {
      times?.update(event);
      return asText(linesOf(event));
    },
  };
}
