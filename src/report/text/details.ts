import { oneLine } from "../../base/text/printable.ts";
import { formatClock, formatDuration, formatElapsed } from "../../base/value/duration.ts";
import type {
  JobFinished,
  Note,
  RunEvent,
  StepFinished,
  StepResult,
  StepRun,
  StepWaiting,
} from "../../run/event.ts";
import { hasFailed, runKey } from "../../run/step_trees.ts";
import type { Reporter, ReportOptions, Style } from "../reporter.ts";
import { stepIcon, stepTitle, suiteTitle } from "./layout.ts";
import { asText, countOf, indentLines } from "./lines.ts";
import { renderExchange } from "./render_exchange.ts";
import { summarizeFailure } from "./render_failure.ts";
import { renderSeconds } from "./render_load.ts";

type DetailOptions = Pick<ReportOptions, "style" | "columns">;

/** The warnings of a run, for standard error. */
export function warningReport({ style }: DetailOptions): Reporter {
  return namedReport((event, names) =>
    event.type === "note" && event.level === "warning"
      ? noteLines(event, event.run ? names.step(event.run, event.name) : names.workflow, style)
      : []
  );
}

/**
 * Everything about each step, for standard error: its request and response with all templates
 * rendered, its attempts and times, and the diagnostic messages of actions.
 */
export function verboseReport(options: DetailOptions): Reporter {
  const reporter = namedReport((event, names) => linesOf(event, names, options));
  return { ...reporter, takesRounds: true };
}

/** A reporter whose lines call jobs and steps by their names. */
function namedReport(
  linesOf: (event: RunEvent, names: StepNames) => readonly string[],
): Reporter {
  const runs = new Map<string, StepNames>();
  return {
    report(event) {
      let names = runs.get(event.runId);
      if (!names) runs.set(event.runId, names = new StepNames());
      names.update(event);
      if (event.type === "run_finished") runs.delete(event.runId);
      return asText(linesOf(event, names));
    },
  };
}

/** A message of a run beside its results, with its subject. */
function noteLines({ level, text }: Note, about: string, style: Style): string[] {
  const paint = level === "warning" ? style.yellow : style.dim;
  const [first = "", ...rest] = text.trimEnd().split("\n");
  return [
    `${paint(`${level}:`)} ${about === "" ? "" : `${about}: `}${first}`,
    ...indentLines(rest, 2),
  ];
}

/** The descriptions of waits, which follow their duration. */
const BEFORE: Readonly<Record<StepWaiting["why"], string>> = {
  wait: "",
  initial_delay: " before the first attempt",
  retry: " before the next attempt",
};

const INDENT = 2;

/** Enough to read by where there is no terminal. */
const COLUMNS_IN_A_FILE = 120;

function linesOf(event: RunEvent, names: StepNames, options: DetailOptions): string[] {
  const { style } = options;
  const at = (text: string) => `${style.dim(formatClock(event.time))} ${text}`;
  switch (event.type) {
    case "run_started":
      return [at(`${oneLine(event.name)} (${oneLine(event.file)})`)];
    case "job_started": {
      const rounds = event.rounds === undefined
        ? ""
        : `, repeating ${countOf(event.rounds, "time")}`;
      return [at(`${names.job(event.job)}: started${rounds}`)];
    }
    case "step_started":
      return [at(`${names.step(event.run)}: started (${event.uses})`)];
    case "step_waiting": {
      const time = formatDuration(event.milliseconds);
      return [at(`${names.step(event.run)}: waits ${time}${BEFORE[event.why]}`)];
    }
    case "step_retried": {
      const { number, duration, message } = event.attempt;
      const of = event.of === undefined ? "" : `/${event.of}`;
      const what = `attempt ${number}${of} failed after ${formatElapsed(duration)}`;
      return [at(`${names.step(event.run)}: ${what}${message ? `: ${oneLine(message)}` : ""}`)];
    }
    case "step_finished":
      return [
        at(stepHead(event, names, style)),
        ...indentLines(stepDetails(event, options), INDENT),
      ];
    case "round_finished":
      return [at(`${names.job(event.job)}: repeat_index ${event.round} ${event.state}`)];
    case "rounds_tallied":
    case "load_ended":
      return [];
    case "load_second":
      return [at(`${names.job(event.job)}: ${renderSeconds([event])}`)];
    case "job_finished":
      return [at(jobEnd(event, names))];
    case "note":
      return noteLines(event, event.run ? names.step(event.run, event.name) : "", style);
    case "run_finished":
      return [at(`${event.state} after ${formatElapsed(event.duration)}`)];
    case "suite_started":
      return [at(`${countOf(event.workflows, "workflow")}: started`)];
    case "suite_finished":
      return [at(`all workflows: ${event.state} after ${formatElapsed(event.duration)}`)];
  }
}

function stepHead({ run, result }: StepFinished, names: StepNames, style: Style): string {
  const { state, reason } = result;
  return `${stepIcon(state, style)} ${style.bold(names.step(run, oneLine(result.name)))}: ${
    state === "untested" ? "not tested" : state
  }` +
    (reason === undefined ? "" : ` (${oneLine(reason)})`);
}

function stepDetails({ result }: StepFinished, { style, columns }: DetailOptions): string[] {
  const { state, attempts, failures, exchange, echo } = result;
  if (state === "skipped") return [];
  // A command that sends a request once more helps with a failed step; of all others it is noise.
  const command = hasFailed(result) ? exchange?.command : undefined;
  // Fields of a request or response are indented twice more.
  const bounds = {
    columns: columns === undefined ? COLUMNS_IN_A_FILE : columns() - 3 * INDENT,
    lines: Infinity,
  };
  return [
    timesOf(result),
    ...(attempts.length < 2 ? [] : attempts).map(
      ({ number, outcome, started, duration, message }) =>
        `attempt ${number}: ${outcome} (@${formatClock(started)}, ${formatElapsed(duration)})` +
        (message === undefined ? "" : `: ${oneLine(message)}`),
    ),
    ...failures.map((failure) => style.red(summarizeFailure(failure))),
    ...exchange ? renderExchange({ ...exchange, command }, style, bounds) : [],
    ...echo === undefined ? [] : ["echo:", ...indentLines(echo.trimEnd().split("\n"), 2)],
  ];
}

function timesOf({ started, duration, responseTime, wait }: StepResult): string {
  const parts = [`started ${formatClock(started)}`, `took ${formatElapsed(duration)}`];
  if (responseTime !== undefined) parts.push(`response time ${formatElapsed(responseTime)}`);
  if (wait !== undefined) parts.push(`after a wait of ${formatDuration(wait)}`);
  return parts.join(", ");
}

function jobEnd({ job, state, duration, reason, failures }: JobFinished, names: StepNames): string {
  const remark = [...(reason === undefined ? [] : [reason]), ...failures.map(summarizeFailure)];
  return `${names.job(job)}: ${state} after ${formatElapsed(duration)}` +
    (remark.length === 0 ? "" : ` (${oneLine(remark.join("; "))})`);
}

/** Knows jobs and the steps under way by the names that people gave them. */
export class StepNames {
  readonly #jobs = new Map<string, string>();
  readonly #steps = new Map<string, string>();
  /** The workflow if it is one of several; otherwise empty. */
  workflow = "";

  /** Learns names from an event, and forgets those of steps that are over. */
  update(event: RunEvent): void {
    switch (event.type) {
      case "run_started":
        if (event.suite) this.workflow = suiteTitle(event);
        for (const { id, name } of event.jobs) this.#jobs.set(id, oneLine(name));
        return;
      case "job_started":
        this.#jobs.set(event.job, oneLine(event.name));
        return;
      case "step_started":
        this.#steps.set(runKey(event.run), oneLine(event.name));
        return;
      case "step_finished":
        this.#steps.delete(runKey(event.run));
        return;
    }
  }

  /** `Build`. */
  job(id: string): string {
    const name = this.#jobs.get(id) ?? id;
    return this.workflow === "" ? name : `${this.workflow} › ${name}`;
  }

  /** `Build › compile (repeat_index 2)`; steps of an embedded job follow the one that embeds it. */
  step(run: StepRun, name = this.#steps.get(runKey(run)) ?? `step ${run.step + 1}`): string {
    const around = run.within ? this.step(run.within) : this.job(run.job);
    return stepTitle(around, name, run);
  }
}
