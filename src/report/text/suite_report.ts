import type {
  RunEvent,
  RunFinished,
  RunStarted,
  StepFinished,
  SuiteFinished,
} from "../../run/event.ts";
import { sumOf, workflowState } from "../../run/count_steps.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { printableEvent } from "../model/printable_event.ts";
import { StepNames, StepTrees, suiteTitle, UntestedSteps } from "../model/steps.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import { type FailureEntry, renderFailureList } from "./failure_list.ts";
import {
  renderFooter,
  runCounts,
  runHeader,
  skippedJob,
  stepLineOf,
  untestedWarning,
} from "./layout.ts";
import { quietReport } from "./quiet_report.ts";
import { oneLine } from "../../base/text/printable.ts";
import { asText, countOf, roomOf } from "./lines.ts";
import { textReport } from "./text_report.ts";
import { timedReport } from "./time_summary.ts";
import { writeInBlocks } from "./write_jobs.ts";

/** The data of a workflow that is kept until it is finished. */
interface Block {
  readonly title: string;
  readonly names: StepNames;
  readonly trees: StepTrees;
  readonly report: Reporter;
  text: string;
  /** Steps whose failure was printed, by job and position. */
  readonly failed: Set<string>;
  /** Why the first job was skipped. */
  reason?: string;
}

/**
 * Reports several workflows: each failure at once in a line, a block for each workflow
 * when it ends, and all failures at the end. `isQuiet` leaves out what passed.
 */
export function suiteReport(options: ReportOptions, isQuiet = false): Reporter {
  const report = new SuiteReport(options, isQuiet);
  return { report: (event) => report.take(printableEvent(event)) };
}

class SuiteReport {
  readonly #options: ReportOptions;
  readonly #isQuiet: boolean;
  readonly #blocks = new Map<string, Block>();
  readonly #failures: FailureEntry[] = [];
  /** The steps of all workflows that were unsuccessful and that nothing tests. */
  readonly #untested = new UntestedSteps();
  #untestedCount = 0;
  /** Messages about a shard of the suite that has nothing to run. */
  #empty: string[] = [];

  constructor(options: ReportOptions, isQuiet: boolean) {
    this.#options = options;
    this.#isQuiet = isQuiet;
  }

  take(event: RunEvent): string {
    const { style } = this.#options;
    if (event.type === "suite_started") {
      const { shard, workflows } = event;
      if (shard && workflows === 0) {
        this.#empty = [`shard ${shard.index} of ${shard.of} has no workflows`];
      }
      return this.#isQuiet || event.name === undefined
        ? ""
        : asText([style.bold(oneLine(event.name)), ""]);
    }
    if (event.type === "suite_finished") return this.#end(event);
    if (event.type === "run_started") this.#blocks.set(event.runId, this.#open(event));
    const block = this.#blocks.get(event.runId);
    if (!block) return "";
    block.names.update(event);
    if (event.type === "step_retried") block.trees.retry(event.run);
    const step = event.type === "step_finished" && block.trees.finish(event);
    if (step) this.#untested.add(step, `${block.title} › `);
    if (event.type === "run_finished") {
      this.#untestedCount += event.untestedFailures;
      this.#blocks.delete(event.runId);
      return this.#close(block, event);
    }
    if (event.type === "job_finished" && event.state === "skipped") {
      if (event.reason !== undefined) block.reason ??= event.reason;
    }
    block.text += block.report.report(event);
    return event.type === "step_finished" ? this.#renderFailure(block, event) : "";
  }

  #open(event: RunStarted): Block {
    const title = suiteTitle(event);
    return {
      title,
      names: new StepNames(),
      trees: new StepTrees(),
      report: this.#isQuiet ? quietReport(this.#options) : this.#textOf(title),
      text: "",
      failed: new Set(),
    };
  }

  #textOf(title: string): Reporter {
    const { style, timing } = this.#options;
    const text = textReport(this.#options, writeInBlocks(this.#options), {
      start: ({ description, file }) => {
        const [first = "", ...more] = runHeader(title, description, style);
        const where = file === title ? "" : `  ${style.dim(oneLine(file))}`;
        return [first + where, ...more];
      },
      end: (event, failures, untested) => {
        for (const failure of failures) {
          const behind = (name: string) => `${title} › ${name}`;
          this.#failures.push({
            ...failure,
            title: behind(failure.title),
            tookDown: failure.tookDown.map((one) => ({ ...one, title: behind(one.title) })),
          });
        }
        return [renderFooter(event, style, untested), ""];
      },
    });
    return timing ? timedReport(text, this.#options) : text;
  }

  /** A step that fails in every round is reported at once only the first time. */
  #renderFailure(block: Block, { run, result }: StepFinished): string {
    const key = `${run.job} ${run.step}`;
    if (this.#isQuiet || result.state !== "failed" || run.within || block.failed.has(key)) {
      return "";
    }
    block.failed.add(key);
    return asText([
      stepLineOf(block.names.job(run.job), result, this.#options),
    ]);
  }

  #close({ title, text, report, reason }: Block, event: RunFinished): string {
    const { style, fold } = this.#options;
    if (this.#isQuiet) return text;
    if (workflowState(event) === "skipped") {
      return asText([skippedJob(title, reason ?? event.interrupted, style), ""]);
    }
    const whole = text + report.report(event);
    if (!fold || event.state !== "passed") return whole;
    const counts = `${runCounts(event)} in ${formatElapsed(event.duration)}`;
    const mark = event.untestedFailures > 0 ? style.yellow("⚠") : style.green("✓");
    return fold(`${mark} ${oneLine(title)}: ${counts}`, whole);
  }

  #end(event: SuiteFinished): string {
    const { style, columns } = this.#options;
    const list = this.#failures.length === 0
      ? []
      : renderFailureList(this.#failures, style, roomOf(columns?.()));
    const warning = untestedWarning(this.#untestedCount, this.#untested.names);
    const end = lastLine(event, this.#options);
    return asText([
      ...[...list, ...this.#empty],
      warning === undefined ? end : `${end} ${style.yellow(warning)}`,
    ]);
  }
}

/** `12 workflows: 10 passed, 1 failed, 1 skipped; 87 steps in 4.2s`. */
function lastLine(event: SuiteFinished, { style }: ReportOptions): string {
  const { workflows, steps, duration, interrupted } = event;
  const { passed, failed, skipped } = workflows;
  const ran = sumOf(steps) - steps.skipped;
  const parts = [
    ...passed > 0 ? [style.green(`${passed} passed`)] : [],
    ...failed > 0 ? [style.red(`${failed} failed`)] : [],
    ...skipped > 0 ? [style.yellow(`${skipped} skipped`)] : [],
  ];
  const all = countOf(passed + failed + skipped, "workflow");
  const counts = parts.length === 0 ? all : `${all}: ${parts.join(", ")}`;
  const why = interrupted === undefined ? "" : ` ${style.red(`✗ ${oneLine(interrupted)}`)}`;
  return `${counts}; ${countOf(ran, "step")} in ${formatElapsed(duration)}${why}`;
}
