import { roundDuration } from "./duration.ts";

/** The parts of each power of two: a time is at most 0.1 % from the middle of its part. */
const PARTS = 512;

/** A summary of many times, in milliseconds. Percentiles are by nearest rank. */
export interface HistogramSummary {
  /** How many there are. */
  readonly count: number;
  /** The shortest. */
  readonly min: number;
  /** The average. */
  readonly mean: number;
  /** Half of them took at most this. */
  readonly p50: number;
  /** 90 % of them took at most this. */
  readonly p90: number;
  /** 95 % of them took at most this. */
  readonly p95: number;
  /** 99 % of them took at most this. */
  readonly p99: number;
  /** 99.9 % of them took at most this. */
  readonly p999: number;
  /** The longest. */
  readonly max: number;
}

/** A histogram as plain data, in milliseconds. */
export interface EncodedHistogram {
  /** The shortest time. */
  readonly min: number;
  /** The longest time. */
  readonly max: number;
  /** All times together. */
  readonly sum: number;
  /**
   * The buckets that are not empty, in their order: the distance from the bucket before times two,
   * plus one where the count of the bucket follows, which is 1 otherwise. Numbers are digits of 5
   * bits, the lowest first, in the alphabet of base64; 32 is added to each but the last. Bucket b
   * is for b microseconds up to 1023; from there on each power of two has 512 buckets.
   */
  readonly buckets: string;
}

/** Counts times in milliseconds, in memory that does not grow with their number: to 0.1 %. */
export class Histogram {
  /** By bucket. */
  readonly #counts = new Map<number, number>();
  #count = 0;
  #sum = 0;
  #min = Infinity;
  #max = 0;

  get count(): number {
    return this.#count;
  }

  /** All times together. */
  get sum(): number {
    return this.#sum;
  }

  /** Adds a time. */
  add(time: number): void {
    this.#count++;
    this.#sum += time;
    if (time < this.#min) this.#min = time;
    if (time > this.#max) this.#max = time;
    this.#add(bucketOf(time), 1);
  }

  /** Adds the times of another histogram. */
  merge(other: Histogram): void {
    if (other.#count === 0) return;
    for (const [bucket, count] of other.#counts) this.#add(bucket, count);
    this.#count += other.#count;
    this.#sum += other.#sum;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
  }

  /** Statistics of the times; undefined if there are none. */
  summary(): HistogramSummary | undefined {
    if (this.#count === 0) return undefined;
    const [p50, p90, p95, p99, p999] = this.percentiles([50, 90, 95, 99, 99.9]);
    return {
      count: this.#count,
      min: this.#min,
      mean: roundDuration(this.#sum / this.#count),
      ...{ p50: p50!, p90: p90!, p95: p95!, p99: p99!, p999: p999! },
      max: this.#max,
    };
  }

  /** The times that these percentages did not exceed; the percentages grow. */
  percentiles(percentages: readonly number[]): number[] {
    const sorted = this.#sorted();
    let index = 0;
    let seen = sorted[0]?.[1] ?? 0;
    return percentages.map((percent) => {
      // 99.9 / 100 * 1000 is a bit more than 999.
      const rank = Math.max(1, Math.ceil(percent * this.#count / 100 - 1e-9));
      while (seen < rank && index < sorted.length - 1) seen += sorted[++index]![1];
      return Math.max(this.#min, Math.min(this.#max, sorted[index]?.[0] ?? 0));
    });
  }

  /** How many are no longer than each of these times, which grow. */
  countsUpTo(bounds: readonly number[]): number[] {
    const sorted = this.#sorted();
    let index = 0;
    let count = 0;
    return bounds.map((bound) => {
      const last = timeOf(bucketOf(bound));
      while (index < sorted.length && sorted[index]![0] <= last) count += sorted[index++]![1];
      return count;
    });
  }

  /** How many of them are in each of the equal parts of their range, on a scale. */
  bars(most: number, scale = (time: number) => time): number[] {
    const bars = new Array<number>(Math.min(most, Math.ceil(Math.sqrt(this.#count)))).fill(0);
    const from = scale(this.#min);
    const width = (scale(this.#max) - from) / bars.length;
    for (const [time, count] of this.#sorted()) {
      const bar = Math.floor((scale(time) - from) / width) || 0;
      bars[Math.max(0, Math.min(bars.length - 1, bar))]! += count;
    }
    return bars;
  }

  /** As plain data; undefined if it is empty. */
  encode(): EncodedHistogram | undefined {
    if (this.#count === 0) return undefined;
    let buckets = "";
    let before = 0;
    for (const [bucket, count] of [...this.#counts].sort(([one], [other]) => one - other)) {
      buckets += digitsOf((bucket - before) * 2 + (count > 1 ? 1 : 0));
      if (count > 1) buckets += digitsOf(count);
      before = bucket;
    }
    return { min: this.#min, max: this.#max, sum: roundDuration(this.#sum), buckets };
  }

  /** The histogram of such data. */
  static decode({ min, max, sum, buckets }: EncodedHistogram): Histogram {
    const histogram = new Histogram();
    const numbers = numbersIn(buckets);
    let bucket = 0;
    for (const number of numbers) {
      bucket += Math.floor(number / 2);
      const count = number % 2 === 0 ? 1 : numbers.next().value ?? 0;
      histogram.#add(bucket, count);
      histogram.#count += count;
    }
    histogram.#min = min;
    histogram.#max = max;
    histogram.#sum = sum;
    return histogram;
  }

  #add(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count);
  }

  /** The times and their counts. */
  #sorted(): (readonly [number, number])[] {
    return [...this.#counts].sort(([one], [other]) => one - other)
      .map(([bucket, count]) => [timeOf(bucket), count]);
  }
}

/** The bucket of a time in milliseconds. */
function bucketOf(time: number): number {
  const microseconds = Math.max(0, Math.round(time * 1000));
  if (microseconds < 2 * PARTS) return microseconds;
  const shift = microseconds < 2 ** 32
    ? 22 - Math.clz32(microseconds)
    : 54 - Math.clz32(microseconds / 2 ** 32);
  return shift * PARTS + Math.floor(microseconds / 2 ** shift);
}

/** The middle of a bucket, in milliseconds. */
function timeOf(bucket: number): number {
  if (bucket < 2 * PARTS) return bucket / 1000;
  const shift = Math.floor(bucket / PARTS) - 1;
  const microseconds = (bucket - shift * PARTS) * 2 ** shift + (2 ** shift - 1) / 2;
  return Math.round(microseconds) / 1000;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

function digitsOf(number: number): string {
  let digits = "";
  let rest = number;
  for (; rest >= 32; rest = Math.floor(rest / 32)) digits += DIGITS[rest % 32 + 32];
  return digits + DIGITS[rest];
}

function* numbersIn(digits: string): Generator<number, undefined> {
  let number = 0;
  let place = 1;
  for (const digit of digits) {
    const value = DIGITS.indexOf(digit);
    number += value % 32 * place;
    place *= 32;
    if (value >= 32) continue;
    yield number;
    number = 0;
    place = 1;
  }
  return undefined;
}
