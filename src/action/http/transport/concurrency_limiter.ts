import type { Clock } from "../../../host/host.ts";
import type { ActionContext } from "../../action.ts";
import { onAbort } from "../../on_abort.ts";

interface Waiting {
  /** Takes the place; false where it is no longer wanted. */
  readonly take: () => boolean;
  next: Waiting | undefined;
}

/** How many places there are in the beginning. */
const FEW = 8;

/** Milliseconds between two looks at whether there should be more. */
const PERIOD = 1;

/** Where as many are given back between two looks, there is enough to do. */
const BUSY = 32;

/** After as many looks at nothing that is given back, the servers are taken to be slow. */
const PATIENCE = 10;

/**
 * A limited number of places, given out in the order in which they are asked for.
 *
 * There are few places in the beginning. While somebody waits, a place is added for each that is
 * given back, and where none is, they double from time to time. A server has a short queue for
 * connections that it has not taken yet and loses what does not fit, so it should see more of
 * them as it answers, or slowly.
 *
 * None is added while many are given back: where answers come as fast as they can be read, more
 * requests under way make nothing faster, and all that belongs to them is in memory longer.
 */
export class Places {
  readonly #limit: number;
  readonly #clock: Clock;
  #most: number;
  #taken = 0;
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  #returned = 0;
  /** Looks in a row that saw nothing given back. */
  #quiet = 0;
  #cancelLook: (() => void) | undefined;

  constructor(limit: number, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
    this.#most = Math.min(limit, FEW);
  }

  /** Whether who asks has to wait. */
  get isFull(): boolean {
    return this.#taken >= this.#most;
  }

  /** Calls `take` once there is a place: at once, or when one is given back or added. */
  ask(take: () => boolean): void {
    if (!this.isFull) {
      if (take()) this.#taken++;
      return;
    }
    const waiting: Waiting = { take, next: undefined };
    if (this.#last) this.#last.next = waiting;
    else this.#first = waiting;
    this.#last = waiting;
    this.#look();
  }

  /** Gives a place back. */
  giveBack(): void {
    this.#taken--;
    this.#returned++;
    this.#giveOut();
    // What comes later may be for other servers.
    if (this.#taken === 0) this.#most = Math.min(this.#limit, FEW);
  }

  /** Adds no more places. */
  close(): void {
    this.#cancelLook?.();
  }

  #giveOut(): void {
    while (this.#first && !this.isFull) {
      const { take, next } = this.#first;
      this.#first = next;
      if (!next) this.#last = undefined;
      if (take()) this.#taken++;
    }
  }

  #more(): number {
    if (this.#returned > 0) {
      this.#quiet = 0;
      return this.#returned < BUSY ? this.#returned : 0;
    }
    if (++this.#quiet < PATIENCE) return 0;
    this.#quiet = 0;
    return this.#most;
  }

  #look(): void {
    if (this.#cancelLook || this.#most === this.#limit) return;
    this.#returned = 0;
    this.#cancelLook = this.#clock.after(PERIOD, () => {
      this.#cancelLook = undefined;
      if (!this.#first) return;
      this.#most = Math.min(this.#limit, this.#most + this.#more());
      this.#giveOut();
      if (this.#first) this.#look();
    });
  }
}

/**
 * Resolves once there is a place; rejects, without one, when the action has to stop. That there
 * are no more places is not the fault of the server, so the time of the action does not run.
 */
export function waitForPlace(places: Places, context: ActionContext): Promise<void> {
  return new Promise((resolve, reject) => {
    let isWaiting = true;
    if (places.isFull) context.deadline.pauseTimeout();
    const forget = onAbort(context.signal, (reason) => {
      isWaiting = false;
      reject(reason);
    });
    places.ask(() => {
      if (isWaiting) {
        forget();
        context.deadline.resumeTimeout();
        resolve();
      }
      return isWaiting;
    });
  });
}
