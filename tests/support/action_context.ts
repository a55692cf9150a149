import type { ActionContext } from "../../src/action/action.ts";
import { Deadlines } from "../../src/host/deadlines.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import { StepError } from "../../src/source/errors.ts";

/** A run for the tests of an action: the real machine, and what the action said to the run. */
export interface TestRun {
  readonly context: ActionContext;
  readonly secrets: readonly string[];
  readonly notes: readonly string[];
  /** How many stops are registered now: none once the action is over. */
  stopsWaiting(): number;
  /** Ends the attempt, as a timeout or an interruption does. */
  stop(reason?: string): void;
  /** Ends the run. */
  end(): Promise<void>;
}

/** A run with one step. */
export function testRun(timeout = 300_000): TestRun {
  const host = denoHost();
  const stops = new Set<(reason: StepError) => void>();
  const ends: (() => void | Promise<void>)[] = [];
  const secrets: string[] = [];
  const notes: string[] = [];
  let stopped: StepError | undefined;
  return {
    context: {
      host,
      deadlines: new Deadlines(host.clock),
      run: {},
      label: "a step",
      timeout,
      onStop(stop) {
        if (stopped) stop(stopped);
        else stops.add(stop);
        return () => stops.delete(stop);
      },
      onRunEnd: (end) => ends.push(end),
      addSecret: (text) => secrets.push(text),
      debug: (text) => notes.push(text),
    },
    secrets,
    notes,
    stopsWaiting: () => stops.size,
    stop(reason = "interrupted") {
      stopped = new StepError(reason);
      for (const stop of [...stops]) stop(stopped);
    },
    async end() {
      for (const end of ends) await end();
    },
  };
}

/** Gives a test a run, and ends the run after it. */
export async function inTestRun<T>(test: (run: TestRun) => Promise<T>): Promise<T> {
  const run = testRun();
  try {
    return await test(run);
  } finally {
    await run.end();
  }
}
