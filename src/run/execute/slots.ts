import type { Clock } from "../../host/host.ts";

/** Limits how many jobs run in parallel; waiting jobs start in the order of the file. */
export class JobSlots {
  #free: number;
  #isHandingOut = false;
  readonly #waiting = new Map<number, () => void>();
  readonly #clock: Clock;

  constructor(count: number, clock: Clock) {
    this.#free = count;
    this.#clock = clock;
  }

  /** Runs a job, known by its index in the file, as soon as there is a slot for it. */
  async use<T>(index: number, run: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.#waiting.set(index, begin);
      this.#handOutSoon();
    });
    try {
      return await run();
    } finally {
      this.#free++;
      this.#handOutSoon();
    }
  }

  /** Deferred, so that jobs that the end of another one unblocks can queue first. */
  #handOutSoon(): void {
    if (this.#isHandingOut) return;
    this.#isHandingOut = true;
    this.#clock.after(0, () => {
      this.#isHandingOut = false;
      this.#handOut();
    });
  }

  #handOut(): void {
    for (const index of [...this.#waiting.keys()].sort((a, b) => a - b)) {
      if (this.#free === 0) return;
      this.#free--;
      this.#waiting.get(index)!();
      this.#waiting.delete(index);
    }
  }
}

/** Lets jobs with the same lock run one after another, in the order in which they ask for it. */
export class Locks {
  /** The end of the last job that asked for each lock. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs a job as soon as no other one holds its lock. */
  hold<T>(lock: string, run: () => Promise<T>): Promise<T> {
    const before = this.#last.get(lock) ?? Promise.resolve();
    const result = before.then(run);
    // A job that fails to run lets the next one begin.
    this.#last.set(lock, result.catch(() => {}));
    return result;
  }
}
