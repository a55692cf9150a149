import type { Clock } from "../../../host/host.ts";
import type { ActionContext } from "../../../action/action.ts";
import { onAbort } from "../../../action/on_abort.ts";

interface Waiting {
  /** Takes the slot; false if it is not wanted any more. */
  readonly take: () => boolean;
  next: Waiting | undefined;
}

/** The limit in the beginning. */
const INITIAL_LIMIT = 8;

/** Milliseconds between two looks at whether the limit should grow. */
const TICK = 1;

/** With as many releases between two ticks, answers come as fast as they can be read. */
const BUSY = 32;

/** After as many ticks in a row without a release, the servers count as slow. */
const QUIET_TICKS = 10;

/**
 * Limits how many requests are under way, and lets them start in the order in which they ask.
 *
 * The limit is small in the beginning. While requests wait, it grows by one for each that is
 * released, and doubles from time to time while none is. A server has a short queue for
 * connections that it has not accepted yet and drops what does not fit, so the number of new
 * connections has to follow its answers.
 *
 * The limit does not grow while many are released: where answers come as fast as they can be read,
 * more requests under way make nothing faster, and everything that belongs to them stays in memory
 * longer.
 */
export class ConcurrencyLimiter {
  readonly #max: number;
  readonly #clock: Clock;
  #limit: number;
  #running = 0;
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  #released = 0;
  /** Ticks in a row without a release. */
  #quietTicks = 0;
  #cancelTick: (() => void) | undefined;

  /** `max` is what the limit may grow to. */
  constructor(max: number, clock: Clock) {
    this.#max = max;
    this.#clock = clock;
    this.#limit = Math.min(max, INITIAL_LIMIT);
  }

  /** Whether the next request has to wait. */
  get isFull(): boolean {
    return this.#running >= this.#limit;
  }

  /** Calls `take` once there is a slot: at once, or when one is released or the limit grows. */
  acquire(take: () => boolean): void {
    if (!this.isFull) {
      if (take()) this.#running++;
      return;
    }
    const waiting: Waiting = { take, next: undefined };
    if (this.#last) this.#last.next = waiting;
    else this.#first = waiting;
    this.#last = waiting;
    this.#schedule();
  }

  /** Gives a slot back. */
  release(): void {
    this.#running--;
    this.#released++;
    this.#start();
    // Later requests may be for other servers.
    if (this.#running === 0) this.#limit = Math.min(this.#max, INITIAL_LIMIT);
  }

  /** Stops the growth. */
  close(): void {
    this.#cancelTick?.();
  }

  #start(): void {
    while (this.#first && !this.isFull) {
      const { take, next } = this.#first;
      this.#first = next;
      if (!next) this.#last = undefined;
      if (take()) this.#running++;
    }
  }

  #growth(): number {
    if (this.#released > 0) {
      this.#quietTicks = 0;
      return this.#released < BUSY ? this.#released : 0;
    }
    if (++this.#quietTicks < QUIET_TICKS) return 0;
    this.#quietTicks = 0;
    return this.#limit;
  }

  #schedule(): void {
    if (this.#cancelTick || this.#limit === this.#max) return;
    this.#released = 0;
    this.#cancelTick = this.#clock.after(TICK, () => this.#tick());
  }

  #tick(): void {
    this.#cancelTick = undefined;
    if (!this.#first) return;
    this.#limit = Math.min(this.#max, this.#limit + this.#growth());
    this.#start();
    if (this.#first) this.#schedule();
  }
}

/**
 * Resolves once there is a slot; rejects, without one, when the action has to stop. The wait is not
 * the fault of the server, so the timeout of the action is paused.
 */
export function acquireSlot(limiter: ConcurrencyLimiter, context: ActionContext): Promise<void> {
  return new Promise((resolve, reject) => {
    let isWaiting = true;
    if (limiter.isFull) context.deadline.pauseTimeout();
    const forget = onAbort(context.signal, (reason) => {
      isWaiting = false;
      reject(reason);
    });
    limiter.acquire(() => {
      if (isWaiting) {
        forget();
        context.deadline.resumeTimeout();
        resolve();
      }
      return isWaiting;
    });
  });
}
