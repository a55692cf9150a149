import type {
  RoundsTallied,
  RunEvent,
  RunFinished,
  RunStarted,
  StepTree,
} from "../../run/event.ts";
import { StepTrees } from "../../run/step_trees.ts";
import { addUntested, addUntestedRounds } from "../model/steps.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import {
  type FailureEntry,
  makeFailureEntry,
  makeStepEntries,
  renderFailureList,
} from "./failure_list.ts";
import { type JobBlock, type JobWriter, writeAtOnce, writeFailures } from "./write_jobs.ts";
import { renderFooter, runHeader } from "./layout.ts";
import { asText, roomOf } from "./lines.ts";
import { failuresOfRounds } from "./render_rounds.ts";
import { TimeSummary } from "./time_summary.ts";

/** The lines of a report: those of its jobs, and those around them. */
interface ReportParts {
  readonly jobs: JobWriter;
  /** A step of a job that runs once is over. */
  onStep?(block: JobBlock, step: StepTree): void;
  /** The rounds of a repeated job are over. */
  onRounds?(block: JobBlock, tally: RoundsTallied): void;
  start(event: RunStarted): string[];
  /**
   * `failures` are those of all jobs, in the order of the file; `untested` are the names of steps
   * that were unsuccessful and that nothing tests.
   */
  end(
    event: RunFinished,
    failures: readonly FailureEntry[],
    untested: ReadonlySet<string>,
  ): string[];
}

/** The report that people read. */
export function textReport(options: ReportOptions, jobs = writeAtOnce(options)): Reporter {
  const { style, columns } = options;
  return reportOfParts(options, {
    jobs,
    start: ({ name, description }) => runHeader(name, description, style),
    end: (event, failures, untested) => [
      ...renderFailureList(failures, style, roomOf(columns?.())),
      renderFooter(event, style, untested),
    ],
  });
}

/** Reports failures, and a footer with the name of the workflow. */
export function quietReport(options: ReportOptions): Reporter {
  let name = "";
  return reportOfParts(options, {
    jobs: writeFailures(options),
    start(event) {
      name = event.name;
      return [];
    },
    end: (event, _, untested) => [renderFooter(event, options.style, untested, name)],
  });
}

/** Follows the events of one run, and reports them by these parts. */
export function reportOfParts(
  { style, timing, columns }: ReportOptions,
  parts: ReportParts,
): Reporter {
  const { jobs } = parts;
  const trees = new StepTrees();
  const untested = new Set<string>();
  const times = timing ? new TimeSummary() : undefined;
  /** By id, in the order of the file. */
  const blocks = new Map<string, JobBlock>();

  function blockOf(id: string, name = id): JobBlock {
    let block = blocks.get(id);
    if (!block) {
      block = { position: blocks.size, name, rounds: 1, lines: 0, exchange: {}, failures: [] };
      blocks.set(id, block);
    }
    return block;
  }

  function linesOf(event: RunEvent): string[] {
    switch (event.type) {
      case "run_started":
        for (const { id, name } of event.jobs) blockOf(id, name);
        return parts.start(event);
      case "job_started": {
        const { name, rounds = 1, expect } = event;
        const block = blockOf(event.job);
        Object.assign(block, { name, rounds, expect });
        jobs.start?.(block);
        return [];
      }
      case "step_started":
        return jobs.startStep?.(blockOf(event.run.job)) ?? [];
      case "step_retried":
        trees.retry(event.run);
        return [];
      case "step_finished": {
        const block = blockOf(event.run.job);
        const step = block.rounds === 1 ? trees.finish(event) : undefined;
        if (!step) return [];
        addUntested(untested, step);
        parts.onStep?.(block, step);
        block.failures.push(...makeStepEntries(step, block.name));
        return jobs.endStep(block, step);
      }
      case "rounds_tallied": {
        const block = blockOf(event.job);
        block.tally = event;
        for (const step of event.steps) addUntestedRounds(untested, step);
        parts.onRounds?.(block, event);
        return [];
      }
      case "job_finished": {
        const block = blockOf(event.job);
        const { name, failures } = event;
        if (failures.length > 0) block.failures.push(makeFailureEntry(name, failures));
        if (block.tally) block.failures.push(...failuresOfRounds(block.tally.steps, block.name));
        return jobs.end(block, event);
      }
      case "run_finished": {
        const failures = [...blocks.values()].flatMap((block) => block.failures);
        return [
          ...times?.render(style, roomOf(columns?.())) ?? [],
          ...parts.end(event, failures, untested),
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
