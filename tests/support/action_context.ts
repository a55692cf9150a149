import type { ActionContext, Condition, Dict } from "../../src/action/action.ts";
import { onAbort } from "../../src/action/on_abort.ts";
import { Resources } from "../../src/action/resource_scope.ts";
import { Deadlines } from "../../src/host/deadlines.ts";
import { denoHost } from "../../src/host/deno_host.ts";
import type { StepError } from "../../src/base/errors.ts";

/** A context for one action on the real machine, which records the action's calls. */
export interface TestContext extends ActionContext, AsyncDisposable {
  /** The secrets that the action has reported, in order. */
  readonly learned: readonly string[];
  readonly notes: readonly string[];
  /** Ends the attempt from outside, as a step's timeout or Ctrl-C does. */
  stop(reason: StepError): void;
  /** The number of times that the action paused and resumed its timeout. */
  readonly turns: { paused: number; resumed: number };
  /** The number of abort listeners: 0 once an action is over. */
  readonly stops: number;
}

/** A condition without what a run knows of it. */
export const UNEXPLAINED: Pick<Condition, "countTrue" | "untrue"> = {
  countTrue: () => 0,
  untrue: (_names, error) => error,
};

/** Makes a context; leaving its scope ends the run: `await using context = actionContext()`. */
export function actionContext(): TestContext {
  const host = denoHost();
  const deadlines = new Deadlines(host.clock);
  const learned: string[] = [];
  const notes: string[] = [];
  const turns = { paused: 0, resumed: 0 };
  const abort = new AbortController();
  const listeners = countListeners(abort.signal);
  const scope = { run: new Resources(), job: new Resources(), step: new Resources() };
  return {
    host,
    signal: abort.signal,
    onStop: (stop) => onAbort(abort.signal, stop),
    deadline: {
      timeout: 300_000,
      pauseTimeout: () => void turns.paused++,
      resumeTimeout: () => void turns.resumed++,
      after: (milliseconds, act) => deadlines.add(milliseconds, act),
    },
    scope,
    secrets: {
      add: (text) => void learned.push(text),
      find: (text) =>
        learned.flatMap((secret) =>
          text.includes(secret) ? [{ start: 0, end: secret.length }] : []
        ),
      mask: (text, from, to) => text.slice(from, to),
    },
    label: "test",
    vars: {},
    turns,
    resolvePath: (path) => Promise.resolve(path),
    async readCondition(_parameter, source) {
      const { evaluateExpression } = await import(
        "../../src/expr/evaluate_expression.ts"
      );
      const isTrue = (names: Dict) => evaluateExpression(source, names) === true;
      return Object.assign(isTrue, UNEXPLAINED);
    },
    runJobFile: () => Promise.reject(new Error("there is no job file")),
    log: (text) => void notes.push(text),
    warn: (text) => void notes.push(`warning: ${text}`),
    learned,
    notes,
    stop: (reason) => abort.abort(reason),
    get stops() {
      return listeners.size;
    },
    async [Symbol.asyncDispose]() {
      for (const each of [scope.step, scope.job, scope.run]) {
        await each.close(deadlines, (text) => void notes.push(`warning: ${text}`));
      }
      deadlines.cancelAll();
    },
  };
}

/** Counts the listeners of a signal. */
function countListeners(signal: AbortSignal): ReadonlySet<unknown> {
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = function (...args: Parameters<typeof addEventListener>) {
    listeners.add(args[1]);
    addEventListener.apply(signal, args);
  } as typeof addEventListener;
  signal.removeEventListener = function (...args: Parameters<typeof removeEventListener>) {
    listeners.delete(args[1]);
    removeEventListener.apply(signal, args);
  } as typeof removeEventListener;
  return listeners;
}
