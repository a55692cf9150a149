import type { StepFinished, StepResult, StepRun } from "../../run/event.ts";

/** A step that is over, with the steps of the job that it embeds as its last attempt ran them. */
export interface StepTree {
  readonly run: StepRun;
  readonly result: StepResult;
  readonly inside: readonly StepTree[];
}

/** Keeps the steps of embedded jobs until the steps that embed them are over. */
export class StepTrees {
  /** By the keys of the steps around them. */
  readonly #inside = new Map<string, StepTree[]>();

  /** Takes a step that is over, and gives it back with what is inside unless it is inside itself. */
  finish({ run, result }: StepFinished): StepTree | undefined {
    const tree = { run, result, inside: this.#take(run) };
    if (!run.within) return tree;
    const key = runKey(run.within);
    const beside = this.#inside.get(key);
    if (beside) beside.push(tree);
    else this.#inside.set(key, [tree]);
    return undefined;
  }

  /** Forgets what an attempt of a step ran, since another attempt runs it anew. */
  retry(run: StepRun): void {
    this.#take(run);
  }

  #take(run: StepRun): readonly StepTree[] {
    if (this.#inside.size === 0) return [];
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
