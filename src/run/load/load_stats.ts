import { roundDuration } from "../../base/value/duration.ts";
import { Histogram } from "../../base/value/histogram.ts";
import type { Dict } from "../../base/value/value.ts";
import type {
  LoadCounts,
  LoadEndedFields,
  LoadFailures,
  LoadNumbers,
  LoadSecondFields,
  LoadStats,
  LoadStepCounts,
  LoadStepStats,
  LoadTraffic,
  StepTally,
  StepTree,
} from "../event.ts";

/** The most causes of failures that are kept. */
export const MAX_CAUSES = 50;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Adds up the seconds of a load job, of one process or of several: all that is known of the job, in
 * memory that does not grow with its rounds.
 */
export class LoadTotals {
  /** What the statistics know the steps by. */
  readonly #keys: readonly string[];
  readonly #rounds = new Counts();
  readonly #steps = new Map<number, StepCounts>();
  /** By their start, the seconds that were measured: of all processes together. */
  readonly #seconds = new Map<number, { length: number; users: number; inFlight: number }>();
  readonly #causes = new Map<string, Mutable<LoadFailures>>();
  #otherFailures = 0;
  #skipped = 0;
  #started = 0;
  #dropped = 0;
  #late = 0;
  #lateMax = 0;
  #busy = 0;
  #hasUsers = false;
  /** Rounds that should have started. */
  #asked = 0;
  /** Of the rounds that started so late that the last stage was over. */
  readonly #overtime = { length: 0, lateMax: 0 };

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  add(second: LoadSecondFields): void {
    const { phase, from, length, users, asked = 0, inFlight } = second;
    if (phase === "warm_up") return;
    const { started, dropped = 0, late = 0, lateMax = 0, busy = 0, skipped = 0 } = second;
    this.#hasUsers ||= users !== undefined;
    // Those under way at the end of a pace that rounds do not set belong to it.
    if (phase !== "ending" || this.#hasUsers) {
      const all = this.#seconds.getOrInsertComputed(
        from,
        () => ({ length: 0, users: 0, inFlight: 0 }),
      );
      all.length = Math.max(all.length, length);
      all.users += users ?? 0;
      all.inFlight += inFlight;
    }
    if (phase === "ending" && started > 0) {
      this.#overtime.length += length;
      this.#overtime.lateMax = Math.max(this.#overtime.lateMax, lateMax);
    }
    this.#asked += asked * length / 1000;
    this.#started += started;
    this.#dropped += dropped;
    this.#late += late;
    this.#lateMax = Math.max(this.#lateMax, lateMax);
    this.#busy = Math.max(this.#busy, busy);
    this.#skipped += skipped;
    this.#rounds.add(second.rounds);
    for (const step of second.steps) {
      this.#steps.getOrInsertComputed(step.step, () => new StepCounts()).addStep(step);
    }
    for (const failures of second.failures ?? []) this.#addFailures(failures);
  }

  /** Whether any second counts. */
  get isMeasured(): boolean {
    return this.#seconds.size > 0;
  }

  stats(): LoadStats {
    const seconds = [...this.#seconds.values()];
    const planned = seconds.reduce((sum, { length }) => sum + length, 0);
    // A rate that takes longer to start its rounds is a lower one.
    const { length, lateMax } = this.#overtime;
    const elapsed = planned + (this.#hasUsers ? 0 : roundDuration(Math.min(length, lateMax)));
    const steps = [...this.#steps].sort(([one], [other]) => one - other)
      .map(([step, counts]) => counts.stepStats(step, this.#keys[step] ?? "", elapsed));
    const sumOf = (key: "bytesIn" | "bytesOut" | "resent") => {
      const known = steps.flatMap((step) => step[key] ?? []);
      return known.length === 0 ? {} : { [key]: known.reduce((sum, bytes) => sum + bytes, 0) };
    };
    return {
      ...this.#rounds.numbers(elapsed),
      elapsed,
      ...this.#hasUsers
        ? { users: Math.max(0, ...seconds.map(({ users }) => users)) }
        : { asked: perSecond(this.#asked, planned) },
      started: this.#started,
      dropped: this.#dropped,
      ...this.#skipped === 0 ? {} : { unfinished: this.#skipped },
      late: this.#late,
      lateMax: this.#lateMax,
      busy: this.#busy,
      inFlight: Math.max(0, ...seconds.map(({ inFlight }) => inFlight)),
      ...sumOf("bytesIn"),
      ...sumOf("bytesOut"),
      ...sumOf("resent"),
      steps,
    };
  }

  /** The causes of failures, the most frequent first. */
  causes(): Pick<LoadEndedFields, "causes" | "otherFailures"> {
    const causes = [...this.#causes.values()].sort((one, other) => other.count - one.count);
    return { causes, otherFailures: this.#otherFailures || undefined };
  }

  /** The same as for the rounds of a job with `repeat`. `names` are those of the steps. */
  tally(names: readonly string[]): {
    readonly begun: number;
    readonly rounds: { passed: number; failed: number; skipped: number };
    readonly steps: readonly StepTally[];
  } {
    const { passed, failed } = this.#rounds;
    const skipped = this.#skipped;
    const steps = [...this.#steps].sort(([one], [other]) => one - other).map(([step, counts]) => {
      const kinds = [...this.#causes.values()].filter(({ example }) => example?.run.step === step);
      return counts.tally(step, names[step] ?? "", kinds);
    });
    return { begun: passed + failed + skipped, rounds: { passed, failed, skipped }, steps };
  }

  #addFailures({ cause, count, first, last, example }: LoadFailures): void {
    const known = this.#causes.get(cause);
    if (known) {
      known.count += count;
      known.first = Math.min(known.first, first);
      known.last = Math.max(known.last, last);
      known.example ??= example;
    } else if (this.#causes.size < MAX_CAUSES && cause !== OTHER_CAUSES) {
      this.#causes.set(cause, { cause, count, first, last, example });
    } else {
      this.#otherFailures += count;
    }
  }
}

/** The cause of failures of which there are too many. */
export const OTHER_CAUSES = "";

/** Rounds or runs of a step that are over. */
class Counts {
  passed = 0;
  failed = 0;
  readonly times = new Histogram(true);

  add({ passed, failed, times }: LoadCounts): void {
    this.passed += passed;
    this.failed += failed;
    if (times) this.times.merge(Histogram.decode(times));
  }

  numbers(elapsed: number): LoadNumbers {
    const { passed, failed } = this;
    const count = passed + failed;
    const { count: _, ...times } = this.times.summary() ?? NO_TIMES;
    return { count, passed, failed, rate: perSecond(count, elapsed), ...times };
  }
}

const NO_TIMES = { count: 0, min: 0, mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, p999: 0, max: 0 };

class StepCounts extends Counts {
  #skipped = 0;
  #tolerated = 0;
  #untested = 0;
  #flaky = 0;
  #first: StepTree | undefined;
  #assertions: { passed: number; failed: number } | undefined;
  #bytesIn: number | undefined;
  #bytesOut: number | undefined;
  #resent = 0;
  readonly #codes: Record<string, number> = {};
  readonly #phases: Record<string, number> = {};

  addStep(step: LoadStepCounts): void {
    this.add(step);
    this.#skipped += step.skipped ?? 0;
    this.#tolerated += step.tolerated ?? 0;
    this.#untested += step.untested ?? 0;
    this.#flaky += step.flaky ?? 0;
    if (step.first && (!this.#first || this.#first.result.state === "skipped")) {
      this.#first = step.first;
    }
    if (step.assertions) {
      this.#assertions ??= { passed: 0, failed: 0 };
      this.#assertions.passed += step.assertions.passed;
      this.#assertions.failed += step.assertions.failed;
    }
    if (step.bytesIn !== undefined) this.#bytesIn = (this.#bytesIn ?? 0) + step.bytesIn;
    if (step.bytesOut !== undefined) this.#bytesOut = (this.#bytesOut ?? 0) + step.bytesOut;
    this.#resent += step.resent ?? 0;
    addTo(this.#codes, step.codes);
    addTo(this.#phases, step.phases);
  }

  stepStats(step: number, key: string, elapsed: number): LoadStepStats {
    const numbers = this.numbers(elapsed);
    const phases = Object.entries(this.#phases)
      .map(([name, time]) => [name, roundDuration(time / numbers.count)] as const);
    return {
      ...{ step, key },
      ...numbers,
      ...this.#bytesIn === undefined ? {} : { bytesIn: this.#bytesIn },
      ...this.#bytesOut === undefined ? {} : { bytesOut: this.#bytesOut },
      ...this.#resent === 0 ? {} : { resent: this.#resent },
      ...Object.keys(this.#codes).length === 0 ? {} : { codes: this.#codes },
      ...phases.length === 0 ? {} : { phases: Object.fromEntries(phases) },
    };
  }

  tally(step: number, name: string, kinds: readonly LoadFailures[]): StepTally {
    const { passed, failed, times } = this;
    const tolerated = this.#tolerated;
    const states = {
      passed: passed - this.#untested,
      failed: failed - tolerated,
      skipped: this.#skipped,
      untested: this.#untested,
      tolerated,
    };
    const summary = times.summary();
    const { p999: _, ...rest } = summary ?? NO_TIMES;
    const shown = kinds.flatMap(({ example, count }) =>
      example ? { first: example, round: example.run.round ?? 0, count } : []
    );
    return {
      ...{ step, name, states, flaky: this.#flaky, echoes: [], otherEchoes: 0, inside: [] },
      duration: roundDuration((summary?.mean ?? 0) * (summary?.count ?? 0)),
      ...summary ? { times: { ...rest, histogram: times.bars() } } : {},
      ...this.#assertions ? { assertions: this.#assertions } : {},
      ...this.#first ? { first: this.#first } : {},
      failures: shown,
      otherFailures: failed - shown.reduce((sum, { count }) => sum + count, 0),
    };
  }
}

function addTo(sums: Record<string, number>, added: Readonly<Record<string, number>> = {}): void {
  for (const name of Object.keys(added)) sums[name] = (sums[name] ?? 0) + added[name]!;
}

/** To three digits after the point. */
function perSecond(count: number, milliseconds: number): number {
  return milliseconds === 0 ? 0 : Math.round(count / milliseconds * 1e6) / 1000;
}

/**
 * What expressions see as `stats`: names like those of the file format, and times in seconds. Steps
 * that have not run are without numbers while the job runs, and missing at its end.
 */
export function statsValue(stats: LoadStats, keys: readonly string[], isFinal = true): Dict {
  const ran = new Map(stats.steps.map((step) => [step.key, step]));
  const steps = keys.filter((key) => !isFinal || ran.get(key)?.count)
    .map((key) => [key, stepValue(ran.get(key))] as const);
  return {
    ...numbersValue(stats),
    started: stats.started,
    dropped: stats.dropped,
    late: stats.late,
    late_max: seconds(stats.lateMax),
    busy: stats.busy,
    in_flight: stats.inFlight,
    elapsed: seconds(stats.elapsed),
    steps: Object.fromEntries(steps),
  };
}

function stepValue(step: LoadStepStats | undefined): Dict {
  const phases = Object.entries(step?.phases ?? {}).map(([name, time]) => [name, seconds(time)]);
  return {
    ...numbersValue(step),
    codes: { "1xx": 0, "2xx": 0, "3xx": 0, "4xx": 0, "5xx": 0, ...step?.codes },
    phases: Object.fromEntries(phases),
  };
}

const NO_NUMBERS: LoadNumbers & LoadTraffic = { ...NO_TIMES, passed: 0, failed: 0, rate: 0 };

function numbersValue(numbers: (LoadNumbers & LoadTraffic) | undefined): Dict {
  const { count, passed, failed, rate, bytesIn = 0, bytesOut = 0, resent = 0, ...rest } = numbers ??
    NO_NUMBERS;
  const { min, mean, p50, p90, p95, p99, p999, max } = rest;
  // No comparison with the times of nothing is true.
  const times = Object.entries({ min, mean, p50, p90, p95, p99, p999, max })
    .map(([name, time]) => [name, count === 0 ? NaN : seconds(time)] as const);
  return {
    ...{ count, passed, failed, rate },
    ...Object.fromEntries(times),
    ...{ bytes_in: bytesIn, bytes_out: bytesOut, resent },
  };
}

/** Microseconds are whole: a quotient of a thousand would have a long tail of digits. */
export function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1_000_000;
}
