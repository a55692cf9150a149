import type { JobState, RunStarted, StepResult, StepState } from "../../run/event.ts";
import { formatClock, formatDuration, formatElapsed } from "../../base/value/duration.ts";
import { oneLine } from "../../base/text/printable.ts";
import type { ReportOptions, Style } from "../reporter.ts";

/** Where the text below a step begins: under its name. */
export const BELOW_NAME = 8;
/** The indentation of the steps of an embedded job: their numbers begin below the name. */
export const INSIDE_STEP = 5;
/** Where the text below the number of a step begins. */
export const BELOW_NUMBER = 6;
/** Where the text below a job begins. */
export const BELOW_JOB = 4;

/** The name of a workflow and its description. */
export function runHeader(name: string, description = "", style: Style): string[] {
  const text = description.trim();
  return [style.bold(oneLine(name)), ...text === "" ? [] : text.split("\n").map(style.dim), ""];
}

/** The title of a workflow of a suite: its name, after its role if it is not a test. */
export function suiteTitle({ name, suite }: Pick<RunStarted, "name" | "suite">): string {
  return (suite?.role === undefined ? "" : `${suite.role}: `) + oneLine(name);
}

/** The line above the steps of a job that is not over. */
export function openJob(name: string, style: Style): string {
  return `${style.cyan("●")} ${style.bold(oneLine(name))}`;
}

/** The only line of a job that was skipped. */
export function skippedJob(name: string, reason: string | undefined, style: Style): string {
  return style.dim(`- ${oneLine(name)} (skipped${reason ? `: ${oneLine(reason)}` : ""})`);
}

/** The outcome of a job, for its sign. */
type JobMark = JobState | "allowed";

/** The line of a job that is over: `✗ Catalogue 404ms`. */
export function endedJob(
  mark: JobMark,
  name: string,
  duration: number,
  remark: string,
  style: Style,
): string {
  return `${jobIcon(mark, style)} ${style.bold(oneLine(name))} ` +
    style.dim(formatElapsed(duration) + remark);
}

/** The sign for the outcome of a job or a workflow, in its colour. */
export function jobIcon(mark: JobMark, style: Style): string {
  return mark === "allowed" ? style.yellow("!") : stepIcon(mark, style);
}

/** The sign for the outcome of a step, in its colour. */
export function stepIcon(state: StepState, { green, red, blue, yellow, dim }: Style): string {
  const icons: Readonly<Record<StepState, string>> = {
    passed: green("✓"),
    failed: red("✗"),
    untested: blue("○"),
    skipped: dim("-"),
    allowed: yellow("✗"),
  };
  return icons[state];
}

/** Shorter times of steps are not shown, in milliseconds. */
const MIN_SHOWN = 100;

/** `   2. ✓ wait for it (after 1s) ↻ 2/5 (1.3s)`. */
export function stepLine(index: number, result: StepResult, options: ReportOptions): string {
  const { style, timing } = options;
  const { state, wait, flaky, resent, reason, duration } = result;
  const icon = stepNumber(index, style) +
    (result.allowFailure ? style.yellow("!") : stepIcon(state, style));
  const name = oneLine(result.name);
  if (state === "skipped") {
    const why = style.dim(`${name} (skipped${reason ? `: ${oneLine(reason)}` : ""})`);
    return `${icon} ${why}${style.dim(assertionsOf(result))}${style.dim(waitOf(wait))}`;
  }
  const retry = `${retriesOf(result)}${resent ? " ↻ resent" : ""}${flaky ? " flaky" : ""}`;
  return `${icon} ${name}` +
    style.yellow(result.allowFailure ? " (allowed failure)" : "") +
    style.dim(assertionsOf(result)) +
    style.dim(waitOf(wait)) +
    style.yellow(retry) +
    style.dim(duration >= MIN_SHOWN ? ` (${formatElapsed(duration)})` : "") +
    (timing ? style.dim(timingOf(result)) : "");
}

/** `   2. ` for the second step. */
export function stepNumber(index: number, style: Style): string {
  return style.dim(`${String(index + 1).padStart(BELOW_NUMBER - 2)}.`) + " ";
}

/** ` ↻ 3/5`, or ` ↻ 3 within 2m` where only their time is limited; nothing if the first was good. */
function retriesOf({ attempts, maxAttempts, retryTime }: StepResult): string {
  if (attempts.length < 2) return "";
  if (maxAttempts !== undefined) return ` ↻ ${attempts.length}/${maxAttempts}`;
  if (retryTime === undefined) return "";
  return ` ↻ ${attempts.length} within ${formatDuration(retryTime)}`;
}

function waitOf(wait: number | undefined): string {
  return wait === undefined ? "" : ` (after ${formatDuration(wait)})`;
}

/** ` (2 of 5 assertions failed)` if there is more than one. */
function assertionsOf({ assertions: { passed, failed } = { passed: 0, failed: 0 } }: StepResult) {
  const all = passed + failed;
  if (all < 2) return "";
  return failed === 0 ? ` (${all} assertions)` : ` (${failed} of ${all} assertions failed)`;
}

function timingOf({ started, responseTime, phases = {} }: StepResult): string {
  const elapsed = responseTime === undefined ? "" : ` ${formatElapsed(responseTime)}`;
  const parts = Object.entries(phases).map(([name, time]) =>
    `${name.replaceAll("_", " ")} ${formatElapsed(time)}`
  );
  return ` (@${formatClock(started)}${elapsed}${
    parts.length === 0 ? "" : `: ${parts.join(", ")}`
  })`;
}

/** The text that a step adds to the report. */
export function renderEcho(echo: string | undefined, style: Style): string[] {
  const text = echo?.trim() ?? "";
  return text === "" ? [] : text.split("\n").map((line) => style.blue(line.trimEnd()));
}
