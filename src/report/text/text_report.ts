import type {
  LoadSecond,
  RoundsTallied,
  RunEvent,
  RunFinished,
  RunStarted,
  StepResult,
  StepRun,
  StepTally,
  StepTree,
  SuiteFinished,
} from "../../run/event.ts";
import { StepTrees } from "../../run/step_trees.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import {
  type FailureEntry,
  makeFailureEntry,
  makeStepEntries,
  renderFailureList,
  withPrefix,
} from "./render_failure.ts";
import {
  type JobBlock,
  type JobWriter,
  writeAtOnce,
  writeFailures,
  writeInBlocks,
} from "./write_jobs.ts";
import {
  renderFooter,
  runCounts,
  runHeader,
  skippedJob,
  stepLineOf,
  suiteTitle,
  untestedWarning,
} from "./layout.ts";
import { asText, countOf, roomOf } from "./lines.ts";
import { renderSeconds } from "./render_load.ts";
import { failuresOfRounds } from "./render_rounds.ts";
import { TimeSummary } from "./time_summary.ts";
import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { sumOf, workflowState } from "../../run/count_steps.ts";

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

/** Milliseconds between two lines about a load job under way. */
const PROGRESS_TIME = 10_000;

/** Follows the events of one run, and reports them by these parts. */
function reportOfParts(
  { style, timing, columns }: ReportOptions,
  parts: ReportParts,
): Reporter {
  const { jobs } = parts;
  const trees = new StepTrees();
  const untested = new Set<string>();
  const times = timing ? new TimeSummary() : undefined;
  /** Of load jobs, the seconds that no line has shown. */
  const secondsOf = new Map<string, LoadSecond[]>();
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
    const step = trees.take(event);
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
      case "step_finished": {
        if (!step) return [];
        const block = blockOf(event.run.job);
        addUntested(untested, step);
        parts.onStep?.(block, step);
        block.failures.push(...makeStepEntries(step, block.name));
        return jobs.endStep(block, step);
      }
      case "load_second": {
        const seconds = secondsOf.getOrInsertComputed(event.job, () => []);
        seconds.push(event);
        const isDue = event.from + event.length >= seconds[0]!.from + PROGRESS_TIME;
        // Where there is a terminal, a live view shows it.
        if (columns || !isDue) return [];
        return jobs.progress?.(blockOf(event.job), renderSeconds(seconds.splice(0))) ?? [];
      }
      case "load_ended":
        blockOf(event.job).load = event;
        return [];
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

/** A workflow that is under way: its text is printed when it has ended. */
interface RunningWorkflow {
  readonly title: string;
  readonly started: RunStarted;
  readonly report: Reporter;
  text: string;
  /** Lines that are printed at once. */
  urgent: string[];
  /** Why its first job was skipped. */
  reason?: string;
}

/**
 * Reports several workflows: each failure at once in a line, a block for each workflow
 * when it ends, and all failures at the end. `isQuiet` leaves out what passed.
 */
export function suiteReport(options: ReportOptions, isQuiet = false): Reporter {
  const report = new SuiteReport(options, isQuiet);
  return { report: (event) => report.take(event) };
}

class SuiteReport {
  readonly #options: ReportOptions;
  readonly #isQuiet: boolean;
  readonly #running = new Map<string, RunningWorkflow>();
  readonly #failures: FailureEntry[] = [];
  /** A line for each workflow that has ended, and its position in the suite. */
  readonly #ended: { readonly position: number; readonly line: string }[] = [];
  /** The steps of all workflows that were unsuccessful and that nothing tests. */
  readonly #untested = new Set<string>();
  #untestedCount = 0;
  /** A message about a shard of the suite that has nothing to run. */
  #empty: string[] = [];

  constructor(options: ReportOptions, isQuiet: boolean) {
    this.#options = options;
    this.#isQuiet = isQuiet;
  }

  take(event: RunEvent): string {
    const { style } = this.#options;
    if (event.type === "suite_started") {
      const { shard, workflows, name } = event;
      if (shard && workflows === 0) {
        this.#empty = [`shard ${shard.index} of ${shard.of} has no workflows`];
      }
      return this.#isQuiet || name === undefined ? "" : asText([style.bold(oneLine(name)), ""]);
    }
    if (event.type === "suite_finished") return this.#end(event);
    if (event.type === "run_started") this.#running.set(event.runId, this.#open(event));
    const workflow = this.#running.get(event.runId);
    if (!workflow) return "";
    workflow.text += workflow.report.report(event);
    if (event.type === "run_finished") {
      this.#running.delete(event.runId);
      return this.#close(workflow, event);
    }
    if (event.type === "job_finished" && event.state === "skipped") {
      workflow.reason ??= event.reason;
    }
    return asText(workflow.urgent.splice(0));
  }

  #open(started: RunStarted): RunningWorkflow {
    const title = suiteTitle(started);
    const { style } = this.#options;
    const options = this.#isQuiet ? { ...this.#options, timing: false } : this.#options;
    const urgent: string[] = [];
    const failed = new Set<string>();
    // The first failure of each step, whatever its entry.
    const addUrgent = (name: string, { job, step }: StepRun, result: StepResult) => {
      const key = `${job} ${step}`;
      if (this.#isQuiet || result.state !== "failed" || failed.has(key)) return;
      failed.add(key);
      urgent.push(stepLineOf(`${title} › ${name}`, result, options));
    };
    const report = reportOfParts(options, {
      jobs: this.#isQuiet ? writeFailures(options, `${title} › `) : writeInBlocks(options),
      start: ({ description, file }) => {
        if (this.#isQuiet) return [];
        const [first = "", ...others] = runHeader(title, description, style);
        const where = file === title ? "" : `  ${style.dim(oneLine(file))}`;
        return [first + where, ...others];
      },
      onStep: ({ name }, step) => {
        const { run, result } = step;
        addUntested(this.#untested, step, `${title} › `);
        addUrgent(name, run, result);
      },
      onRounds: ({ name }, { steps }) => {
        for (const step of steps) {
          addUntestedRounds(this.#untested, step, `${title} › `);
          for (const { first: { run, result } } of step.failures) addUrgent(name, run, result);
        }
      },
      end: (event, failures, untested) => {
        this.#untestedCount += event.untestedFailures;
        if (this.#isQuiet) return [];
        this.#failures.push(...failures.map((failure) => withPrefix(`${title} › `, failure)));
        return [renderFooter(event, style, untested), ""];
      },
    });
    return { title, started, report, text: "", urgent };
  }

  #close({ title, started, text, reason }: RunningWorkflow, event: RunFinished): string {
    const { style, fold } = this.#options;
    if (this.#isQuiet) return text;
    const add = (line: string) => this.#ended.push({ position: positionOf(started), line });
    if (workflowState(event) === "skipped") {
      const line = skippedJob(title, reason ?? event.interrupted, style);
      add(line);
      return asText([line, ""]);
    }
    const counts = `${runCounts(event)} in ${formatElapsed(event.duration)}`;
    const mark = event.state !== "passed"
      ? style.red("✗")
      : event.untestedFailures > 0
      ? style.yellow("⚠")
      : style.green("✓");
    const file = started.file === title ? "" : `  ${style.dim(oneLine(started.file))}`;
    add(`${mark} ${oneLine(title)}${file}  ${counts}`);
    return fold && event.state === "passed"
      ? fold(`${mark} ${oneLine(title)}: ${counts}`, text)
      : text;
  }

  /** A line for each workflow, where there are several. */
  #endedList(): string[] {
    if (this.#ended.length < 2) return [];
    const sorted = this.#ended.toSorted((a, b) => a.position - b.position);
    return [this.#options.style.bold("Workflows"), ...sorted.map(({ line }) => `  ${line}`), ""];
  }

  #end(event: SuiteFinished): string {
    const { style, columns } = this.#options;
    const warning = untestedWarning(this.#untestedCount, this.#untested);
    return asText([
      ...renderFailureList(this.#failures, style, roomOf(columns?.())),
      ...this.#endedList(),
      ...this.#empty,
      lastLine(event, this.#options) + (warning === undefined ? "" : ` ${style.yellow(warning)}`),
    ]);
  }
}

/** Sorts workflows as the suite has them: setup first, teardown last. */
function positionOf({ suite }: RunStarted): number {
  const { role, index = 0 } = suite ?? {};
  return index + (role === "setup" ? -1e9 : role === "teardown" ? 1e9 : 0);
}

/** `12 workflows: 10 passed, 1 failed, 1 skipped; 87 steps in 4.2s`. */
function lastLine(event: SuiteFinished, { style }: ReportOptions): string {
  const { workflows: { passed, failed, skipped }, steps, duration, interrupted } = event;
  const parts = [
    passed > 0 ? style.green(`${passed} passed`) : "",
    failed > 0 ? style.red(`${failed} failed`) : "",
    skipped > 0 ? style.yellow(`${skipped} skipped`) : "",
  ].filter((text) => text !== "");
  const all = countOf(passed + failed + skipped, "workflow");
  const ran = sumOf(steps) - steps.skipped;
  const why = interrupted === undefined ? "" : ` ${style.red(`✗ ${oneLine(interrupted)}`)}`;
  return `${[all, ...parts.length === 0 ? [] : [parts.join(", ")]].join(": ")}; ` +
    `${countOf(ran, "step")} in ${formatElapsed(duration)}${why}`;
}

/** More names are never shown. */
const MAX_NAMES = 4;

/** Adds the names of steps that were unsuccessful and that nothing tests: `gate (HTTP 401)`. */
function addUntested(names: Set<string>, { result, inside }: StepTree, around = ""): void {
  if (names.size >= MAX_NAMES) return;
  const name = around + oneLine(result.name);
  if (result.untested !== undefined) names.add(`${name} (${oneLine(result.untested)})`);
  for (const step of inside) addUntested(names, step, `${name} › `);
}

/** The same for a step of a repeated job. */
function addUntestedRounds(names: Set<string>, tally: StepTally, around = ""): void {
  if (names.size >= MAX_NAMES) return;
  const { untested, inside } = tally;
  const name = around + oneLine(tally.name);
  if (untested) names.add(`${name} (${oneLine(untested.first)})`);
  for (const step of inside) addUntestedRounds(names, step, `${name} › `);
}
