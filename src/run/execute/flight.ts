import type { JobState } from "../event.ts";
import type { Round } from "../run_state.ts";
import type { CompiledStep } from "./compiled_step.ts";
import { combineStates, runOnce, skipStep } from "./run_step.ts";

/** Receives the end of a round. */
export interface FlightOwner {
  onEnd(round: Round, state: JobState): void;
  /** Something was thrown that is not about a step. */
  onError(error: unknown): void;
}

export function runRound(round: Round, steps: readonly CompiledStep[]): Promise<JobState> {
  return new Promise((resolve, reject) => {
    const owner = { onEnd: (_: Round, state: JobState) => resolve(state), onError: reject };
    new Flight(round, steps, owner).start();
  });
}

/** Runs the steps of a round one after the other, and then always the cleanup steps. */
export class Flight {
  readonly #round: Round;
  readonly #steps: readonly CompiledStep[];
  readonly #owner: FlightOwner;
  #next = 0;
  #state: JobState = "passed";
  /** The round as cleanup steps see it, once the others are over. */
  #cleanup: Round | undefined;

  constructor(round: Round, steps: readonly CompiledStep[], owner: FlightOwner) {
    this.#round = round;
    this.#steps = steps;
    this.#owner = owner;
  }

  /** Runs the steps up to one that waits; the others follow when it has ended. */
  start(): void {
    try {
      for (let step = this.#steps[this.#next++]; step; step = this.#steps[this.#next++]) {
        const state = this.#run(step);
        if (state instanceof Promise) {
          state.then((state) => this.#resume(state), (error) => this.#close(error));
          return;
        }
        this.#state = combineStates(this.#state, state);
      }
      this.#endSteps();
      this.#close();
    } catch (error) {
      this.#close(error);
    }
  }

  #resume(state: JobState): void {
    this.#state = combineStates(this.#state, state);
    this.start();
  }

  /** A failed step does not stop those after it, unless the job says so. */
  #run(step: CompiledStep): JobState | Promise<JobState> {
    if (step.model.isCleanup) return runStep(this.#cleanup ??= this.#endSteps(), step);
    const round = this.#round;
    const { job, run: { cancellation, draining } } = round;
    if (cancellation.reason !== undefined) return this.#state;
    if (this.#state === "failed" && job.stopsAtFailure) {
      skipStep(round, step, undefined, "on_failure is stop, and a step before failed");
      return this.#state;
    }
    if (draining.reason === undefined) return runStep(round, step);
    skipStep(round, step);
    return "skipped";
  }

  /** Ends the steps that do not clean up, and returns the round in which the others run. */
  #endSteps(): Round {
    const round = this.#round;
    if (this.#cleanup) return this.#cleanup;
    const { job, run } = round;
    const isInterrupted = run.cancellation.reason !== undefined;
    if (isInterrupted) this.#state = "failed";
    if (!job.steps.at(-1)?.isCleanup) return round;
    const hasFailed = this.#state === "failed";
    const state = isInterrupted ? "interrupted" : hasFailed ? "failed" : "passed";
    const names = {
      ...round.names,
      // As it was when they began.
      run: { ...run.progress() },
      ...job.isCleanup ? {} : { job: { state, failed: round.failures.count } },
    };
    return round.with({ run: run.forCleanup(), names });
  }

  /** Closes what its steps have left open. */
  #close(error?: unknown): void {
    const { open, run } = this.#round;
    const end = () =>
      error === undefined
        ? this.#owner.onEnd(this.#round, this.#state)
        : this.#owner.onError(error);
    if (open) run.close(open).then(end).catch((error) => this.#owner.onError(error));
    else end();
  }
}

/**
 * Runs a step, once for each entry of its `iteration`: failed when any of it failed, skipped when
 * the run was closed before all of it was begun.
 */
function runStep(round: Round, step: CompiledStep): JobState | Promise<JobState> {
  const { iteration } = step.model;
  if (!iteration) return runOnce(round, step);
  return import("./run_entries.ts").then(({ runEntries }) => runEntries(round, step, iteration));
}
