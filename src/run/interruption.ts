import { StepError } from "../source/errors.ts";
import type { Deadlines } from "../host/deadlines.ts";

/** Ends a run before its end, once: what is under way is stopped, nothing new is begun. */
export class Interruption {
  #reason: string | undefined;
  readonly #stops = new Set<(reason: StepError) => void>();

  /** Why the run was interrupted, once it was. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Stops everything that is under way. Only the first call counts. */
  interrupt(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const error = new StepError(reason);
    for (const stop of [...this.#stops]) stop(error);
  }

  /** Has `stop` called at an interruption; the result takes it back. */
  add(stop: (reason: StepError) => void): () => void {
    this.#stops.add(stop);
    return () => this.#stops.delete(stop);
  }

  /** Sleeps that long, or until the run is interrupted. */
  sleep(milliseconds: number, deadlines: Deadlines): Promise<void> {
    if (this.#reason !== undefined || milliseconds <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        deadline.cancel();
        forget();
        resolve();
      };
      const deadline = deadlines.add(milliseconds, wake);
      const forget = this.add(wake);
    });
  }
}
