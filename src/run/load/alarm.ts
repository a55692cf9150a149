import type { Clock } from "../../host/host.ts";

/** The milliseconds by which a timer may be late. */
const LAG = 2;

/** The shortest timer, in milliseconds. */
const SHORTEST = 1;

/** The part of a processor that idle turns of all processes may take. */
const IDLE_SHARE = 2 / 3;

/** The most milliseconds of idle turns in a row. */
const MOST_IDLE = 50;

/** A turn of the event loop in which nothing happens takes fewer milliseconds. */
const IDLE_TURN = 0.05;

/** Others want the processor where one takes more than that, and have it for a while. */
const TAKEN = 3;
const LEFT_ALONE = 200;

/**
 * Wakes a load job for what is next. The end of a pause goes by in turns of the event loop, as far
 * as a processor has time for them: a timer would be as late as a fast server takes to answer.
 */
export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  readonly #share: number;
  readonly #wake = () => this.#endPart();
  #cancelTimer: (() => void) | undefined;
  #isSet = false;
  #isTurn = false;
  #due = 0;
  /** When the part of a pause that is under way began. */
  #from: number;
  /** The milliseconds that idle turns may still take. */
  #credit = MOST_IDLE;
  /** The milliseconds that idle turns took: nobody has worked in them. */
  idle = 0;

  constructor(clock: Clock, ring: () => void, processes = 1) {
    this.#share = IDLE_SHARE / processes;
    this.#clock = clock;
    this.#ring = ring;
    this.#from = clock.ticks();
  }

  /** Rings after `pause` milliseconds, but not before the event loop has had its turn. */
  set(pause: number): void {
    if (this.#isSet) return;
    this.#isSet = true;
    this.#isTurn = false;
    const now = this.#count();
    this.#due = now + pause;
    this.#beginPart(now);
  }

  cancel(): void {
    this.#isSet = false;
    this.#cancelTimer?.();
  }

  #beginPart(now: number): void {
    const { turn } = this.#clock;
    const pause = this.#due - now;
    this.#isTurn = turn !== undefined && this.#credit > 0 && pause <= SHORTEST + LAG;
    if (this.#isTurn) return turn!(this.#wake);
    const length = Math.max(SHORTEST, turn ? pause - LAG : pause);
    this.#cancelTimer = this.#clock.after(length, this.#wake);
  }

  #endPart(): void {
    if (!this.#isSet) return;
    const now = this.#count();
    if (this.#clock.turn && now < this.#due) return this.#beginPart(now);
    this.#isSet = false;
    this.#ring();
  }

  /** Counts the time since the last call, which is now. */
  #count(): number {
    const now = this.#clock.ticks();
    const passed = now - this.#from;
    this.#from = now;
    const idle = this.#isTurn && passed < IDLE_TURN ? passed : 0;
    this.idle += idle;
    this.#credit = this.#isTurn && passed > TAKEN
      ? -LEFT_ALONE
      : Math.min(MOST_IDLE, this.#credit + passed * this.#share) - idle;
    return now;
  }
}
