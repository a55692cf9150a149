import { roundDuration } from "../../base/value/duration.ts";
import type { LoadSecondFields } from "../event.ts";
import type { LoadMeter } from "./load_meter.ts";
import type { Schedule } from "./schedule.ts";

/** Milliseconds after which the start of a round is late. */
const LATE = 10;

/** What is known at the end of a second. */
interface Now {
  readonly users: number;
  readonly inFlight: number;
  readonly isEnding: boolean;
}

/** Cuts the time of a load job into seconds, and counts what starts in each. */
export class LoadSeconds {
  readonly #schedule: Schedule;
  /** The part of the rounds that this process starts: 1 of so many. */
  readonly #of: number;
  readonly #cpuTime: () => number;
  readonly #now: () => Now;
  readonly #emit: (second: Omit<LoadSecondFields, "job">) => void;
  readonly #meters: { readonly warmUp: LoadMeter; readonly measured: LoadMeter };
  #from = 0;
  #end: number;
  #cpu: number;
  #started = 0;
  #dropped = 0;
  #late = 0;
  #lateMax = 0;

  constructor({ schedule, of, cpuTime, now, emit, meters }: {
    readonly schedule: Schedule;
    readonly of: number;
    readonly cpuTime: () => number;
    readonly now: () => Now;
    readonly emit: (second: Omit<LoadSecondFields, "job">) => void;
    readonly meters: { readonly warmUp: LoadMeter; readonly measured: LoadMeter };
  }) {
    this.#schedule = schedule;
    this.#of = of;
    this.#cpuTime = cpuTime;
    this.#now = now;
    this.#emit = emit;
    this.#meters = meters;
    this.#cpu = cpuTime();
    this.#end = this.#nextEnd();
  }

  /** When this second is over. */
  get end(): number {
    return this.#end;
  }

  /** Counts a round that begins so late. */
  addStart(late: number): void {
    this.#started++;
    if (late <= LATE) return;
    this.#late++;
    if (late > this.#lateMax) this.#lateMax = late;
  }

  addDropped(): void {
    this.#dropped++;
  }

  /** Passes on the seconds that are over. */
  advance(now: number): void {
    while (this.#end <= now) this.#pass(this.#end);
  }

  /** Ends this second now. Each has its own start, so that only the last one may take no time. */
  cut(now: number, isLast = false): void {
    this.advance(now);
    const isEmpty = this.#started === 0 && this.#meters.measured.isEmpty;
    if (now > this.#from || isLast && !isEmpty) this.#pass(now);
  }

  /** Seconds count from the end of the warm-up, and from that of the last stage. */
  #nextEnd(): number {
    const { warmUp, end } = this.#schedule;
    const from = this.#from;
    const next = from + 1000;
    return from < warmUp && warmUp < next ? warmUp : from < end && end < next ? end : next;
  }

  #pass(to: number): void {
    const { warmUp, isOpen, end } = this.#schedule;
    const from = this.#from;
    const length = to - from;
    const { users, inFlight, isEnding } = this.#now();
    const isWarmUp = from < warmUp;
    const hasEnded = isEnding || from >= end;
    const cpu = this.#cpuTime();
    const busy = Math.min(1, Math.max(0, (cpu - this.#cpu) / Math.max(length, 1)));
    const asked = hasEnded || length === 0
      ? 0
      : this.#schedule.roundsBetween(from, to) * 1000 / length / this.#of;
    const second: Omit<LoadSecondFields, "job"> = {
      from: roundDuration(from),
      length: roundDuration(length),
      ...isWarmUp ? { phase: "warm_up" } : hasEnded ? { phase: "ending" } : {},
      stage: this.#schedule.stageAt(from),
      ...isOpen ? { asked: Math.round(asked * 1000) / 1000 } : { users },
      started: this.#started,
      ...this.#dropped > 0 ? { dropped: this.#dropped } : {},
      ...this.#late > 0 ? { late: this.#late, lateMax: roundDuration(this.#lateMax) } : {},
      inFlight,
      busy: Math.round(busy * 1000) / 1000,
      ...(isWarmUp ? this.#meters.warmUp : this.#meters.measured).take(),
    };
    this.#from = to;
    this.#end = this.#nextEnd();
    this.#cpu = cpu;
    this.#started =
      this.#dropped =
      this.#late =
      this.#lateMax =
        0;
    this.#emit(second);
  }
}
