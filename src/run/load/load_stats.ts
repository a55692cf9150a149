import { roundDuration } from "../../base/value/duration.ts";
import type { Histogram } from "../../base/value/histogram.ts";
import type { Dict } from "../../base/value/value.ts";
import type {
  LoadNumbers,
  LoadSecondFields,
  LoadStats,
  LoadStepStats,
  SetupCount,
  StepState,
  StepTraffic,
} from "../event.ts";
import { type StepCounts, Tally } from "../tally.ts";

/** The sum of all or some seconds of a load job, without its warm-up. */
export class LoadTotals {
  /** What the statistics know the steps by. */
  readonly #keys: readonly string[];
  readonly tally = new Tally({ isBrief: true });
  #measured = 0;
  /** Milliseconds in which nothing started, and rounds under way ended. */
  #ending = 0;
  #users = 0;
  #inFlight = 0;
  #started = 0;
  #dropped = 0;
  #late = 0;
  #lateMax = 0;
  #busy = 0;
  #hasUsers = false;
  #setup: SetupCount | undefined;
  /** Rounds that should have started. */
  #asked = 0;
  /** Of the rounds that started so late that the last stage was over. */
  readonly #overtime = { length: 0, lateMax: 0 };
  /** Whether any second counts. */
  isMeasured = false;

  constructor(keys: readonly string[]) {
    this.#keys = keys;
  }

  add(second: LoadSecondFields): void {
    const { phase, length, users, asked = 0, inFlight } = second;
    const { started, dropped = 0, late = 0, lateMax = 0, busy = 0 } = second;
    this.#hasUsers ||= users !== undefined;
    this.#setup = addSetups([this.#setup, second.setup]);
    // Those under way at the end of a pace that rounds do not set belong to it.
    if (phase !== "ending" || this.#hasUsers) {
      this.isMeasured = true;
      this.#measured += length;
      this.#users = Math.max(this.#users, users ?? 0);
      this.#inFlight = Math.max(this.#inFlight, inFlight);
    } else this.#ending += length;
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
    this.tally.add(second);
  }

  stats(): LoadStats {
    const { rounds, times } = this.tally;
    // A rate that takes longer to start its rounds is a lower one.
    const { length, lateMax } = this.#overtime;
    const elapsed = this.#measured === 0
      ? this.#ending
      : this.#measured + (this.#hasUsers ? 0 : roundDuration(Math.min(length, lateMax)));
    const steps = this.tally.steps.map((step) =>
      stepStats(step, this.#keys[step.step] ?? "", elapsed)
    );
    return {
      ...numbersOf(rounds.passed, rounds.failed, times, elapsed),
      elapsed,
      users: this.#hasUsers ? this.#users : undefined,
      asked: this.#hasUsers ? undefined : perSecond(this.#asked, this.#measured),
      started: this.#started,
      dropped: this.#dropped,
      unfinished: rounds.skipped || undefined,
      late: this.#late,
      lateMax: this.#lateMax,
      busy: this.#busy,
      inFlight: this.#inFlight,
      bytesIn: sumOf(steps, ({ bytesIn }) => bytesIn),
      bytesOut: sumOf(steps, ({ bytesOut }) => bytesOut),
      resent: sumOf(steps, ({ resent }) => resent),
      setup: this.#setup,
      steps,
    };
  }
}

function addSetups(counts: readonly (SetupCount | undefined)[]): SetupCount | undefined {
  return counts.reduce((sum, count) =>
    sum && count
      ? { passed: sum.passed + count.passed, failed: sum.failed + count.failed }
      : sum ?? count
  );
}

const NO_TIMES = { count: 0, min: 0, mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, p999: 0, max: 0 };

function numbersOf(
  passed: number,
  failed: number,
  times: Histogram,
  elapsed: number,
): LoadNumbers {
  const count = passed + failed;
  return {
    ...(times.summary() ?? NO_TIMES),
    ...{ count, passed, failed, rate: perSecond(count, elapsed) },
  };
}

function stepStats(counts: StepCounts, key: string, elapsed: number): LoadStepStats {
  const { step, times, states, bytesIn, bytesOut, resent, codes, phases = {} } = counts;
  const { passed, failed } = outcomesOf(states);
  const numbers = numbersOf(passed, failed, times, elapsed);
  const means = Object.entries(phases)
    .map(([name, time]) => [name, roundDuration(time / numbers.count)] as const);
  return {
    ...{ step, key },
    ...numbers,
    ...{ bytesIn, bytesOut, resent, codes },
    phases: means.length === 0 ? undefined : Object.fromEntries(means),
  };
}

/** Runs of a step that did not fail, and those that did, whether the job allows that or not. */
function outcomesOf({ passed, untested, failed, allowed }: Readonly<Record<StepState, number>>) {
  return { passed: passed + untested, failed: failed + allowed };
}

/** To three digits after the point. */
function perSecond(count: number, milliseconds: number): number {
  return milliseconds === 0 ? 0 : Math.round(count / milliseconds * 1e6) / 1000;
}

/** One second of all processes. Those that have ended earlier than others say nothing of its time. */
export function mergeSeconds(parts: readonly LoadSecondFields[]): LoadSecondFields {
  const running = parts.filter(({ phase }) => phase !== "ending");
  const timed = running.length > 0 ? running : parts;
  const [{ job, phase, stage }] = timed as [LoadSecondFields];
  const from = Math.min(...timed.map(({ from }) => from));
  const length = roundDuration(Math.max(...timed.map(({ from, length }) => from + length)) - from);
  const due = sumOf(parts, ({ asked, length }) => asked === undefined ? asked : asked * length);
  const tally = new Tally({ isBrief: true });
  for (const part of parts) tally.add(part);
  return {
    ...{ job, from, length, phase, stage },
    // The last second may take no time.
    asked: due && roundDuration(length === 0 ? 0 : due / length),
    users: due === undefined ? sumOf(parts, ({ users }) => users) : undefined,
    started: sumOf(parts, ({ started }) => started) ?? 0,
    dropped: sumOf(parts, ({ dropped }) => dropped),
    late: sumOf(parts, ({ late }) => late),
    lateMax: greatest(parts, ({ lateMax }) => lateMax),
    inFlight: sumOf(parts, ({ inFlight }) => inFlight) ?? 0,
    busy: greatest(parts, ({ busy }) => busy),
    setup: addSetups(parts.map(({ setup }) => setup)),
    ...tally.take(),
  };
}

/** The sum of these numbers; undefined where no part has one. */
function sumOf<T>(
  parts: readonly T[],
  numberOf: (part: T) => number | undefined,
): number | undefined {
  const numbers = parts.flatMap((part) => numberOf(part) ?? []);
  return numbers.length === 0 ? undefined : numbers.reduce((sum, one) => sum + one, 0);
}

function greatest(
  parts: readonly LoadSecondFields[],
  numberOf: (part: LoadSecondFields) => number | undefined,
): number | undefined {
  const numbers = parts.flatMap((part) => numberOf(part) ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers);
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
    setup: { passed: 0, failed: 0, ...stats.setup },
  };
}

/** Every code that a response may have: a threshold about one that never came is decided, too. */
const NO_CODES: Readonly<Record<string, number>> = Object.fromEntries([
  ...["1xx", "2xx", "3xx", "4xx", "5xx"].map((kind) => [kind, 0] as const),
  ...Array.from({ length: 500 }, (_, index) => [String(100 + index), 0] as const),
]);

function stepValue(step: LoadStepStats | undefined): Dict {
  const phases = Object.entries(step?.phases ?? {}).map(([name, time]) => [name, seconds(time)]);
  return {
    ...numbersValue(step),
    codes: { ...NO_CODES, ...step?.codes },
    phases: Object.fromEntries(phases),
  };
}

const NO_NUMBERS: LoadNumbers & StepTraffic = { ...NO_TIMES, passed: 0, failed: 0, rate: 0 };

function numbersValue(numbers: (LoadNumbers & StepTraffic) | undefined): Dict {
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
