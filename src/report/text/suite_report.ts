import { cutLine, displayWidth } from "../../base/text/display_width.ts";
import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { workflowState } from "../../run/count_steps.ts";
import type { RunFinished, SuiteFinished } from "../../run/event.ts";
import type { Change, RunRecord } from "../record.ts";
import type { Reporter } from "../reporter.ts";
import { jobIcon, runHeader, skippedJob, suiteTitle } from "./layout.ts";
import { asText, roomOf } from "./lines.ts";
import type { TextOptions } from "./late_texts.ts";
import { type FailureEntry, renderFailureList, type Shown } from "./render_failure.ts";
import { plainParts, renderSummary, stepParts, totalRows } from "./summary.ts";
import { JobsUnderWay, reportOfParts } from "./text_report.ts";
import { writeFailures, writeInBlocks } from "./write_jobs.ts";

/** A workflow that is under way: its text is printed when it has ended. */
interface RunningWorkflow {
  readonly title: string;
  readonly report: Reporter;
  text: string;
}

/**
 * Reports several workflows: a block for each when it ends, and all failures at the end. `isQuiet`
 * leaves out what passed.
 */
export function suiteReport(options: TextOptions, isQuiet = false): Reporter {
  const report = new SuiteReport(options, isQuiet);
  return {
    report: (change) => report.take(change),
    progress: isQuiet ? undefined : (now) => report.progress(now),
  };
}

class SuiteReport {
  readonly #options: TextOptions;
  readonly #isQuiet: boolean;
  readonly #running = new Map<string, RunningWorkflow>();
  readonly #failures: FailureEntry[] = [];
  readonly #widths = { title: 0, file: 0, time: 0 };
  /** The last text was the line of a workflow. */
  #isAfterLine = false;
  readonly #underWay = new JobsUnderWay();
  /** The exchanges that a workflow has shown: others that have the same ones refer to them. */
  readonly #shown: Shown = new Map();
  #flaky = 0;
  /** A message about a shard of the suite that has nothing to run. */
  #empty: string[] = [];

  constructor(options: TextOptions, isQuiet: boolean) {
    this.#options = options;
    this.#isQuiet = isQuiet;
  }

  /** What the jobs do that take long. */
  progress(now: number): string {
    const silent = this.#underWay.silent(now).map(({ run, job, text }) =>
      `${suiteTitle(run)} › ${oneLine(job.name)} › ${text}`
    );
    if (silent.length === 0) return "";
    this.#isAfterLine = true;
    return asText([this.#options.style.dim(`… ${silent.join(", ")}`)]);
  }

  take(change: Change): string {
    const { style } = this.#options;
    this.#underWay.update(change, false);
    const { event, run } = change;
    if (event.type === "suite_started") {
      const { shard, workflows, name } = event;
      if (shard && workflows === 0) {
        this.#empty = [`shard ${shard.index} of ${shard.of} has no workflows`];
      }
      return this.#isQuiet || name === undefined ? "" : asText([style.bold(oneLine(name)), ""]);
    }
    if (event.type === "suite_finished") return this.#end(event);
    if (!run) return "";
    if (event.type === "run_started") this.#running.set(run.id, this.#open(run));
    const workflow = this.#running.get(run.id);
    if (!workflow) return "";
    workflow.text += workflow.report.report(change);
    if (event.type === "run_finished") {
      this.#running.delete(run.id);
      return this.#close(workflow, event, run);
    }
    return "";
  }

  #open(run: RunRecord): RunningWorkflow {
    const title = suiteTitle(run);
    const { style } = this.#options;
    const options = this.#isQuiet ? { ...this.#options, timing: false } : this.#options;
    const isBrief = !options.verbose && !options.fold;
    // Parts of a log cannot fold within another one.
    const unfolded = { ...options, fold: undefined };
    const report = reportOfParts(options, {
      jobs: this.#isQuiet
        ? writeFailures(options, this.#shown, `${title} › `)
        : writeInBlocks(unfolded, { shown: this.#shown, workflow: [title], isBrief }),
      end: (event, failures) => {
        if (this.#isQuiet) return [];
        this.#failures.push(
          ...failures.map((entry) => ({ ...entry, title: `${title} › ${entry.title}` })),
        );
        // The list at the end has the numbers.
        const rows = totalRows("Jobs", event, style).filter(({ isRemark }) => isRemark);
        const lines = renderSummary(rows, style, roomOf(options.columns?.()));
        return lines.length === 0 ? [] : [...lines, ""];
      },
    });
    return { title, report, text: "" };
  }

  #close({ title, text }: RunningWorkflow, event: RunFinished, run: RunRecord): string {
    const { style, fold, verbose } = this.#options;
    const reason = run.jobs.find(({ state }) => state === "skipped")?.reason;
    const state = workflowState(event);
    this.#flaky += event.flaky;
    if (this.#isQuiet) return text;
    if (state === "skipped") {
      this.#isAfterLine = true;
      return asText([skippedJob(title, reason ?? event.interrupted, style)]);
    }
    const line = this.#line({
      icon: jobIcon(state, style),
      title: oneLine(title),
      file: run.file === title ? "" : oneLine(run.file),
      time: formatElapsed(event.duration),
      counts: plainParts(stepParts(event, style)),
    });
    const [, ...description] = runHeader(title, run.description, style);
    const opened = asText(description) + text;
    if (state === "passed" && !verbose) {
      this.#isAfterLine = true;
      return fold ? fold(line, opened) : asText([line]);
    }
    const before = this.#isAfterLine ? "\n" : "";
    this.#isAfterLine = false;
    return before + asText([line]) + opened;
  }

  /** The line of a workflow, in the columns of those before it. */
  #line({ icon, title, file, time, counts }: WorkflowLine): string {
    const { style, columns } = this.#options;
    const widths = this.#widths;
    widths.title = Math.max(widths.title, displayWidth(title));
    widths.file = Math.max(widths.file, displayWidth(file));
    widths.time = Math.max(widths.time, time.length);
    const room = roomOf(columns?.());
    const left = room.columns - widths.time - displayWidth(counts) - 6;
    const free = room.wraps ? Math.max(MIN_TITLE, left) : Infinity;
    const pad = (text: string, width: number) => {
      const shown = cutLine(text, width);
      return shown + " ".repeat(width - displayWidth(shown));
    };
    // A file that has no room is in the list of failures.
    const hasFile = widths.file > 0 && widths.title + widths.file + 2 <= free;
    const parts = [
      pad(title, Math.min(widths.title, free)),
      ...hasFile ? [style.dim(pad(file, widths.file))] : [],
      time.padStart(widths.time),
      style.dim(counts),
    ];
    return `${icon} ${parts.join("  ")}`;
  }

  #end(event: SuiteFinished): string {
    const { style, columns } = this.#options;
    const totals = {
      ...event,
      jobs: event.workflows,
      flaky: this.#flaky,
    };
    const room = roomOf(columns?.());
    return asText([
      ...this.#isAfterLine ? [""] : [],
      ...renderFailureList(this.#failures, style, room),
      ...this.#empty,
      ...renderSummary(totalRows("Workflows", totals, style), style, room),
    ]);
  }
}

/** The line of a workflow that has ended. */
interface WorkflowLine {
  readonly icon: string;
  readonly title: string;
  readonly file: string;
  readonly time: string;
  readonly counts: string;
}

/** A title is not cut to less. */
const MIN_TITLE = 8;
