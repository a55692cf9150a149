import { formatElapsed } from "./format_time.ts";

/** Fewer than these are read faster as numbers. */
const LEAST_FOR_HISTOGRAM = 10;
const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const MOST_BARS = 24;

/** How long the action of a repeated step took, in milliseconds: in words, and as a picture. */
export function renderTimes(times: readonly number[]): string[] {
  if (times.length < 2) return [];
  const sorted = Float64Array.from(times).sort();
  const mean = sorted.reduce((sum, time) => sum + time, 0) / sorted.length;
  const at = (share: number) => formatElapsed(percentile(sorted, share));
  const words = `min ${at(0)}, mean ${formatElapsed(mean)}, p50 ${at(0.5)}, p90 ${at(0.9)}, ` +
    `p95 ${at(0.95)}, p99 ${at(0.99)}, max ${at(1)}`;
  return sorted.length < LEAST_FOR_HISTOGRAM ? [words] : [words, renderHistogram(sorted)];
}

/** The least time that so many of all are not above: no time that never was. */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** A bar for each part of the time between the least and the most; empty parts have none. */
function renderHistogram(sorted: Float64Array): string {
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)];
  const counts = new Array<number>(Math.min(MOST_BARS, Math.ceil(Math.sqrt(sorted.length)))).fill(
    0,
  );
  const width = (most - least) / counts.length || 1;
  for (const time of sorted) {
    counts[Math.min(counts.length - 1, Math.floor((time - least) / width))]!++;
  }
  const highest = Math.max(...counts);
  const bars = counts.map((count) =>
    count === 0 ? " " : BARS[Math.ceil(count / highest * BARS.length) - 1]!
  );
  return `${formatElapsed(least)} ${bars.join("")} ${formatElapsed(most)}`;
}
