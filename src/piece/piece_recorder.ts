import type { Emit, RunEvent } from "../run/event.ts";
import type { Dict } from "../value/value.ts";
import type { PieceOutcome, PieceOutputs } from "./outputs_file.ts";

/** The part of an outputs file about a finished piece. */
type PieceResults = Pick<PieceOutputs, "jobs" | "outputs" | "rounds">;

/** Collects what a piece leaves to others. */
export class PieceRecorder {
  readonly #jobs: Record<string, PieceOutcome> = {};
  readonly #failed = new Map<string, number>();
  #outputs: Pick<PieceResults, "outputs" | "rounds"> | undefined;

  /** Takes the events of the piece, and passes them on. */
  around(emit: Emit): Emit {
    return (event) => {
      this.#take(event);
      emit(event);
    };
  }

  /** Takes what its steps have published. */
  keep(outputs: Readonly<Record<string, Dict>>, rounds: ReadonlyMap<string, number>): void {
    this.#outputs = { outputs, rounds: Object.fromEntries(rounds) };
  }

  /** Undefined until its jobs are over. */
  get results(): PieceResults | undefined {
    return this.#outputs && { jobs: this.#jobs, ...this.#outputs };
  }

  #take(event: RunEvent): void {
    if (event.type === "step_finished") {
      const { run, result } = event;
      if (run.within || result.state !== "failed") return;
      this.#failed.set(run.job, (this.#failed.get(run.job) ?? 0) + 1);
    } else if (event.type === "job_finished") {
      const { job, state, reason, blocked } = event;
      this.#jobs[job] = {
        state,
        ...reason === undefined ? {} : { reason },
        ...blocked ? { blocked } : {},
        failed: this.#failed.get(job) ?? 0,
      };
    }
  }
}
