import { roundDuration } from "../base/value/duration.ts";
import type { ResponseTimes } from "./event.ts";

/** The most different times that are kept as they are. */
const MAX_EXACT = 10_000;

/** The most bars of a histogram. */
const MAX_BARS = 24;

/**
 * Counts times in milliseconds, in memory that does not grow with their number: as they are while
 * few of them differ, and to four digits afterwards.
 */
export class Times {
  #counts = new Map<number, number>();
  #isRounded = false;
  #count = 0;
  #sum = 0;
  #min = Infinity;
  #max = 0;

  add(time: number): void {
    this.#count++;
    this.#sum += time;
    this.#min = Math.min(this.#min, time);
    this.#max = Math.max(this.#max, time);
    this.#add(time, 1);
    if (this.#counts.size <= MAX_EXACT || this.#isRounded) return;
    this.#isRounded = true;
    const exact = this.#counts;
    this.#counts = new Map();
    for (const [time, count] of exact) this.#add(time, count);
  }

  /** What they come to; undefined where there is none. */
  summary(): Omit<ResponseTimes, "histogram"> | undefined {
    if (this.#count === 0) return undefined;
    const sorted = [...this.#counts].sort(([one], [other]) => one - other);
    const at = (percent: number) => this.#percentile(sorted, percent);
    const [min, max] = [this.#min, this.#max];
    return {
      ...{ count: this.#count, min, mean: roundDuration(this.#sum / this.#count) },
      ...{ p50: at(50), p90: at(90), p95: at(95), p99: at(99), max },
    };
  }

  /** How many of them are in each of the equal parts of their range. */
  histogram(): number[] {
    const bars = new Array<number>(Math.min(MAX_BARS, Math.ceil(Math.sqrt(this.#count)))).fill(0);
    const width = (this.#max - this.#min) / bars.length;
    for (const [time, count] of this.#counts) {
      const bar = Math.floor((time - this.#min) / width) || 0;
      bars[Math.max(0, Math.min(bars.length - 1, bar))]! += count;
    }
    return bars;
  }

  #add(time: number, count: number): void {
    const kept = this.#isRounded ? toFourDigits(time) : time;
    this.#counts.set(kept, (this.#counts.get(kept) ?? 0) + count);
  }

  /** The nearest rank: a time that was measured. */
  #percentile(sorted: readonly (readonly [number, number])[], percent: number): number {
    let rank = Math.max(1, Math.ceil(percent / 100 * this.#count));
    for (const [time, count] of sorted) {
      rank -= count;
      if (rank <= 0) return Math.max(this.#min, Math.min(this.#max, time));
    }
    return this.#max;
  }
}

function toFourDigits(time: number): number {
  return Number(time.toPrecision(4));
}
