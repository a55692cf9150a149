import { oneLine } from "../../base/text/printable.ts";
import { formatClock, formatDuration, formatElapsed } from "../../base/value/duration.ts";
import type {
  JobFinished,
  StepFinished,
  StepResult,
  StepRun,
  StepWaiting,
} from "../../run/event.ts";
import { hasFailed } from "../../run/step_trees.ts";
import type { Change, RunRecord } from "../record.ts";
import type { Reporter, Style } from "../reporter.ts";
import { stepIcon } from "./layout.ts";
import { asText, indentLines } from "./lines.ts";
import { countOf } from "../../base/text/count_of.ts";
import { renderExchange } from "./render_exchange.ts";
import { summarizeFailure } from "../../run/failure/summarize_failure.ts";
import { renderSeconds } from "./render_load.ts";
import { type DetailOptions, jobName, noteLines, stepName } from "./warning_report.ts";

/**
 * Everything about each step, for standard error: its request and response with all templates
 * rendered, its attempts and times, and the diagnostic messages of actions.
 */
export function verboseReport(options: DetailOptions): Reporter {
  return { report: (change) => asText(linesOf(change, options)), takesRounds: true };
}

/** The descriptions of waits, which follow their duration. */
const BEFORE: Readonly<Record<StepWaiting["why"], string>> = {
  wait: "",
  initial_delay: " before the first attempt",
  retry: " before the next attempt",
};

const INDENT = 2;

/** The width of output that does not go to a terminal. */
const COLUMNS_IN_A_FILE = 120;

function linesOf({ event, run, job }: Change, options: DetailOptions): string[] {
  const { style } = options;
  const at = (text: string) => [`${style.dim(formatClock(event.time))} ${text}`];
  if (event.type === "suite_started") {
    return at(`${countOf(event.workflows, "workflow")}: started`);
  }
  if (event.type === "suite_finished") {
    return at(`all workflows: ${event.state} after ${formatElapsed(event.duration)}`);
  }
  if (!run) return [];
  const ofJob = (text: string) => at(`${jobName(run, job!.id)}: ${text}`);
  const ofStep = (step: StepRun, text: string) => at(`${stepName(run, step)}: ${text}`);
  switch (event.type) {
    case "run_started":
      return at(`${oneLine(event.name)} (${oneLine(event.file)})`);
    case "job_started": {
      const rounds = event.rounds === undefined
        ? ""
        : `, repeating ${countOf(event.rounds, "time")}`;
      return ofJob(`started${rounds}`);
    }
    case "step_started":
      return ofStep(event.run, `started (${event.uses})`);
    case "step_waiting": {
      const time = formatDuration(event.milliseconds);
      return ofStep(event.run, `waits ${time}${BEFORE[event.why]}`);
    }
    case "step_retried": {
      const { number, duration, message } = event.attempt;
      const of = event.of === undefined ? "" : `/${event.of}`;
      const what = `attempt ${number}${of} failed after ${formatElapsed(duration)}`;
      return ofStep(event.run, `${what}${message ? `: ${oneLine(message)}` : ""}`);
    }
    case "step_finished":
      return [
        ...at(stepHead(event, run, style)),
        ...indentLines(stepDetails(event, options), INDENT),
      ];
    case "round_finished":
      return ofJob(`repeat_index ${event.round} ${event.state}`);
    case "messages_came":
    case "round_traced":
    case "rounds_tallied":
    case "load_ended":
      return [];
    case "load_second":
      return ofJob(renderSeconds([event]));
    case "job_finished":
      return ofJob(jobEnd(event));
    case "note":
      return noteLines(event, event.run ? stepName(run, event.run, event.name) : "", style);
    case "run_finished":
      return at(`${event.state} after ${formatElapsed(event.duration)}`);
  }
}

function stepHead({ run: step, result }: StepFinished, run: RunRecord, style: Style): string {
  const { state, reason, name } = result;
  return `${stepIcon(state, style)} ${style.bold(stepName(run, step, name))}: ${
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

function jobEnd({ state, duration, reason, failures }: JobFinished): string {
  const remark = [...(reason === undefined ? [] : [reason]), ...failures.map(summarizeFailure)];
  return `${state} after ${formatElapsed(duration)}` +
    (remark.length === 0 ? "" : ` (${oneLine(remark.join("; "))})`);
}
