import { displayWidth } from "../../source/display_width.ts";
import { fitSentence } from "./fit_lines.ts";
import { formatElapsed } from "../../value/duration.ts";
import type { Room } from "./text_lines.ts";

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
export function renderTimes(times: readonly number[], rounds: number, room: Room): string[] {
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
