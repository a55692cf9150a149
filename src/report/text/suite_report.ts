import { cutLine, displayWidth } from "../../base/text/display_width.ts";
import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { workflowState } from "../../run/count_steps.ts";
import type { JobState, RunFinished, StepTree, SuiteFinished } from "../../run/event.ts";
import type { Change, RunRecord } from "../record.ts";
import type { Reporter } from "../reporter.ts";
import { endedJob, jobIcon, runHeader, skippedJob, stepLineOf, suiteTitle } from "./layout.ts";
import { asText, fitSentence, indentedRoom, indentLines, roomOf } from "./lines.ts";
import type { TextOptions } from "./late_texts.ts";
import { type FailureEntry, renderFailureList, type Shown, withPrefix } from "./render_failure.ts";
import { plainParts, renderSummary, stepParts, totalRows } from "./summary.ts";
import { reportOfParts } from "./text_report.ts";
import { writeFailures, writeInBlocks } from "./write_jobs.ts";

/** A workflow that is under way: its text is printed when it has ended. */
interface RunningWorkflow {
  readonly title: string;
  readonly report: Reporter;
  /** The steps whose failures have been printed at once. */
  readonly failed: Set<string>;
  text: string;
}

/**
 * Reports several workflows: each failure at once in a line, a block for each workflow
 * when it ends, and all failures at the end. `isQuiet` leaves out what passed.
 */
export function suiteReport(options: TextOptions, isQuiet = false): Reporter {
  const report = new SuiteReport(options, isQuiet);
  return { report: (change) => report.take(change) };
}

class SuiteReport {
  readonly #options: TextOptions;
  readonly #isQuiet: boolean;
  readonly #running = new Map<string, RunningWorkflow>();
  readonly #failures: FailureEntry[] = [];
  readonly #ended: EndedLine[] = [];
  /** The exchanges that a workflow has shown: others that have the same ones refer to them. */
  readonly #shown: Shown = new Map();
  #flaky = 0;
  /** The last text was a line about a step. */
  #isAfterLine = false;
  /** A message about a shard of the suite that has nothing to run. */
  #empty: string[] = [];

  constructor(options: TextOptions, isQuiet: boolean) {
    this.#options = options;
    this.#isQuiet = isQuiet;
  }

  take(change: Change): string {
    const { style } = this.#options;
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
      const before = this.#isAfterLine ? "\n" : "";
      this.#isAfterLine = false;
      return before + this.#close(workflow, event, run);
    }
    const urgent = this.#isQuiet ? "" : asText(this.#urgentLines(workflow, change));
    this.#isAfterLine ||= urgent !== "";
    return urgent;
  }

  #open(run: RunRecord): RunningWorkflow {
    const title = suiteTitle(run);
    const { style } = this.#options;
    const options = this.#isQuiet ? { ...this.#options, timing: false } : this.#options;
    // Parts of a log cannot fold within another one.
    const unfolded = { ...options, fold: undefined };
    const report = reportOfParts(options, {
      jobs: this.#isQuiet
        ? writeFailures(options, this.#shown, `${title} › `)
        : writeInBlocks(unfolded, this.#shown, [title]),
      end: (event, failures) => {
        if (this.#isQuiet) return [];
        this.#failures.push(...failures.map((failure) => withPrefix(`${title} › `, failure)));
        // The list at the end has the numbers.
        const rows = totalRows("Jobs", event, style).filter(({ isRemark }) => isRemark);
        const lines = renderSummary(rows, style, roomOf(options.columns?.()));
        return lines.length === 0 ? [] : [...lines, ""];
      },
    });
    return { title, report, failed: new Set(), text: "" };
  }

  /** The first failure of each step, whatever its entry, is printed at once. */
  #urgentLines({ title, failed }: RunningWorkflow, { event, job, step }: Change): string[] {
    const ended: readonly Pick<StepTree, "run" | "result">[] = step
      ? [step]
      : event.type === "rounds_tallied"
      ? event.steps.flatMap(({ failures }) => failures.map(({ first }) => first))
      : [];
    return ended.flatMap(({ run, result }) => {
      const key = `${run.job} ${run.step}`;
      if (result.state !== "failed" || failed.has(key)) return [];
      failed.add(key);
      return [stepLineOf(`${title} › ${job!.name}`, result, this.#options)];
    });
  }

  #close({ title, text }: RunningWorkflow, event: RunFinished, run: RunRecord): string {
    const { style, fold } = this.#options;
    const reason = run.jobs.find(({ state }) => state === "skipped")?.reason;
    const state = workflowState(event);
    this.#flaky += event.flaky;
    if (this.#isQuiet) return text;
    const file = run.file === title ? "" : oneLine(run.file);
    const counts = state === "skipped"
      ? oneLine(`skipped: ${reason ?? event.interrupted}`)
      : plainParts(stepParts(event, style));
    const time = state === "skipped" ? "" : formatElapsed(event.duration);
    this.#ended.push({
      position: positionOf(run),
      state,
      title: oneLine(title),
      file,
      time,
      counts,
    });
    if (state === "skipped") {
      return asText([skippedJob(title, reason ?? event.interrupted, style), ""]);
    }
    const where = file === "" ? "" : `  ${file}`;
    const [name = "", ...description] = runHeader(title, run.description, style);
    return fold && state === "passed"
      ? fold(endedJob(state, title, event.duration, where, style), asText(description) + text)
      : asText([name + style.dim(where), ...description]) + text;
  }

  /** A line for each workflow, if there are several. */
  #endedList(): string[] {
    if (this.#ended.length < 2) return [];
    const { style, columns } = this.#options;
    const sorted = this.#ended.toSorted((a, b) => a.position - b.position);
    const room = roomOf(columns?.());
    const widthOf = (key: "title" | "file" | "time") =>
      Math.max(...sorted.map((one) => displayWidth(one[key])));
    const time = widthOf("time");
    const free = room.wraps ? room.columns - time - 6 : Infinity;
    const title = Math.min(widthOf("title"), free);
    // A file that has no room is in the list of failures.
    const file = widthOf("file") + 2 > free - title ? 0 : widthOf("file");
    const pad = (text: string, width: number) => {
      const shown = cutLine(text, width);
      return shown + " ".repeat(width - displayWidth(shown));
    };
    return [
      style.bold("Workflows"),
      ...sorted.flatMap((one) => {
        const head = [
          pad(one.title, title),
          ...file === 0 ? [] : [style.dim(pad(one.file, file))],
          " ".repeat(time - one.time.length) + one.time,
        ].join("  ");
        const width = title + (file === 0 ? 0 : file + 2) + time + 6 + 2;
        const isWide = room.wraps && width + displayWidth(one.counts) > room.columns;
        const line = `  ${jobIcon(one.state, style)} ${head}`;
        return isWide
          ? [line, ...indentLines(fitSentence(one.counts, indentedRoom(room, 4)), 4)]
          : [one.counts === "" ? line : `${line}  ${style.dim(one.counts)}`];
      }),
      "",
    ];
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
      ...renderFailureList(this.#failures, style, room),
      ...this.#endedList(),
      ...this.#empty,
      ...renderSummary(totalRows("Workflows", totals, style), style, room),
    ]);
  }
}

/** A workflow that has ended, for the list of all of them. */
interface EndedLine {
  readonly position: number;
  readonly state: JobState;
  readonly title: string;
  readonly file: string;
  readonly time: string;
  readonly counts: string;
}

/** Sorts workflows as the suite has them: setup first, teardown last. */
function positionOf({ suite }: RunRecord): number {
  const { role, index = 0 } = suite ?? {};
  return index + (role === "setup" ? -1e9 : role === "teardown" ? 1e9 : 0);
}
