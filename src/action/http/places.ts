import type { ActionContext } from "../action.ts";

interface Waiting {
  /** Takes the place; false where it is no longer wanted. */
  readonly take: () => boolean;
  next: Waiting | undefined;
}

/** A limited number of places, given out in the order in which they are asked for. */
export class Places {
  #free: number;
  #first: Waiting | undefined;
  #last: Waiting | undefined;

  constructor(count: number) {
    this.#free = count;
  }

  /** Whether who asks has to wait. */
  get isFull(): boolean {
    return this.#free === 0;
  }

  /** Calls `take` once there is a place: at once, or when one is given back. */
  ask(take: () => boolean): void {
    if (this.#free > 0) {
      if (take()) this.#free--;
      return;
    }
    const waiting: Waiting = { take, next: undefined };
    if (this.#last) this.#last.next = waiting;
    else this.#first = waiting;
    this.#last = waiting;
  }

  /** Gives a place back. */
  giveBack(): void {
    while (this.#first) {
      const { take, next } = this.#first;
      this.#first = next;
      if (!next) this.#last = undefined;
      if (take()) return;
    }
    this.#free++;
  }
}

/**
 * Resolves once there is a place; rejects, without one, when the action has to stop. That there
 * are no more places is not the fault of the server, so the time of the action does not run.
 */
export function waitForPlace(places: Places, context: ActionContext): Promise<void> {
  return new Promise((resolve, reject) => {
    let isWaiting = true;
    if (places.isFull) context.queue();
    const forget = context.onStop((reason) => {
      isWaiting = false;
      reject(reason);
    });
    places.ask(() => {
      if (isWaiting) {
        forget();
        context.begin();
        resolve();
      }
      return isWaiting;
    });
  });
}
