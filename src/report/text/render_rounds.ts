import { sumOf } from "../../run/count_steps.ts";
import {
  addToTally,
  type FailureKind,
  makeRoundTally,
  renderCommonName,
  type StepTallies,
  type StepTally,
} from "../model/round_tally.ts";
import {
  BELOW_NAME,
  BELOW_NUMBER,
  belowName,
  narrowed,
  renderEcho,
  stepIcon,
  stepNumber,
} from "./layout.ts";
import { renderTrouble } from "./render_failure.ts";
import type { ReportOptions, Style } from "../reporter.ts";
import { oneLine } from "../../base/text/printable.ts";
import { countOf, fitSentence, indentedRoom, indentLines, type Room } from "./lines.ts";
import { displayWidth } from "../../base/text/display_width.ts";
import { formatElapsed } from "../../base/value/duration.ts";
import type { JobState } from "../../run/event.ts";
import { type FailureEntry, makeFailureEntry, withInner } from "./failure_list.ts";
import type { StepTree } from "../model/steps.ts";

/** Renders the results of each step of a repeated job, in the order of the file. */
export function renderRounds(
  tally: StepTallies,
  rounds: number,
  options: ReportOptions,
): string[] {
  return stepsInOrder(tally).flatMap((step, number) => {
    const { style } = options;
    const inside = renderRounds(step.inside, rounds, narrowed(options, BELOW_NUMBER));
    return [
      `${stepNumber(number, style)}${titleOf(step)} (repeating ${rounds} times)`,
      ...indentLines([countLine(step, rounds, options), ...inside], BELOW_NUMBER),
      ...indentLines(belowCount(step, options), BELOW_NAME),
    ];
  });
}

/** The steps of a repeated job as the file has them; rounds side by side finish in any order. */
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

function countLine(step: StepTally, rounds: number, { style }: ReportOptions): string {
  const { passed, failed, skipped, untested, tolerated } = step.count;
  const ran = passed + failed + untested + tolerated;
  const worst = failed > 0 ? "failed" : tolerated > 0 ? "tolerated" : undefined;
  const left = rounds - ran - skipped;
  const remarks = [
    step.flaky > 0 ? `, ${step.flaky} flaky` : "",
    skipped > 0 && ran > 0 ? `, ${skipped} skipped` : "",
    step.untestedFailures > 0 ? `, ${step.untestedFailures} with ${oneLine(step.untested!)}` : "",
    left > 0 ? `, ${left} not run` : "",
  ].join("");
  if (ran === 0) {
    const why = step.reason === undefined ? "" : ` (${oneLine(step.reason)})`;
    return `${stepIcon("skipped", style)} ${style.dim(`${skipped}/${rounds} skipped${why}`)}`;
  }
  if (untested > 0) {
    const icon = stepIcon(worst ?? "untested", style);
    return `${icon} ${untested}/${ran} completed (no test)${remarks}`;
  }
  // Neither all nor none where that is not so.
  const share = passed === 0 || passed === ran
    ? passed / ran * 100
    : Math.min(Math.max(passed / ran * 100, 0.1), 99.9);
  return `${stepIcon(worst ?? "passed", style)} ${passed}/${ran} success (${
    share.toFixed(1)
  }%)${remarks}`;
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

function belowCount(step: StepTally, options: ReportOptions): string[] {
  const { style } = options;
  const room = indentedRoom(belowName(options), 2);
  const ran = sumOf(step.count) - step.count.skipped;
  const times = renderTimes(step.responseTimes, ran, belowName(options));
  const lines = [...times.map(style.dim), ...echoLines(step, style)];
  if (step.echoesLeftOut > 0) lines.push(`… (${step.echoesLeftOut} more)`);
  const shown = {};
  for (const kind of step.kinds.values()) {
    const place = `at repeat_index ${kind.round}`;
    const trouble = renderTrouble(kind.first, style, room, shown, place);
    lines.push(`${describeKind(kind)}:`, ...indentLines(trouble, 2));
  }
  if (step.otherFailures > 0) {
    lines.push(countOf(step.otherFailures, "other failure"));
  }
  return lines;
}

/** Fewer than these are read faster as numbers. */
const LEAST_FOR_HISTOGRAM = 10;
const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const MOST_BARS = 24;
/** Fewer bars show nothing. */
const FEWEST_BARS = 4;

/**
 * The times of the action of a repeated step in the rounds in which it answered, in milliseconds:
 * in words, and as a picture.
 */
function renderTimes(times: readonly number[], rounds: number, room: Room): string[] {
  if (times.length < 2) return [];
  const sorted = Float64Array.from(times).sort();
  const mean = sorted.reduce((sum, time) => sum + time, 0) / sorted.length;
  const at = (share: number) => formatElapsed(percentile(sorted, share));
  const which = times.length >= rounds ? "" : `${times.length} response times: `;
  const words = `${which}min ${at(0)}, mean ${formatElapsed(mean)}, p50 ${at(0.5)}, ` +
    `p90 ${at(0.9)}, p95 ${at(0.95)}, p99 ${at(0.99)}, max ${at(1)}`;
  return [...fitSentence(words, room), ...renderHistogram(sorted, room)];
}

/** The least time that so many of all are not above: no time that never was. */
function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** A bar for each part of the time between the least and the most; empty parts have none. */
function renderHistogram(sorted: Float64Array, room: Room): string[] {
  if (sorted.length < LEAST_FOR_HISTOGRAM) return [];
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)];
  const [left, right] = [formatElapsed(least), formatElapsed(most)];
  if (left === right) return [];
  const free = room.columns - displayWidth(left) - displayWidth(right) - 2;
  const size = Math.min(MOST_BARS, free, Math.ceil(Math.sqrt(sorted.length)));
  if (size < FEWEST_BARS) return [];
  const counts = new Array<number>(size).fill(0);
  const width = (most - least) / size;
  for (const time of sorted) counts[Math.min(size - 1, Math.floor((time - least) / width))]!++;
  const highest = counts.reduce((high, count) => Math.max(high, count));
  const bars = counts.map((count) =>
    count === 0 ? " " : BARS[Math.ceil(count / highest * BARS.length) - 1]!
  );
  return [`${left} ${bars.join("")} ${right}`];
}

/** The results of a job with a `repeat`; they are reported when all rounds have finished. */
export interface JobRounds {
  /** Whether any of its steps is over. */
  readonly hasBegun: boolean;
  addStep(step: StepTree): void;
  endRound(state: JobState): void;
  /** The result of each step. */
  lines(options: ReportOptions): string[];
  /** The failures for the list at the end; `job` is the name of the job. */
  failures(job: string): FailureEntry[];
  /** ` (10 rounds, 1 failed)`. */
  remark(): string;
}

/** The rounds of a job, none of which has begun. */
export function makeJobRounds(rounds: number, expect?: string): JobRounds {
  const tally = makeRoundTally();
  return {
    get hasBegun() {
      return tally.steps.size > 0;
    },
    addStep: (step) => addToTally(tally, step),
    endRound: (state) => void tally.rounds[state]++,
    lines: (options) => renderRounds(tally, rounds, options),
    failures: (job) => failuresOfRounds(tally, job),
    remark: () => remarkOn(rounds, tally.rounds, expect !== undefined),
  };
}

function failuresOfRounds({ steps }: StepTallies, around: string): FailureEntry[] {
  return stepsInOrder({ steps }).flatMap((step) => {
    const title = `${around} › ${titleOf(step)}`;
    const inner = failuresOfRounds(step.inside, title);
    // Failures that the job tolerates are shown with its steps and do not fail the run.
    const kinds = [...step.kinds.values()].filter(({ first }) => first.state === "failed");
    const own = kinds.map((kind) =>
      makeFailureEntry(title, kind.first.failures, `${describeKind(kind)}: `)
    );
    const [first] = kinds;
    return first && kinds.length === 1 ? withInner(own, inner, first.first) : [...inner, ...own];
  });
}

function remarkOn(
  rounds: number,
  { passed, failed, skipped }: Readonly<Record<JobState, number>>,
  isTolerant: boolean,
): string {
  const parts = [countOf(rounds, "round")];
  if (failed > 0) parts.push(`${failed} failed${isTolerant ? ", expect decides" : ""}`);
  if (skipped > 0) parts.push(`${skipped} cut short`);
  const rest = rounds - passed - failed - skipped;
  if (rest > 0) parts.push(`${rest} not run`);
  return ` (${parts.join(", ")})`;
}
