/** Holds the first requests of several rounds back until all of them have a connection. */
export class Gate {
  #missing: number;
  #held: (() => void)[] = [];

  constructor(rounds: number) {
    this.#missing = rounds;
  }

  /** The place of a round. */
  join(): GatePlace {
    let isMissing = true;
    const arrive = (go?: () => void) => {
      if (go) this.#held.push(go);
      if (isMissing) this.#missing--;
      isMissing = false;
      if (this.#missing > 0) return;
      for (const each of this.#held.splice(0)) each();
    };
    let hold: GatePlace["hold"] = arrive;
    return {
      get hold() {
        const first = hold;
        hold = undefined;
        return first;
      },
      leave: () => arrive(),
    };
  }
}

/** The place of a round at a gate. */
export interface GatePlace {
  /** Sends its first request once all are there; undefined when it was read before. */
  readonly hold: ((send: () => void) => void) | undefined;
  /** The round is over: nobody waits for it. */
  leave(): void;
}
