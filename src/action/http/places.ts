interface Waiting {
  readonly start: () => void;
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

  /** Calls `start` once there is a place: at once, or when one is given back. */
  take(start: () => void): void {
    if (this.#free > 0) {
      this.#free--;
      start();
      return;
    }
    const waiting: Waiting = { start, next: undefined };
    if (this.#last) this.#last.next = waiting;
    else this.#first = waiting;
    this.#last = waiting;
  }

  /** Gives a place back. */
  giveBack(): void {
    const first = this.#first;
    if (!first) {
      this.#free++;
      return;
    }
    this.#first = first.next;
    if (!this.#first) this.#last = undefined;
    first.start();
  }
}
