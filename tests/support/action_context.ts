import type { ActionContext } from "../../src/action/action.ts";
import { Deadlines } from "../../src/host/deadlines.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import type { StepError } from "../../src/source/errors.ts";

/** A context for one action on the real machine, which keeps what the action says to it. */
export interface TestContext extends ActionContext, AsyncDisposable {
  readonly secrets: readonly string[];
  readonly notes: readonly string[];
  /** Ends the attempt from outside, as a step's timeout or Ctrl-C does. */
  stop(reason: StepError): void;
  /** How often the action said that it queues and that it begins. */
  readonly turns: { queued: number; begun: number };
  /** How many stops are waiting: none once an action is over. */
  readonly stops: number;
}

/** Makes a context; leaving its scope ends the run: `await using context = actionContext()`. */
export function actionContext(): TestContext {
  const host = denoHost();
  const secrets: string[] = [];
  const notes: string[] = [];
  const turns = { queued: 0, begun: 0 };
  const stops = new Set<(reason: StepError) => void>();
  const ends: (() => void | Promise<void>)[] = [];
  return {
    host,
    deadlines: new Deadlines(host.clock),
    run: {},
    label: "test",
    vars: {},
    timeout: 300_000,
    queue: () => void turns.queued++,
    begin: () => void turns.begun++,
    turns,
    onStop(stop) {
      stops.add(stop);
      return () => stops.delete(stop);
    },
    onRunEnd: (end) => void ends.push(end),
    runJobFile: () => Promise.reject(new Error("there is no job file")),
    addSecret: (text) => void secrets.push(text),
    debug: (text) => void notes.push(text),
    warn: (text) => void notes.push(`warning: ${text}`),
    secrets,
    notes,
    stop(reason) {
      for (const stop of [...stops]) stop(reason);
    },
    get stops() {
      return stops.size;
    },
    async [Symbol.asyncDispose]() {
      for (const end of ends.reverse()) await end();
    },
  };
}
