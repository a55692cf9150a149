import type { LoadStageOutline } from "../event.ts";

/** A time during which the level, a rate in rounds a second or a number of users, is even or ramps. */
interface Part {
  readonly stage: number;
  readonly isWarmUp: boolean;
  /** Milliseconds from the start of the job. */
  readonly start: number;
  readonly end: number;
  /** The levels at its start and at its end. */
  readonly from: number;
  readonly to: number;
}

/** What a load job does when: the warm-up, and then the stages. */
export class Schedule {
  readonly isOpen: boolean;
  /** When the warm-up is over, and when the last stage is: milliseconds from the start. */
  readonly warmUp: number;
  readonly end: number;
  readonly #parts: readonly Part[];

  constructor(stages: readonly LoadStageOutline[], warmUp = 0) {
    this.isOpen = stages[0]?.rate !== undefined;
    this.warmUp = warmUp;
    const levelOf = ({ rate, users }: LoadStageOutline) => rate ?? users ?? 0;
    const parts: Part[] = [];
    let start = 0;
    let before = 0;
    if (warmUp > 0) {
      const level = levelOf(stages[0]!);
      const levels = { from: level, to: level };
      parts.push({ stage: 0, isWarmUp: true, start, end: warmUp, ...levels });
      start = warmUp;
    }
    for (const [index, stage] of stages.entries()) {
      const to = levelOf(stage);
      const end = start + (stage.duration ?? Infinity);
      const from = stage.ramp ? before : to;
      parts.push({ stage: index, isWarmUp: false, start, end, from, to });
      start = end;
      before = to;
    }
    this.#parts = parts;
    this.end = start;
  }

  /** The part at a time; the last one afterwards. */
  #partAt(time: number): Part {
    return this.#parts.find(({ end }) => time < end) ?? this.#parts.at(-1)!;
  }

  stageAt(time: number): number {
    return this.#partAt(time).stage;
  }

  usersAt(time: number): number {
    const part = this.#partAt(time);
    const level = levelAt(part, Math.min(time, part.end));
    // A ramp has reached a number of users when it is due, but for what rounding makes of it.
    return part.to < part.from ? Math.ceil(level - 1e-6) : Math.floor(level + 1e-6);
  }

  get mostUsers(): number {
    return Math.max(...this.#parts.map(({ from, to }) => Math.max(from, to)));
  }

  /** When the number of users is next another one. */
  nextChange(time: number): number {
    const { start, end, from, to } = this.#partAt(time);
    if (from === to || end === Infinity) return end;
    const users = this.usersAt(time);
    const next = to > from ? users + 1 : users - 1;
    const due = start + (next - from) / (to - from) * (end - start);
    return due > time ? Math.min(due, end) : end;
  }

  /** How many rounds should start between two times, neither of them across the warm-up's end. */
  roundsBetween(from: number, to: number): number {
    return this.#parts.reduce((sum, part) => {
      const [start, end] = [Math.max(from, part.start), Math.min(to, part.end)];
      if (end <= start) return sum;
      return sum + (levelAt(part, start) + levelAt(part, end)) / 2 * (end - start) / 1000;
    }, 0);
  }

  /**
   * When the rounds that start at a rate are due, without end where the last stage has none. Of
   * several processes, part `index` of `of` starts every `of`-th round.
   */
  *dueTimes({ index, of } = { index: 1, of: 1 }): Generator<Due, undefined> {
    let number = index - 1;
    /** The rounds before this part. */
    let before = 0;
    let wasWarmUp = true;
    for (const part of this.#parts) {
      if (wasWarmUp && !part.isWarmUp) {
        // Measured rounds are counted from the end of the warm-up.
        number = index - 1;
        before = 0;
      }
      wasWarmUp = part.isWarmUp;
      const { start, end, from, to, isWarmUp } = part;
      const length = end - start;
      const all = length === Infinity ? Infinity : before + (from + to) / 2 * length / 1000;
      for (; number < all - 1e-6; number += of) {
        yield { number, time: start + timeOf(part, number - before), isWarmUp };
      }
      before = all;
    }
    return undefined;
  }
}

/** A round that starts at a rate. */
export interface Due {
  /** From 0 in the warm-up, and again from its end. */
  readonly number: number;
  /** Milliseconds from the start of the job. */
  readonly time: number;
  readonly isWarmUp: boolean;
}

function levelAt({ start, end, from, to }: Part, time: number): number {
  return end === Infinity ? to : from + (to - from) * (time - start) / (end - start);
}

/** The milliseconds from the start of a part until this number of rounds has started in it. */
function timeOf({ start, end, from, to }: Part, rounds: number): number {
  if (rounds <= 0) return 0;
  const [first, last] = [from / 1000, to / 1000];
  // The integral of the rate, solved for the time: without a ramp it is rounds / rate.
  const growth = end === Infinity ? 0 : (last - first) / (end - start);
  return 2 * rounds / (first + Math.sqrt(Math.max(0, first ** 2 + 2 * growth * rounds)));
}
