import { countOf, grouped } from "../../base/text/count_of.ts";
import { displayWidth } from "../../base/text/display_width.ts";
import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { Histogram } from "../../base/value/histogram.ts";
import type {
  LoadEnded,
  LoadFailures,
  LoadNumbers,
  LoadSecond,
  LoadStats,
  LoadThreshold,
  StepTree,
} from "../../run/event.ts";
import { hasFailed } from "../../run/step_trees.ts";
import type { Style } from "../reporter.ts";
import { fitSentence, indentedRoom, indentLines, type Room } from "./lines.ts";
import { renderTrouble } from "./render_failure.ts";

/** What a load job came to: its rounds, a row for each step, its thresholds, and what failed. */
export function renderLoad(
  { stats, thresholds, causes, otherFailures = 0, stopped }: LoadEnded,
  style: Style,
  room: Room,
): string[] {
  const below = indentedRoom(room, 2);
  return [
    ...fitSentence(renderRoundsLine(stats), room),
    ...stopped === undefined ? [] : [style.yellow(`ended early: ${oneLine(stopped)}`)],
    ...indentLines(renderSteps(stats, style), 2),
    ...indentLines([...renderThresholds(thresholds, style), ...slowestStep(stats, thresholds)], 2),
    ...causes.flatMap((cause) => [
      `${describeCause(cause, stats)}:`,
      ...indentLines(cause.example ? renderExample(cause.example, style, below) : [], 2),
    ]),
    ...otherFailures > 0 ? [countOf(otherFailures, "other failure")] : [],
  ];
}

/** `60,000 rounds in 5m   200.0/s of 200/s   0 dropped, 12 late (worst 18ms)   12 failed (0.02 %)`. */
export function renderRoundsLine(stats: LoadStats, separator = "   "): string {
  const {
    count,
    failed,
    elapsed,
    rate,
    asked,
    users,
    dropped,
    late,
    lateMax,
    inFlight,
    resent,
    unfinished,
  } = stats;
  const worst = late > 0 ? ` (worst ${formatElapsed(lateMax)})` : "";
  return [
    `${grouped(count)} ${count === 1 ? "round" : "rounds"} in ${formatElapsed(elapsed)}`,
    asked === undefined
      ? `${perSecond(rate)}/s by ${countOf(users ?? 0, "user")}`
      : `${perSecond(rate)}/s of ${perSecond(asked)}/s`,
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
  const { rate, pace, times, inFlight, failed, dropped, late } = sumSeconds(seconds);
  const [p95] = times.percentiles([95]);
  return [
    formatPosition(Math.round((last.from + last.length) / 1000) * 1000),
    rate + pace,
    ...times.count === 0 ? [] : [`p95 ${formatElapsed(p95!)}`],
    `${grouped(failed)} failed`,
    `${grouped(inFlight)} at once`,
    ...dropped > 0 ? [`${grouped(dropped)} dropped`] : [],
    ...late > 0 ? [`${grouped(late)} late`] : [],
    ...last.phase === "warm_up" ? ["(warm-up)"] : [],
  ].join("  ");
}

/** What a few seconds come to. */
export interface SecondsSum {
  /** `198/s`. */
  readonly rate: string;
  /** ` of 200/s`, or ` by 50 users`. */
  readonly pace: string;
  readonly times: Histogram;
  /** The rounds under way at their end, or the users. */
  readonly inFlight: number;
  readonly failed: number;
  readonly dropped: number;
  readonly late: number;
}

/** Adds up seconds, those of several processes with the same `from` too. */
export function sumSeconds(seconds: readonly LoadSecond[]): SecondsSum {
  const times = new Histogram(true);
  const lengths = new Map<number, number>();
  let [failed, dropped, late, ended, asked] = [0, 0, 0, 0, 0];
  for (const second of seconds) {
    failed += second.rounds.failed;
    ended += second.rounds.passed + second.rounds.failed;
    dropped += second.dropped ?? 0;
    late += second.late ?? 0;
    asked += (second.asked ?? 0) * second.length / 1000;
    lengths.set(second.from, Math.max(lengths.get(second.from) ?? 0, second.length));
    if (second.rounds.times) times.merge(Histogram.decode(second.rounds.times));
  }
  const length = [...lengths.values()].reduce((sum, one) => sum + one, 0) / 1000;
  const final = seconds.filter(({ from }) => from === seconds.at(-1)!.from);
  const sumOf = (key: "users" | "inFlight") => final.reduce((sum, one) => sum + (one[key] ?? 0), 0);
  const isOpen = final[0]?.users === undefined;
  const isEnding = final[0]?.phase === "ending";
  return {
    rate: `${perSecond(length === 0 ? 0 : ended / length)}/s`,
    pace: !isOpen
      ? ` by ${countOf(sumOf("users"), "user")}`
      : isEnding || length === 0
      ? ""
      : ` of ${perSecond(asked / length)}/s`,
    times,
    inFlight: sumOf("inFlight"),
    ...{ failed, dropped, late },
  };
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

/** A part of a threshold with its value; the value alone where there is no other part. */
export function renderOperand(
  { text, value }: LoadThreshold["operands"][number],
  _: number,
  all: LoadThreshold["operands"],
): string {
  const shown = Number.isNaN(value)
    ? "NaN: nothing was measured"
    : typeof value !== "number" || Number.isInteger(value)
    ? String(value)
    : String(Number(value.toPrecision(4)));
  return all.length === 1 ? shown : `${text} ${shown}`;
}

/** Why a step failed, or of one that embeds a job, why steps of that did. */
function renderExample({ result, inside }: StepTree, style: Style, room: Room): string[] {
  const failed = inside.filter(({ result }) => hasFailed(result));
  if (failed.length === 0) return renderTrouble(result, style, room);
  return failed.flatMap((step) => [
    `${oneLine(step.result.name)}:`,
    ...indentLines(renderExample(step, style, indentedRoom(room, 2)), 2),
  ]);
}

/** `pay failed 12 times, from 12:00:01 to 12:04:33`. */
function describeCause(
  { count, first, last, example }: LoadFailures,
  { steps }: LoadStats,
): string {
  const step = steps.find(({ step }) => step === example?.run.step);
  return `${step ? `${oneLine(step.key)} ` : ""}${timesOf({ count, first, last })}`;
}

function timesOf({ count, first, last }: Pick<LoadFailures, "count" | "first" | "last">): string {
  if (count === 1) return `failed once, at ${clockTime(first)}`;
  const time = clockTime(first) === clockTime(last)
    ? `at ${clockTime(first)}`
    : `from ${clockTime(first)} to ${clockTime(last)}`;
  return `failed ${grouped(count)} times, ${time}`;
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
