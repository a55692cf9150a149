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
