import { countOf, grouped } from "../../base/text/count_of.ts";
import { displayWidth } from "../../base/text/display_width.ts";
import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import type {
  FailureTally,
  LoadEnded,
  LoadNumbers,
  LoadSecond,
  LoadStats,
  LoadThreshold,
  RoundTally,
  StepTally,
  StepTree,
} from "../../run/event.ts";
import { LoadTotals } from "../../run/load/load_stats.ts";
import { hasFailed } from "../../run/step_trees.ts";
import type { Style } from "../reporter.ts";
import { fitSentence, indentedRoom, indentLines, type Room } from "./lines.ts";
import { renderTrouble, type Shown, type Where } from "./render_failure.ts";

/** The result of a load job: its rounds, a row for each step, its thresholds, and what failed. */
export function renderLoad(
  { stats, thresholds, stopped }: LoadEnded,
  tally: RoundTally,
  style: Style,
  room: Room,
  shown: Shown,
  around: Where,
): string[] {
  const below = indentedRoom(room, 2);
  const otherFailures = otherFailuresOf(tally);
  return [
    ...fitSentence(renderRoundsLine(stats), room),
    ...stopped === undefined ? [] : [style.yellow(`ended early: ${oneLine(stopped)}`)],
    ...indentLines(renderSteps(stats, style), 2),
    ...indentLines([...renderThresholds(thresholds, style), ...slowestStep(stats, thresholds)], 2),
    ...causesOf(tally).flatMap((cause) => [
      `${describeCause(cause, stats)}:`,
      ...indentLines(renderExample(cause.first, style, below, shown, around), 2),
    ]),
    ...otherFailures > 0 ? [countOf(otherFailures, "other failure")] : [],
  ];
}

/** `60,000 rounds in 5m   200.0/s of 200/s   0 dropped, 12 late (worst 18ms)   12 failed (0.02 %)`. */
export function renderRoundsLine(stats: LoadStats, separator = "   "): string {
  const { count, failed, elapsed, asked, dropped, late, lateMax, inFlight } = stats;
  const { resent, unfinished } = stats;
  const worst = late > 0 ? ` (worst ${formatElapsed(lateMax)})` : "";
  return [
    `${grouped(count)} ${count === 1 ? "round" : "rounds"} in ${formatElapsed(elapsed)}`,
    renderPace(stats),
    ...asked === undefined
      ? []
      : [`${grouped(dropped)} dropped, ${grouped(late)} late${worst}, ${inFlight} at once`],
    ...unfinished ? [`${grouped(unfinished)} under way at the end`] : [],
    ...resent ? [`${grouped(resent)} sent again`] : [],
    `${grouped(failed)} failed${failed > 0 ? ` (${percent(failed, count)})` : ""}`,
  ].join(separator);
}

/** `1:20  200/s of 200/s  p95 48ms  0 failed  12 at once`: what happened in a few seconds. */
export function renderSeconds(seconds: readonly LoadSecond[]): string {
  const last = seconds.at(-1)!;
  const stats = sumSeconds(seconds);
  const { count, p95, failed, dropped, late } = stats;
  return [
    formatPosition(Math.round((last.from + last.length) / 1000) * 1000),
    renderPace(stats),
    ...count === 0 ? [] : [`p95 ${formatElapsed(p95)}`],
    `${grouped(failed)} failed`,
    `${grouped(last.inFlight)} at once`,
    ...dropped > 0 ? [`${grouped(dropped)} dropped`] : [],
    ...late > 0 ? [`${grouped(late)} late`] : [],
    ...last.phase === "warm_up" ? ["(warm-up)"] : [],
  ].join("  ");
}

/** The sum of a few seconds. */
export function sumSeconds(
  seconds: readonly LoadSecond[],
  keys: readonly string[] = [],
): LoadStats {
  const totals = new LoadTotals(keys);
  for (const second of seconds) totals.add(second);
  return totals.stats();
}

/** `198/s of 200/s`, or `198/s by 50 users`. */
export function renderPace({ rate, asked, users }: LoadStats): string {
  const pace = users === undefined
    ? asked ? ` of ${perSecond(asked)}/s` : ""
    : ` by ${countOf(users, "user")}`;
  return `${perSecond(rate)}/s${pace}`;
}

/** Failures of a step that are alike. */
export interface CauseOfFailures extends FailureTally {
  readonly step: StepTally;
}

/** The failures of the steps of a job by cause, the most frequent first. */
export function causesOf({ steps }: RoundTally): readonly CauseOfFailures[] {
  return steps.flatMap((step) => step.failures.map((failures) => ({ ...failures, step })))
    .sort((one, other) => other.count - one.count);
}

/** The number of failures of the steps of a job that are of no known cause. */
export function otherFailuresOf({ steps }: RoundTally): number {
  return steps.reduce((sum, { otherFailures }) => sum + otherFailures, 0);
}

/** A time within a load job: `1:20`, or `1:00:05`. */
export function formatPosition(milliseconds: number): string {
  const all = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (number: number) => String(number).padStart(2, "0");
  const minutes = Math.floor(all / 60);
  const seconds = two(all % 60);
  return minutes < 60
    ? `${minutes}:${seconds}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${seconds}`;
}

function renderSteps({ steps }: LoadStats, style: Style): string[] {
  if (steps.length === 0) return [];
  // How long requests waited here for a connection, on average: a part of the times beside it.
  const waits = steps.map(({ phases }) => phases?.queue ?? 0);
  const isShown = waits.some((wait) => wait >= 1);
  const [head, ...rows] = alignColumns([
    ["step", "count", "rate", "p50", "p95", "p99", "max", "failed", ...isShown ? ["queued"] : []],
    ...steps.map((step, at) => [
      ...[oneLine(step.key), ...numberCells(step)],
      ...isShown ? [formatElapsed(waits[at]!)] : [],
    ]),
  ]);
  return [style.dim(head!), ...rows];
}

/** `60,000`, `200/s`, its times and failures: the columns of a row. */
export function numberCells({ count, rate, p50, p95, p99, max, failed }: LoadNumbers): string[] {
  const times = [p50, p95, p99, max].map((time) => count === 0 ? "" : formatElapsed(time));
  return [grouped(count), `${perSecond(rate)}/s`, ...times, grouped(failed)];
}

/** `✓ stats.p95 < 0.3  0.28`. */
function renderThresholds(thresholds: readonly LoadThreshold[], style: Style): string[] {
  const rows = alignColumns(
    thresholds.map(({ expression, says, operands, problem }) => [
      oneLine(says ?? expression),
      problem === undefined ? operands.map(renderOperand).join(", ") : oneLine(problem),
    ]),
    false,
  );
  return rows.map((row, index) =>
    thresholds[index]!.passed ? `${style.green("✓")} ${row}` : `${style.red("✗")} ${row}`
  );
}

/** The step to look at where a threshold of the times of rounds is missed. */
function slowestStep({ steps }: LoadStats, thresholds: readonly LoadThreshold[]): string[] {
  const isTooSlow = thresholds.some(({ passed, problem, expression }) =>
    !passed && problem === undefined && /\bstats\.(?:p\d+|max|mean)\b/.test(expression)
  );
  const [slowest, second] = steps.toSorted((one, other) => other.p95 - one.p95);
  if (!isTooSlow || !slowest || !second) return [];
  return [`the slowest step is ${oneLine(slowest.key)}: p95 ${formatElapsed(slowest.p95)}`];
}

/** A part of a threshold with its value; the value alone if there is no other part. */
export function renderOperand(
  { text, value }: LoadThreshold["operands"][number],
  _: number,
  all: LoadThreshold["operands"],
): string {
  const shown = Number.isNaN(value)
    ? "NaN: nothing was measured"
    : typeof value !== "number" || Number.isInteger(value)
    ? String(value)
    : /\.(?:p\d+|min|max|mean)$/.test(text)
    ? formatElapsed(value * 1000)
    : String(Number(value.toPrecision(4)));
  return all.length === 1 ? shown : `${text} ${shown}`;
}

/** Why a step failed, or of one that embeds a job, why steps of that did. */
function renderExample(
  { result, inside }: StepTree,
  style: Style,
  room: Room,
  shown: Shown,
  around: Where,
): string[] {
  const failed = inside.filter(({ result }) => hasFailed(result));
  const where = [...around, `in ${oneLine(result.name)}`];
  if (failed.length === 0) return renderTrouble(result, style, room, shown, where);
  return failed.flatMap((step) => [
    `${oneLine(step.result.name)}:`,
    ...indentLines(renderExample(step, style, indentedRoom(room, 2), shown, where), 2),
  ]);
}

/** `pay failed 12 times, from 12:00:01 to 12:04:33`. */
function describeCause({ count, from, to, step }: CauseOfFailures, { steps }: LoadStats): string {
  const name = oneLine(steps.find((one) => one.step === step.step)?.key ?? step.name);
  if (count === 1) return `${name} failed once, at ${clockTime(from)}`;
  const time = clockTime(from) === clockTime(to)
    ? `at ${clockTime(from)}`
    : `from ${clockTime(from)} to ${clockTime(to)}`;
  return `${name} failed ${grouped(count)} times, ${time}`;
}

function clockTime(time: number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((number) => String(number).padStart(2, "0")).join(":");
}

/** Rows of cells, the first at the left and the others at the right where `toRight`. */
export function alignColumns(rows: readonly (readonly string[])[], toRight = true): string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => displayWidth(row[column]!)))
  );
  return rows.map((row) =>
    row.map((cell, column) => {
      const space = " ".repeat(widths[column]! - displayWidth(cell));
      return column === 0 || !toRight ? cell + space : space + cell;
    }).join("  ").trimEnd()
  );
}

/** A rate in as many digits as people read. */
export function perSecond(rate: number): string {
  return rate >= 1000
    ? grouped(Math.round(rate))
    : rate >= 10
    ? String(Math.round(rate * 10) / 10)
    : String(Math.round(rate * 100) / 100);
}

/** `0.02 %`. */
export function percent(part: number, whole: number): string {
  const value = part / whole * 100;
  return `${value >= 10 ? Math.round(value) : Number(value.toPrecision(2))} %`;
}
