/**
 * Holds the first requests of several rounds back until all of them have a connection, or until
 * those without one wait for those that are held back.
 */
export class Gate {
  #missing: number;
  /** Of the missing ones, those that nothing but other rounds lets go on. */
  #waiting = 0;
  #held: (() => void)[] = [];
  #isOpen = false;
  readonly #onStuck: (held: number) => void;

  /** `onStuck` takes the number of rounds that were held back where others could not join them. */
  constructor(rounds: number, onStuck: (held: number) => void) {
    this.#missing = rounds;
    this.#onStuck = onStuck;
  }

  /** The place of a round. */
  join(): GatePlace {
    let [isMissing, isWaiting] = [true, false];
    const wait = (waits: boolean) => {
      if (isWaiting === waits || !isMissing) return;
      isWaiting = waits;
      this.#waiting += waits ? 1 : -1;
      this.#openIfComplete();
    };
    const arrive = (go?: () => void) => {
      wait(false);
      if (go) this.#held.push(go);
      if (isMissing) this.#missing--;
      isMissing = false;
      this.#openIfComplete();
    };
    let hold: GatePlace["hold"] = arrive;
    return {
      get hold() {
        const first = hold;
        hold = undefined;
        return first;
      },
      leave: () => arrive(),
      wait,
    };
  }

  #openIfComplete(): void {
    if (!this.#isOpen && this.#waiting < this.#missing) return;
    const held = this.#held.splice(0);
    if (!this.#isOpen && this.#missing > 0) this.#onStuck(held.length);
    this.#isOpen = true;
    for (const each of held) each();
  }
}

/** The place of a round at a gate. */
export interface GatePlace {
  /** Sends its first request once all are there; undefined when it was read before. */
  readonly hold: ((send: () => void) => void) | undefined;
  /** The round is over: nobody waits for it. */
  leave(): void;
  /** The round waits for something that other rounds use, or does no longer. */
  wait(waits: boolean): void;
}
