import type { MessagePort } from "node:worker_threads";

/** A message to the worker that a module plugin runs in. */
export interface WorkerRequest {
  readonly method: "load" | "run" | "abort" | "close" | "call";
  /** The answer has the same; an `abort` has that of the run that it ends. */
  readonly id: number;
  /** What the method needs. As text, because a view of outputs cannot be cloned. */
  readonly json: string;
  /** Where the answer to a `call` goes, which is waited for without doing anything else. */
  readonly answer?: { readonly port: MessagePort; readonly woken: Int32Array };
}

/** The types of messages of the worker. */
export const MESSAGE_TYPES = [
  ...["value", "thrown"] as const, // The answer to a request.
  "late", // An error that nothing waits for.
  "exit", // It ends itself; what it says after that does not count.
  ...["log", "warn", "secret", "print"] as const,
];

/** A message of the worker. */
export interface WorkerMessage {
  readonly type: typeof MESSAGE_TYPES[number];
  /** The request that it belongs to, or 0. */
  readonly id: number;
  /** A text, a value as JSON, the message of an error, or an exit code. */
  readonly text: string;
  /** What a run did: `cannot be loaded`. */
  readonly failing?: string;
  /** The rest of an error; a `hint` is that of a `StepError`. */
  readonly name?: string;
  readonly stack?: string;
  readonly hint?: string;
}

/** What a run needs besides its parameters. */
export interface RunData {
  readonly params: unknown;
  readonly attempt: object;
  readonly timeout: number;
  readonly scopes: Readonly<Record<"run" | "job" | "step", string>>;
}

/**
 * The program of the worker. It is handed over as text, so it uses nothing of this module.
 * `functionMark` represents a function where the record of the action travels as JSON.
 */
export function workerMain(
  port: {
    postMessage(message: WorkerMessage): void;
    on(event: "message", hear: (request: WorkerRequest) => void): void;
  },
  functionMark: string,
  require: (module: string) => Record<string, unknown>,
  parse: <T>(json: string) => T,
): void {
  type Function = (...args: unknown[]) => unknown;
  interface Scope {
    readonly known: Map<string, unknown>;
    readonly closers: { readonly key: string; readonly close: () => unknown }[];
  }
  const scopes = new Map<string, Scope>();
  const runs = new Map<number, { readonly abort: AbortController; failing: string }>();
  let action: Record<string, Function> = {};
  let loaded: Promise<unknown> | undefined;

  /** Functions are omitted, as in any JSON. */
  const value = (id: number, value: unknown): WorkerMessage => ({
    type: "value",
    id,
    text: JSON.stringify(value) ?? "null",
  });
  const thrown = (type: "thrown" | "late", id: number, error: unknown): WorkerMessage => {
    const failing = runs.get(id)?.failing;
    if (!(error instanceof Error)) return { type, id, text: String(error), failing };
    const { name, message, stack, hint } = error as Error & { hint?: unknown };
    return {
      ...{ type, id, text: message, failing, name, stack },
      hint: typeof hint === "string" ? hint : undefined,
    };
  };
  /** An error whose message is shown as it is. */
  const stepError = (message: string) => Object.assign(new Error(message), { name: "StepError" });

  const load = async (url: string) => {
    const exported = await import(url);
    const key = ["action", "default"].find((key) => Object.hasOwn(exported, key));
    if (key === undefined) return {};
    action = exported[key] ?? {};
    const mark = (_: string, part: unknown) => typeof part === "function" ? functionMark : part;
    return { key, record: JSON.parse(JSON.stringify(exported[key], mark) ?? "null") };
  };

  const scopeOf = (id: string) => ({
    resource(key: string, open: () => unknown, close?: (resource: unknown) => unknown) {
      let scope = scopes.get(id);
      if (!scope) scopes.set(id, scope = { known: new Map(), closers: [] });
      const { known, closers } = scope;
      if (known.has(key)) return known.get(key);
      const opened = open();
      known.set(key, opened);
      const keep = (resource: unknown) => {
        if (close) closers.push({ key, close: () => close(resource) });
      };
      if (opened instanceof Promise) opened.then(keep, () => known.delete(key));
      else keep(opened);
      return opened;
    },
  });

  const run = async ({ params, attempt, timeout, scopes }: RunData, id: number) => {
    const current = { abort: new AbortController(), failing: "cannot be loaded" };
    runs.set(id, current);
    const say = (type: "log" | "warn" | "secret") => (text: unknown) =>
      port.postMessage({ type, id, text: String(text) });
    const context = {
      ...attempt,
      signal: current.abort.signal,
      deadline: { timeout },
      scope: {
        run: scopeOf(scopes.run),
        job: scopeOf(scopes.job),
        step: scopeOf(scopes.step),
      },
      secrets: { add: say("secret") },
      log: say("log"),
      warn: say("warn"),
    };
    loaded ??= Promise.resolve(action.load!());
    const act = await loaded.catch((error) => (loaded = undefined, Promise.reject(error)));
    if (typeof act !== "function") {
      throw stepError(
        `the plugin "${action.name}" must load a function that carries its action out`,
      );
    }
    current.failing = "failed";
    const result = await act(params, context);
    current.failing = "answered with something that is not plain data";
    return result;
  };

  const closeScope = async (name: string) => {
    const problems: string[] = [];
    const closers = scopes.get(name)?.closers ?? [];
    scopes.delete(name);
    for (const { key, close } of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        problems.push(`cannot close "${key}": ${error instanceof Error ? error.message : error}`);
      }
    }
    if (problems.length > 0) throw stepError(problems.join("; "));
  };

  const call = (
    { name, args }: { readonly name: string; readonly args: readonly unknown[] },
    { port, woken }: NonNullable<WorkerRequest["answer"]>,
  ) => {
    try {
      port.postMessage(value(0, action[name]!(...args)));
    } catch (error) {
      port.postMessage(thrown("thrown", 0, error));
    }
    Atomics.store(woken, 0, 1);
    Atomics.notify(woken, 0);
  };

  // Standard output is for reports alone: what the plugin prints goes, in whole lines, to the
  // program, which masks secrets.
  const [flushStdout, flushStderr] = (["stdout", "stderr"] as const).map((name) => {
    const decoder = new TextDecoder();
    let line = "";
    const send = (end: number) => {
      if (end >= 0) port.postMessage({ type: "print", id: 0, text: line.slice(0, end) });
      line = line.slice(end + 1);
    };
    const writeSync = (bytes: Uint8Array) => {
      line += decoder.decode(bytes, { stream: true });
      send(line.lastIndexOf("\n"));
      return bytes.length;
    };
    Object.defineProperties(Deno[name], {
      writeSync: { value: writeSync },
      write: { value: (bytes: Uint8Array) => Promise.resolve(writeSync(bytes)) },
      writable: { value: new WritableStream({ write: (bytes) => void writeSync(bytes) }) },
    });
    return () => send(line === "" ? -1 : line.length);
  });
  const flush = () => {
    flushStdout!();
    flushStderr!();
  };
  const { stdout, stderr } = require("node:process"); // They write to those of Deno.
  const { Console } = require("node:console") as unknown as {
    Console: new (stdout: unknown, stderr: unknown) => Console;
  };
  globalThis.console = new Console(stdout, stderr);

  // A worker goes on for a moment after its exit.
  const { exit } = Deno;
  Object.assign(Deno, {
    exit(code = 0) {
      port.postMessage({ type: "exit", id: 0, text: String(code) });
      exit(code);
    },
  });
  // Nothing that it throws later may end more than the step that it belongs to.
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    port.postMessage(thrown("late", 0, event.reason));
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    port.postMessage(thrown("late", 0, event.error));
  });
  const methods: Record<string, (data: never, id: number) => Promise<unknown>> = {
    load,
    run,
    close: closeScope,
  };
  port.on("message", async ({ method, id, json, answer }) => {
    const data = parse<never>(json);
    if (method === "abort") return runs.get(id)?.abort.abort(new Error(data));
    if (method === "call") return call(data, answer!);
    let message: WorkerMessage;
    try {
      message = value(id, await methods[method]!(data, id));
    } catch (error) {
      message = thrown("thrown", id, error);
    }
    flush();
    port.postMessage(message);
    runs.delete(id);
  });
}
