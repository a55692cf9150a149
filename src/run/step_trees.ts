import type { RunEvent, StepFinished, StepResult, StepRun, StepTree } from "./event.ts";

/** Whether a step did not do what it should, though its job may allow that. */
export function hasFailed({ state }: Pick<StepResult, "state">): boolean {
  return state === "failed" || state === "allowed";
}

/** Keeps the steps of embedded jobs until the steps that embed them are over. */
export class StepTrees {
  /** By the keys of the steps around them. */
  readonly #inside = new Map<string, StepTree[]>();
  /** The jobs that have several rounds. */
  readonly #repeated = new Set<string>();

  /**
   * Follows the events of a run. Returns the tree of a step that is over, but not of one inside
   * another, nor of the rounds of a repeated job, which are tallied.
   */
  take(event: RunEvent): StepTree | undefined {
    switch (event.type) {
      case "job_started":
        if ((event.rounds ?? 1) !== 1) this.#repeated.add(event.job);
        return undefined;
      case "step_retried":
        this.retry(event.run);
        return undefined;
      case "step_finished":
        return this.#repeated.has(event.run.job) ? undefined : this.finish(event);
      default:
        return undefined;
    }
  }

  /** Adds a finished step. Returns its tree, or undefined if it is inside another step. */
  finish({ run, result }: Pick<StepFinished, "run" | "result">): StepTree | undefined {
    const tree = { run, result, inside: this.#take(run) };
    if (!run.within) return tree;
    const key = runKey(run.within);
    const siblings = this.#inside.get(key);
    if (siblings) siblings.push(tree);
    else this.#inside.set(key, [tree]);
    return undefined;
  }

  /** Forgets what an attempt of a step ran, since another attempt runs it anew. */
  retry(run: StepRun): void {
    this.#take(run);
  }

  /** Whether it keeps no step. */
  get isEmpty(): boolean {
    return this.#inside.size === 0;
  }

  #take(run: StepRun): readonly StepTree[] {
    if (this.isEmpty) return [];
    const key = runKey(run);
    const inside = this.#inside.get(key) ?? [];
    this.#inside.delete(key);
    return inside;
  }
}

/** A key that identifies a run of a step. */
export function runKey({ job, within, step, round, entry }: StepRun): string {
  return `${within ? runKey(within) : job}\n${step}.${round}.${entry}`;
}

/** The `cause` of failures that the failure of a step leads to. */
export function causeOfRun({ job, within, step, round, entry }: StepRun): string {
  const parts = [within ? causeOfRun(within) : `job ${job}`, `step ${step + 1}`];
  if (round !== undefined) parts.push(`repeat_index ${round}`);
  if (entry !== undefined) parts.push(`entry ${entry + 1}`);
  return parts.join(", ");
}
