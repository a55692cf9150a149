import { displayWidth } from "../../base/text/display_width.ts";
import { oneLine } from "../../base/text/printable.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import { sumOf } from "../../run/count_steps.ts";
import {
  type FailureKind,
  renderCommonName,
  type RoundTally,
  type StepTallies,
  type StepTally,
} from "../model/round_tally.ts";
import type { ReportOptions, Style } from "../reporter.ts";
import { type FailureEntry, makeFailureEntry, withInner } from "./failure_list.ts";
import { BELOW_NAME, BELOW_NUMBER, renderEcho, stepIcon, stepNumber } from "./layout.ts";
import { countOf, fitSentence, indentedRoom, indentLines, type Room, roomOf } from "./lines.ts";
import { renderTrouble } from "./render_failure.ts";

/** Renders the results of each step of a repeated job, in the order of the file. */
export function renderRounds(
  tally: StepTallies,
  rounds: number,
  options: ReportOptions,
  room: Room = roomOf(options.columns?.()),
): string[] {
  return stepsInOrder(tally).flatMap((step, number) => {
    const { style } = options;
    const inside = renderRounds(step.inside, rounds, options, indentedRoom(room, BELOW_NUMBER));
    const below = belowCount(step, style, indentedRoom(room, BELOW_NAME));
    return [
      `${stepNumber(number, style)}${titleOf(step)} (repeating ${rounds} times)`,
      ...indentLines([countLine(step, rounds, style), ...inside], BELOW_NUMBER),
      ...indentLines(below, BELOW_NAME),
    ];
  });
}

/** ` (10 rounds, 1 failed)`. */
export function roundsRemark(rounds: number, tally: RoundTally, isTolerant: boolean): string {
  const { passed, failed, skipped } = tally.rounds;
  const left = rounds - passed - failed - skipped;
  const parts = [
    countOf(rounds, "round"),
    failed > 0 ? `${failed} failed${isTolerant ? ", expect decides" : ""}` : "",
    skipped > 0 ? `${skipped} cut short` : "",
    left > 0 ? `${left} not run` : "",
  ];
  return ` (${parts.filter((text) => text !== "").join(", ")})`;
}

/** The failures of rounds for the list at the end of a report; `around` is the name of the job. */
export function failuresOfRounds(tally: StepTallies, around: string): FailureEntry[] {
  return stepsInOrder(tally).flatMap((step) => {
    const title = `${around} › ${titleOf(step)}`;
    const inner = failuresOfRounds(step.inside, title);
    const kinds = failedKinds(step);
    const entries = kinds.map((kind) =>
      makeFailureEntry(title, kind.first.failures, `${describeKind(kind)}: `)
    );
    const [first] = kinds;
    return first && kinds.length === 1
      ? withInner(entries, inner, first.first)
      : [...inner, ...entries];
  });
}

/** The kinds of failures of a step without those that the job tolerates. */
export function failedKinds({ kinds }: StepTally): FailureKind[] {
  return [...kinds.values()].filter(({ first }) => first.state === "failed");
}

/** The steps of a repeated job as the file has them; parallel rounds finish in any order. */
export function stepsInOrder({ steps }: StepTallies): readonly StepTally[] {
  return [...steps.values()].sort((a, b) => a.step - b.step || a.entry - b.entry);
}

/** The title of a step of a repeated job for all of its rounds. */
export function titleOf({ name }: StepTally): string {
  return oneLine(renderCommonName(name));
}

/** `failed 7 times, first at repeat_index 3`: the number by which expressions know a round. */
export function describeKind({ count, round }: FailureKind): string {
  return count === 1
    ? `failed once, at repeat_index ${round}`
    : `failed ${count} times, first at repeat_index ${round}`;
}

function countLine(step: StepTally, rounds: number, style: Style): string {
  const { passed, failed, skipped, untested, tolerated } = step.count;
  const ran = passed + failed + untested + tolerated;
  if (ran === 0) {
    const why = step.reason === undefined ? "" : ` (${oneLine(step.reason)})`;
    return `${stepIcon("skipped", style)} ${style.dim(`${skipped}/${rounds} skipped${why}`)}`;
  }
  const left = rounds - ran - skipped;
  const remarks = [
    step.flaky > 0 ? `, ${step.flaky} flaky` : "",
    skipped > 0 ? `, ${skipped} skipped` : "",
    step.untestedFailures > 0 ? `, ${step.untestedFailures} with ${oneLine(step.untested!)}` : "",
    left > 0 ? `, ${left} not run` : "",
  ].join("");
  const best = untested > 0 ? "untested" : "passed";
  const icon = stepIcon(failed > 0 ? "failed" : tolerated > 0 ? "tolerated" : best, style);
  if (untested > 0) return `${icon} ${untested}/${ran} completed (no test)${remarks}`;
  const percent = passed / ran * 100;
  // Rounding must not turn nearly all into all, nor nearly none into none.
  const shown = passed === 0 || passed === ran ? percent : Math.min(Math.max(percent, 0.1), 99.9);
  return `${icon} ${passed}/${ran} success (${shown.toFixed(1)}%)${remarks}`;
}

/** The distinct echoes of the rounds, each with its first round unless all are equal. */
function echoLines({ echoes, echoesLeftOut }: StepTally, style: Style): string[] {
  const kinds = [...echoes.values()].sort((a, b) => a.round - b.round);
  const isSame = kinds.length + echoesLeftOut === 1;
  return kinds.flatMap(({ text, round, count }) => {
    const lines = renderEcho(text, style);
    if (isSame) return lines;
    const label = style.dim(`repeat_index ${round}${count === 1 ? "" : ` and ${count - 1} more`}:`);
    return lines.length === 1 ? [`${label} ${lines[0]}`] : [label, ...indentLines(lines, 2)];
  });
}

function belowCount(step: StepTally, style: Style, room: Room): string[] {
  const ran = sumOf(step.count) - step.count.skipped;
  const shown = {};
  return [
    ...renderTimes(step.responseTimes, ran, room).map(style.dim),
    ...echoLines(step, style),
    ...step.echoesLeftOut > 0 ? [`… (${step.echoesLeftOut} more)`] : [],
    ...[...step.kinds.values()].flatMap((kind) => {
      const where = `at repeat_index ${kind.round}`;
      const trouble = renderTrouble(kind.first, style, indentedRoom(room, 2), shown, where);
      return [`${describeKind(kind)}:`, ...indentLines(trouble, 2)];
    }),
    ...step.otherFailures > 0 ? [countOf(step.otherFailures, "other failure")] : [],
  ];
}

/** Fewer times are read faster as numbers. */
const MIN_TIMES = 10;
const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const MAX_BARS = 24;
const MIN_BARS = 4;

/** The response times of a repeated step, in milliseconds: statistics and a histogram. */
function renderTimes(times: readonly number[], rounds: number, room: Room): string[] {
  if (times.length < 2) return [];
  const sorted = Float64Array.from(times).sort();
  const mean = sorted.reduce((sum, time) => sum + time, 0) / sorted.length;
  // The nearest rank: a time that was measured.
  const at = (share: number) =>
    formatElapsed(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)]!);
  const count = times.length >= rounds ? "" : `${times.length} response times: `;
  const statistics = `${count}min ${at(0)}, mean ${formatElapsed(mean)}, p50 ${at(0.5)}, ` +
    `p90 ${at(0.9)}, p95 ${at(0.95)}, p99 ${at(0.99)}, max ${at(1)}`;
  return [...fitSentence(statistics, room), ...renderHistogram(sorted, room)];
}

/** A bar for each part of the time between the minimum and the maximum; empty parts have none. */
function renderHistogram(sorted: Float64Array, room: Room): string[] {
  if (sorted.length < MIN_TIMES) return [];
  const [min, max] = [sorted[0]!, sorted.at(-1)!];
  const [left, right] = [formatElapsed(min), formatElapsed(max)];
  if (left === right) return [];
  const free = room.columns - displayWidth(left) - displayWidth(right) - 2;
  const size = Math.min(MAX_BARS, free, Math.ceil(Math.sqrt(sorted.length)));
  if (size < MIN_BARS) return [];
  const counts = new Array<number>(size).fill(0);
  const width = (max - min) / size;
  for (const time of sorted) counts[Math.min(size - 1, Math.floor((time - min) / width))]!++;
  const highest = Math.max(...counts);
  const bars = counts.map((count) =>
    count === 0 ? " " : BARS[Math.ceil(count / highest * BARS.length) - 1]!
  );
  return [`${left} ${bars.join("")} ${right}`];
}
