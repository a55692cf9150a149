import { denoHost } from "../host/deno_host.ts";
import type { RunEvent } from "../run/event.ts";
import { run as runPlan } from "../run/run.ts";
import { planOf } from "./handles.ts";
import type { Plan } from "./types.ts";

/** How a plan is run. */
export interface RunOptions {
  /** Interrupts the run; its `reason` is a text that says why. */
  readonly signal?: AbortSignal;
  /** How long the whole run may take, in milliseconds; no bound without it. */
  readonly timeout?: number;
  /** Begins no new job and no new step after the first failure. */
  readonly failFast?: boolean;
  /** How many jobs may run at once, at least 1; no bound without it. */
  readonly jobs?: number;
  /** Tells of every step what it sent, got and published, not only of those that failed. */
  readonly detailed?: boolean;
  /** Is told each event as it happens. */
  readonly onEvent?: (event: RunEvent) => void;
}

/** A run under way. Its events can be read once, in order, while it goes on or later. */
export interface Run extends AsyncIterable<RunEvent> {
  /** Whether every job passed or was skipped on purpose. All is ended that the run began then. */
  readonly passed: Promise<boolean>;
}

/**
 * Runs a plan. Secrets are masked in its events.
 *
 * @example Follow a run
 * ```ts
 * import { loadWorkflow, makePlan, run } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * const running = run(await makePlan(workflow));
 * for await (const event of running) {
 *   if (event.type === "step_finished") console.log(event.result.name, event.result.state);
 * }
 * console.log(await running.passed);
 * ```
 */
export function run(plan: Plan, options: RunOptions = {}): Run {
  const { onEvent, timeout, detailed = false, ...others } = options;
  const events = new Queue<RunEvent>();
  const emit = (event: RunEvent) => {
    events.add(event);
    onEvent?.(event);
  };
  const passed = runPlan(planOf(plan), denoHost(), emit, {
    ...others,
    ...timeout === undefined ? {} : { timeout: { milliseconds: timeout, reason: "timed out" } },
    detail: { all: detailed, places: detailed },
  }).finally(() => events.end());
  // Who follows the events alone sees the error there.
  passed.catch((error) => events.fail(error));
  return { passed, [Symbol.asyncIterator]: () => events.read() };
}

/** Values that are added before they are read. */
class Queue<T> {
  #values: T[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isOver = false;
  #wake = () => {};

  add(value: T): void {
    this.#values.push(value);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  async *read(): AsyncGenerator<T> {
    for (;;) {
      const values = this.#values;
      this.#values = [];
      yield* values;
      if (this.#values.length > 0) continue;
      if (this.#failure) throw this.#failure.error;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}
