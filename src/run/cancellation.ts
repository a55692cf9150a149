import { StepError } from "../base/errors.ts";
import { Chain, type Deadline, type Deadlines, type Link } from "../host/deadlines.ts";
import type { Clock } from "../host/host.ts";
import { formatDuration } from "../base/value/duration.ts";

/** Something in progress that can be stopped. */
export interface Stoppable {
  stop(reason: StepError): void;
}

/** The time limit of a run, in milliseconds, and the reason it gives when it ends the run. */
export interface TimeLimit {
  readonly milliseconds: number;
  readonly reason: string;
}

/** Makes a cancellation after which nothing new starts: that of the run, or an earlier one. */
export function drainedBy(
  cancellation: Cancellation,
  draining = new Cancellation(),
): Cancellation {
  draining.follow(cancellation);
  return draining;
}

/** Makes a cancellation that follows another after a delay; its timer runs until released. */
export function endAfter(
  cancellation: Cancellation,
  milliseconds: number,
  deadlines: Deadlines,
): { readonly end: Cancellation; readonly release: () => void } {
  const end = new Cancellation();
  const time = formatDuration(milliseconds);
  let hasEnded = false;
  let deadline: Deadline | undefined;
  cancellation.whenCancelled(() => {
    if (hasEnded) return;
    deadline = deadlines.add(milliseconds, () => end.cancel(`cleanup timed out after ${time}`));
  });
  return {
    end,
    release() {
      hasEnded = true;
      deadline?.cancel();
    },
  };
}

/** Cancels a run, once: stops everything in progress, and nothing new starts. */
export class Cancellation {
  #reason: string | undefined;
  #look: (() => void) | undefined;
  readonly #underWay = new Chain<Stoppable>();

  /** Why the run was interrupted, once it was. */
  get reason(): string | undefined {
    if (this.#reason === undefined) this.#look?.();
    return this.#reason;
  }

  /**
   * Cancels after a time, unless the timer is stopped. A run that never waits keeps timers
   * from firing, so reading the reason checks the clock, too.
   */
  cancelAfter({ milliseconds, reason }: TimeLimit, clock: Clock): () => void {
    const due = clock.ticks() + milliseconds;
    const end = () => this.cancel(reason);
    this.#look = () => clock.ticks() >= due && end();
    return clock.after(milliseconds, end);
  }

  /** Follows the cancellation of another one, until the link is removed. */
  follow(other: Cancellation): Link<Stoppable> {
    this.#look = () => void other.reason;
    if (other.reason !== undefined) this.cancel(other.reason);
    return other.add({ stop: ({ message }) => this.cancel(message) });
  }

  /** Stops everything that is under way. Only the first call counts. */
  cancel(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const error = new StepError(reason);
    for (const each of this.#underWay.values()) each.stop(error);
  }

  /** Calls a function when cancelled, immediately if it already is. */
  whenCancelled(callback: (reason: string) => void): void {
    if (this.#reason === undefined) this.add({ stop: ({ message }) => callback(message) });
    else callback(this.#reason);
  }

  /** Stops something when cancelled, until the link is removed. */
  add(each: Stoppable): Link<Stoppable> {
    return this.#underWay.add(each);
  }

  /** Sleeps that long, or until the run is interrupted. */
  sleep(milliseconds: number, deadlines: Deadlines): Promise<void> {
    if (this.#reason !== undefined || milliseconds <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = {
        stop: () => {
          deadline.cancel();
          link.remove();
          resolve();
        },
      };
      const deadline = deadlines.add(milliseconds, sleeper.stop);
      const link = this.add(sleeper);
    });
  }
}
