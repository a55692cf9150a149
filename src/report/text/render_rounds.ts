import { displayWidth } from "../../base/text/display_width.ts";
import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { type EncodedHistogram, Histogram } from "../../base/value/histogram.ts";
import type { RoundsTallied, StepTally } from "../../run/event.ts";
import type { ReportOptions, Style } from "../reporter.ts";
import { describeKind, isAllowedFailure } from "../failed_parts.ts";
import { renderAllowed, renderTrouble, type Shown, type Where } from "./render_failure.ts";
import { BELOW_NAME, BELOW_NUMBER, renderEcho, stepIcon, stepNumber } from "./layout.ts";
import { fitSentence, indentedRoom, indentLines, type Room, roomOf } from "./lines.ts";
import { countOf } from "../../base/text/count_of.ts";

/** Renders the results of each step of a repeated job, in the order of the file. */
export function renderRounds(
  steps: readonly StepTally[],
  rounds: number,
  options: ReportOptions,
  room: Room = roomOf(options.columns?.()),
  shown: Shown = new Map(),
  around: Where = [],
): string[] {
  return steps.flatMap((step, number) => {
    const { style } = options;
    const where = [...around, `step ${number + 1}`];
    const roomInside = indentedRoom(room, BELOW_NUMBER);
    const inside = renderRounds(step.inside, rounds, options, roomInside, shown, where);
    const below = belowCount(step, style, indentedRoom(room, BELOW_NAME), shown, where);
    return [
      `${stepNumber(number, style)}${oneLine(step.name)} (repeating ${rounds} times)`,
      ...indentLines([countLine(step, rounds, style), ...inside], BELOW_NUMBER),
      ...indentLines(below, BELOW_NAME),
    ];
  });
}

/** ` (10 rounds, 1 failed)`. */
export function roundsRemark(
  rounds: number,
  tally: Pick<RoundsTallied, "rounds">,
): string {
  const { passed, failed, skipped } = tally.rounds;
  const left = rounds - passed - failed - skipped;
  const parts = [
    countOf(rounds, "round"),
    failed > 0 ? `${failed} failed` : "",
    skipped > 0 ? `${skipped} cut short` : "",
    left > 0 ? `${left} not run` : "",
  ];
  return ` (${parts.filter((text) => text !== "").join(", ")})`;
}

function countLine(step: StepTally, rounds: number, style: Style): string {
  const { passed, failed, skipped, untested, allowed } = step.states;
  const ran = passed + failed + untested + allowed;
  if (ran === 0) {
    const why = step.reason === undefined ? "" : ` (${oneLine(step.reason)})`;
    return `${stepIcon("skipped", style)} ${style.dim(`${skipped}/${rounds} skipped${why}`)}`;
  }
  const left = rounds - ran - skipped;
  const isAllowed = isAllowedFailure(step);
  const remarks = [
    isAllowed ? `, ${countOf(allowed, "allowed failure")}` : "",
    step.flaky > 0 ? `, ${step.flaky} flaky` : "",
    skipped > 0 ? `, ${skipped} skipped` : "",
    left > 0 ? `, ${left} not run` : "",
  ].join("");
  const failures = failed + allowed;
  const best = untested > 0 ? "untested" : "passed";
  const icon = isAllowed
    ? style.yellow("!")
    : stepIcon(failed > 0 ? "failed" : allowed > 0 ? "allowed" : best, style);
  if (untested > 0 && failures === 0) return `${icon} ${untested}/${ran} not tested${remarks}`;
  const good = ran - failures;
  const percent = good / ran * 100;
  // Rounding must not turn nearly all into all, nor nearly none into none.
  const shown = good === 0 || good === ran ? percent : Math.min(Math.max(percent, 0.1), 99.9);
  return `${icon} ${good}/${ran} passed (${shown.toFixed(1)}%)${remarks}`;
}

/** The distinct echoes of the rounds, each with its first round unless all are equal. */
function echoLines({ echoes, otherEchoes }: StepTally, style: Style): string[] {
  const isSame = echoes.length + otherEchoes === 1;
  return echoes.flatMap(({ text, round, count }) => {
    const lines = renderEcho(text, style);
    if (isSame) return lines;
    const label = style.dim(`repeat_index ${round}${count === 1 ? "" : ` and ${count - 1} more`}:`);
    return lines.length === 1 ? [`${label} ${lines[0]}`] : [label, ...indentLines(lines, 2)];
  });
}

function belowCount(
  step: StepTally,
  style: Style,
  room: Room,
  shown: Shown,
  around: Where,
): string[] {
  return [
    ...renderTimes(step, room).map(style.dim),
    ...echoLines(step, style),
    ...step.otherEchoes > 0 ? [`… (${step.otherEchoes} more)`] : [],
    ...step.failures.flatMap((kind) => {
      const { result } = kind.first;
      if (result.allowFailure) {
        return [`${describeKind(kind)}:`, ...indentLines(renderAllowed(result, style, room), 2)];
      }
      const where = [...around, `at repeat_index ${kind.round}`];
      const trouble = renderTrouble(result, style, indentedRoom(room, 2), shown, where);
      return [`${describeKind(kind)}:`, ...indentLines(trouble, 2)];
    }),
    ...step.otherFailures > 0 ? [countOf(step.otherFailures, "other failure")] : [],
  ];
}

/** Fewer times are read faster as numbers. */
const MIN_TIMES = 10;
/** From low to high. */
export const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const [MIN_BARS, MAX_BARS] = [4, 24];

/** The times of the rounds of a job that repeats. */
export function renderRoundTimes({ times }: Pick<RoundsTallied, "times">, room: Room): string[] {
  const all = times && Histogram.decode(times);
  if (!all || all.count < 2) return [];
  return fitSentence(`times of rounds: ${renderStatistics(all)}`, room);
}

/** The response times of a repeated step: statistics and a histogram. */
function renderTimes({ times, instant }: StepTally, room: Room): string[] {
  if (!times || instant) return [];
  const all = Histogram.decode(times);
  if (all.count < 2) return [];
  return [
    ...fitSentence(`response times: ${renderStatistics(all)}`, room),
    ...renderHistogram(all, times, room),
  ];
}

/** `min 1ms, mean 2ms, …`. */
function renderStatistics(times: Histogram): string {
  const { count: _, p999: __, ...statistics } = times.summary()!;
  return Object.entries(statistics).map(([name, time]) => `${name} ${formatElapsed(time)}`)
    .join(", ");
}

/** A bar for each part of the time between the minimum and the maximum; empty parts have none. */
function renderHistogram(
  times: Histogram,
  { min, max }: EncodedHistogram,
  room: Room,
): string[] {
  if (times.count < MIN_TIMES) return [];
  const [left, right] = [formatElapsed(min), formatElapsed(max)];
  if (left === right) return [];
  const label = "distribution:";
  const free = room.columns - displayWidth(label + left + right) - 3;
  if (free < MIN_BARS) return [];
  const counts = times.bars(Math.min(free, MAX_BARS));
  if (counts.length < MIN_BARS) return [];
  const highest = Math.max(...counts);
  const bars = counts.map((count) =>
    count === 0 ? " " : BARS[Math.ceil(count / highest * BARS.length) - 1]!
  );
  return [`${label} ${left} ${bars.join("")} ${right}`];
}
