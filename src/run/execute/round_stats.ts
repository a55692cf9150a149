import { Histogram } from "../../base/value/histogram.ts";
import type { JobState, RoundStats } from "../event.ts";

/** Counts the rounds of a job and their times. */
export class RoundCounter {
  readonly #times = new Histogram();
  #passed = 0;
  #failed = 0;

  /** Counts a round that took so many milliseconds. */
  add(state: JobState, milliseconds: number): void {
    if (state === "skipped") return;
    if (state === "passed") this.#passed++;
    else this.#failed++;
    this.#times.add(milliseconds);
  }

  /** The statistics so far; undefined where no round ended. */
  result(): RoundStats | undefined {
    const summary = this.#times.summary();
    if (!summary) return undefined;
    const { count, p999: _, ...times } = summary;
    return { count, passed: this.#passed, failed: this.#failed, ...times };
  }
}
