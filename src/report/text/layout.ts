import type { JobState, RunFinished, StepResult, StepState } from "../../run/event.ts";
import { formatClock, formatDuration, formatElapsed } from "../../base/value/duration.ts";
import { oneLine, printableLine } from "../../base/text/printable.ts";
import type { Paint, ReportOptions, Style } from "../reporter.ts";
import { sumOf } from "../../run/count_steps.ts";
import { countOf, indentedRoom, type Room, roomOf } from "./lines.ts";

/** Where the text below a step begins: under its name. */
export const BELOW_NAME = 8;
/** The indentation of the steps of an embedded job: their numbers begin below the name. */
export const INSIDE_STEP = 5;
/** Where the text below the number of a step begins. */
export const BELOW_NUMBER = 6;
/** Where the text below a job begins. */
export const BELOW_JOB = 4;

/** The sign for the outcome of a step, in its colour. */
export function stepIcon(state: StepState, style: Style): string {
  const icons: Readonly<Record<StepState, [icon: string, paint: Paint]>> = {
    passed: ["✓", style.green],
    failed: ["✗", style.red],
    untested: ["○", style.blue],
    skipped: ["-", style.blue],
    tolerated: ["✗", style.yellow],
  };
  const [icon, paint] = icons[state];
  return paint(icon);
}

/** Shorter times of steps are not shown, in milliseconds. */
const LEAST_SHOWN = 100;

/** `   2. ✓ wait for it (after 1s) ↻ 2/5 (1.3s)`. */
export function stepLine(index: number, result: StepResult, options: ReportOptions): string {
  return stepNumber(index, options.style) + stepText(result, options);
}

/** `✗ Build › compile   api.yml:14`: a step where several jobs write by turns. */
export function stepLineOf(job: string, result: StepResult, options: ReportOptions): string {
  const place = result.failures.find((failure) => failure.place)?.place;
  const where = place
    ? `   ${options.style.cyan(`${printableLine(place.file)}:${place.line}`)}`
    : "";
  return stepText({ ...result, name: `${job} › ${result.name}` }, options) + where;
}

function stepText(result: StepResult, options: ReportOptions): string {
  const { style } = options;
  const { state, wait, attempts, maxAttempts, flaky, reason, untested, duration } = result;
  const name = oneLine(result.name);
  const isSkipped = state === "skipped";
  const remark = isSkipped
    ? ` (skipped${reason ? `: ${oneLine(reason)}` : ""})`
    : untested === undefined
    ? ""
    : ` (${oneLine(untested)}, not tested)`;
  const retry = maxAttempts === undefined || isSkipped
    ? ""
    : ` ↻ ${attempts.length}/${maxAttempts}${flaky ? " flaky" : ""}`;
  const time = duration >= LEAST_SHOWN && !isSkipped ? ` (${formatElapsed(duration)})` : "";
  return `${stepIcon(state, style)} ` +
    (isSkipped ? style.dim(name + remark) : name + style.yellow(remark)) +
    style.dim(assertionsOf(result)) +
    style.dim(wait === undefined ? "" : ` (after ${formatDuration(wait)})`) +
    (attempts.length > 1 ? style.yellow(retry) : style.dim(retry)) +
    style.dim(time) +
    (options.timing && !isSkipped ? style.dim(timingOf(result)) : "");
}

/** ` (2 of 5 assertions failed)` where there is more than one. */
function assertionsOf({ assertions: { passed, failed } = { passed: 0, failed: 0 } }: StepResult) {
  const all = passed + failed;
  if (all < 2) return "";
  return failed === 0 ? ` (${all} assertions)` : ` (${failed} of ${all} assertions failed)`;
}

/** `   2. ` for the second step. */
export function stepNumber(index: number, style: Style): string {
  return style.dim(`${String(index + 1).padStart(BELOW_NUMBER - 2)}.`) + " ";
}

function timingOf({ started, responseTime, phases = {} }: StepResult): string {
  const elapsed = responseTime === undefined ? "" : ` ${formatElapsed(responseTime)}`;
  const parts = Object.entries(phases).map(([name, time]) =>
    `${name.replaceAll("_", " ")} ${formatElapsed(time)}`
  );
  const words = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  return ` (@${formatClock(started)}${elapsed}${words})`;
}

/** The name of a workflow and what it is for. */
export function runHeader(name: string, description: string | undefined, style: Style): string[] {
  const text = description?.trim() ?? "";
  const about = text === "" ? [] : text.split("\n").map(style.dim);
  return [style.bold(oneLine(name)), ...about, ""];
}

/** The line above the steps of a job. */
export function jobHeader(name: string, style: Style): string {
  return `${style.cyan("●")} ${style.bold(oneLine(name))}`;
}

/** The only line of a job that was skipped. */
export function skippedJob(name: string, reason: string | undefined, style: Style): string {
  return style.dim(`- ${oneLine(name)} (skipped${reason ? `: ${oneLine(reason)}` : ""})`);
}

/** The line below the steps of a job. */
export function jobEnd(state: JobState, duration: number, remark: string, style: Style): string {
  const [word, paint] = JOB_ENDS[state];
  const text = paint(style)(`${word} ${formatElapsed(duration)}`);
  return `  ${text}${style.dim(remark)}`;
}

const JOB_ENDS: Readonly<Record<JobState, [words: string, paint: (style: Style) => Paint]>> = {
  passed: ["Completed in", ({ dim }) => dim],
  failed: ["Failed in", ({ red }) => red],
  skipped: ["Stopped after", ({ yellow }) => yellow],
};

/** The options for lines that are indented that far. */
export function narrowed(options: ReportOptions, indent: number): ReportOptions {
  const { columns } = options;
  return columns ? { ...options, columns: () => columns() - indent } : options;
}

/** The remaining width of a line under the name of a step. */
export function belowName({ columns }: ReportOptions): Room {
  return indentedRoom(roomOf(columns?.()), BELOW_NAME);
}

/** The text that a step adds to the report. */
export function renderEcho(echo: string | undefined, style: Style): string[] {
  const text = echo?.trim() ?? "";
  return text === "" ? [] : text.split("\n").map((line) => style.blue(line.trimEnd()));
}

/**
 * The last line of a report: how long the run took and what came of it; `name` begins it, and
 * `untested` names the steps that were unsuccessful and that nothing tests.
 */
export function renderFooter(
  event: RunFinished,
  style: Style,
  untested: string,
  name?: string,
): string {
  const total = `Total workflow time: ${formatElapsed(event.duration)}`;
  const time = (name === undefined ? "" : `${style.bold(oneLine(name))}: `) + style.dim(total);
  if (event.state === "passed") {
    const warning = untestedWarning(event.untestedFailures, untested);
    const end = warning ? style.yellow(warning) : style.green("✓ All jobs succeeded");
    const counts = runCounts({ ...event, untestedFailures: 0 });
    return `${time} ${end}${counts === "" ? "" : style.dim(` (${counts})`)}`;
  }
  const counts = runCounts(event);
  const why = event.interrupted === undefined ? [] : [oneLine(event.interrupted)];
  const text = [...why, ...(counts === "" ? [] : [counts])].join("; ") || "failed";
  return `${time} ${style.red(`✗ ${text}`)}`;
}

/** What `--strict` would make of steps that were unsuccessful and that nothing tests. */
export function untestedWarning(count: number, names: string): string | undefined {
  if (count === 0) return undefined;
  const what = count === 1
    ? "1 step was unsuccessful and nothing tests it"
    : `${count} steps were unsuccessful and nothing tests them`;
  return `⚠ ${what}: ${names}; --strict fails the run`;
}

/** `1 job failed; 9 steps: 5 passed, 1 failed, 3 not tested; 1 flaky step`. */
export function runCounts(
  { jobs, steps, untestedFailures, flaky, leftOut = 0 }: RunFinished,
): string {
  const chosen = jobs.passed + jobs.failed + jobs.skipped;
  return [
    failedAndSkipped(jobs),
    stepCounts(steps, untestedFailures),
    flaky > 0 ? `${countOf(flaky, "flaky step")}` : "",
    leftOut > 0 ? `${chosen} of ${countOf(chosen + leftOut, "job")} selected` : "",
  ].filter((text) => text !== "").join("; ");
}

/** `2 jobs failed, 1 skipped`. */
function failedAndSkipped({ failed, skipped }: RunFinished["jobs"]): string {
  const parts = failed > 0 ? [`${countOf(failed, "job")} failed`] : [];
  if (skipped > 0) parts.push(`${failed > 0 ? skipped : countOf(skipped, "job")} skipped`);
  return parts.join(", ");
}

/** `9 steps: 5 passed, 1 failed, 3 not tested`, or `9 steps passed`. */
export function stepCounts(steps: RunFinished["steps"], untestedFailures = 0): string {
  const unsuccessful = untestedFailures > 0 ? ` (${untestedFailures} unsuccessful)` : "";
  const parts = STEP_WORDS.flatMap(([state, words]) => {
    if (steps[state] === 0) return [];
    return [[steps[state], words + (state === "untested" ? unsuccessful : "")] as const];
  });
  const [first, ...others] = parts;
  if (!first) return "";
  if (others.length === 0) return `${countOf(first[0], "step")} ${first[1]}`;
  return `${countOf(sumOf(steps), "step")}: ${parts.map((part) => part.join(" ")).join(", ")}`;
}

/** The outcomes of steps in the order and words of all reports. */
const STEP_WORDS = [
  ["passed", "passed"],
  ["failed", "failed"],
  ["tolerated", "tolerated"],
  ["skipped", "skipped"],
  ["untested", "not tested"],
] as const;
