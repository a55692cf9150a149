import type { RunEvent, StepTally } from "../../run/event.ts";

/** Counts the snapshots that runs have written. */
export class NewSnapshots {
  readonly #counts = { written: 0, updated: 0, passed: 0, failed: 0 };
  /** The jobs that have several rounds, by run and id: their tallies have the numbers. */
  readonly #repeated = new Set<string>();

  take(event: RunEvent): void {
    if (event.type === "job_started" && (event.rounds ?? 1) !== 1) {
      this.#repeated.add(`${event.runId} ${event.job}`);
    } else if (event.type === "rounds_tallied") {
      event.steps.forEach((step) => this.#addRounds(step));
    } else if (event.type === "step_finished" && event.result.snapshot) {
      if (this.#repeated.has(`${event.runId} ${event.run.job}`)) return;
      this.#counts[event.result.snapshot.state]++;
    }
  }

  /** A line with their number; empty if there are none. */
  render(): string {
    const { written, updated } = this.#counts;
    const parts = [
      ...written > 0 ? [`${written} written`] : [],
      ...updated > 0 ? [`${updated} updated`] : [],
    ];
    return parts.length === 0 ? "" : `Snapshots: ${parts.join(", ")}\n`;
  }

  #addRounds({ snapshots = {}, inside }: StepTally): void {
    this.#counts.written += snapshots.written ?? 0;
    this.#counts.updated += snapshots.updated ?? 0;
    inside.forEach((step) => this.#addRounds(step));
  }
}
