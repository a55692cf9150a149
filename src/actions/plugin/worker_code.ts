/** A message of the program to the worker that a module plugin runs in. */
export type PluginRequest =
  | { readonly type: "load"; readonly url: string }
  | {
    readonly type: "run";
    readonly id: number;
    /** The `params` and what is plain data of the context, `attempt`, as JSON. */
    readonly data: string;
    readonly timeout: number;
    readonly scopes: Readonly<Record<"run" | "job" | "step", string>>;
  }
  | { readonly type: "abort"; readonly id: number; readonly reason: string }
  | { readonly type: "close"; readonly scope: string }
  | {
    readonly type: "call";
    readonly name: string;
    readonly args: readonly unknown[];
    readonly shared: SharedArrayBuffer;
  };

/** A message of the worker: an answer, or output of the plugin. */
export type PluginReply =
  | { readonly type: "loaded"; readonly key?: "action" | "default"; readonly json?: string }
  | { readonly type: "result"; readonly id: number; readonly json: string }
  | {
    readonly type: "thrown";
    readonly id?: number;
    readonly stage: "load" | "run" | "late" | "data";
    readonly error: ThrownError;
  }
  | { readonly type: "log" | "warn" | "secret"; readonly id: number; readonly text: string }
  | { readonly type: "print"; readonly text: string }
  | { readonly type: "exit"; readonly code: number }
  | { readonly type: "closed"; readonly scope: string; readonly problems: readonly string[] };

/** An error as it travels: a `hint` is that of a `StepError`. */
export interface ThrownError {
  readonly isError: boolean;
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly hint?: string;
}

/** The meanings of the first number of a shared buffer, which is followed by the answer. */
export const ANSWER = { pending: 0, value: 1, thrown: 2, tooLong: 3 };

/**
 * The program of the worker. It is handed over as text, so it uses nothing of this module.
 */
export function workerMain(
  port: {
    postMessage(reply: PluginReply): void;
    on(event: "message", hear: (request: PluginRequest) => void): void;
  },
  functionMark: string,
  require: (module: string) => Record<string, unknown>,
  parse: (json: string) => unknown,
): void {
  type Function = (...args: unknown[]) => unknown;
  type Closer = { key: string; close: () => unknown };
  interface Scope {
    readonly known: Map<string, unknown>;
    readonly closers: Closer[];
  }
  const scopes = new Map<string, Scope>();
  const aborts = new Map<number, AbortController>();
  let action: Record<string, Function> = {};
  let loaded: Promise<unknown> | undefined;

  const describe = (error: unknown): ThrownError => {
    if (!(error instanceof Error)) return { isError: false, name: "", message: String(error) };
    const { name, message, stack, hint } = error as Error & { hint?: unknown };
    return {
      isError: true,
      name,
      message,
      ...stack === undefined ? {} : { stack },
      ...typeof hint === "string" ? { hint } : {},
    };
  };
  const toJson = (value: unknown) =>
    JSON.stringify(value, (_, part) => typeof part === "function" ? functionMark : part) ?? "null";

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

  const closeScope = async (id: string) => {
    const problems: string[] = [];
    const closers = scopes.get(id)?.closers ?? [];
    scopes.delete(id);
    for (const { key, close } of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        problems.push(`cannot close "${key}": ${describe(error).message}`);
      }
    }
    port.postMessage({ type: "closed", scope: id, problems });
  };

  const load = async (url: string) => {
    try {
      const exported = await import(url);
      const key = (["action", "default"] as const).find((key) => Object.hasOwn(exported, key));
      if (key === undefined) return port.postMessage({ type: "loaded" });
      action = exported[key] ?? {};
      port.postMessage({ type: "loaded", key, json: toJson(exported[key]) });
    } catch (error) {
      port.postMessage({ type: "thrown", stage: "load", error: describe(error) });
    }
  };

  const run = async ({ id, data, timeout, scopes }: PluginRequest & { type: "run" }) => {
    const { params, attempt } = parse(data) as { params: unknown; attempt: object };
    const abort = new AbortController();
    aborts.set(id, abort);
    let stage: "load" | "run" | "data" = "load";
    const say = (type: "log" | "warn" | "secret") => (text: unknown) =>
      port.postMessage({ type, id, text: String(text) });
    const context = {
      ...attempt,
      signal: abort.signal,
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
    try {
      const act = await (loaded ??= Promise.resolve(action.load!()));
      if (typeof act !== "function") throw functionMark;
      stage = "run";
      const result = await act(params, context);
      stage = "data";
      flush();
      // Functions are omitted, as in any JSON.
      port.postMessage({ type: "result", id, json: JSON.stringify(result) ?? "null" });
    } catch (error) {
      flush();
      if (stage === "load") loaded = undefined;
      port.postMessage({ type: "thrown", id, stage, error: describe(error) });
    } finally {
      aborts.delete(id);
    }
  };

  const call = (name: string, args: readonly unknown[], shared: SharedArrayBuffer) => {
    const head = new Int32Array(shared, 0, 2);
    let state = 1;
    let text: string;
    try {
      text = JSON.stringify(action[name]!(...args)) ?? "null";
    } catch (error) {
      state = 2;
      text = JSON.stringify(describe(error));
    }
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > shared.byteLength - 8) state = 3;
    else new Uint8Array(shared, 8).set(bytes);
    Atomics.store(head, 1, bytes.length);
    Atomics.store(head, 0, state);
    Atomics.notify(head, 0);
  };

  /** Sends what the plugin prints, in whole lines, to the program, which masks secrets. */
  const redirect = (names: "stdout" | "stderr") => {
    const decoder = new TextDecoder();
    let line = "";
    const send = (end: number) => {
      if (end >= 0) port.postMessage({ type: "print", text: line.slice(0, end) });
      line = line.slice(end + 1);
    };
    const print = (chunk: unknown) => {
      line += typeof chunk === "string"
        ? chunk
        : decoder.decode(chunk as Uint8Array, { stream: true });
      send(line.lastIndexOf("\n"));
    };
    const writeSync = (bytes: Uint8Array) => {
      print(bytes);
      return bytes.length;
    };
    const write = (bytes: Uint8Array) => Promise.resolve(writeSync(bytes));
    const writable = new WritableStream({ write: print });
    Object.defineProperties(Deno[names], {
      write: { value: write },
      writeSync: { value: writeSync },
      writable: { value: writable },
    });
    const { [names]: stream } = require("node:process") as Record<string, { write: Function }>;
    stream!.write = (chunk, ...more) => {
      print(chunk);
      const done = more.find((arg) => typeof arg === "function") as Function | undefined;
      done?.();
      return true;
    };
    return { stream: stream!, flush: () => send(line === "" ? -1 : line.length) };
  };
  const [stdout, stderr] = [redirect("stdout"), redirect("stderr")];
  const flush = () => {
    stdout.flush();
    stderr.flush();
  };
  const { Console } = require("node:console") as unknown as {
    Console: new (stdout: object, stderr: object) => Console;
  };
  globalThis.console = new Console(stdout.stream, stderr.stream);

  const { exit } = Deno;
  Object.assign(Deno, {
    exit(code = 0) {
      port.postMessage({ type: "exit", code });
      exit(code);
    },
  });
  // Nothing that it throws later may end more than the step that it belongs to.
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    port.postMessage({ type: "thrown", stage: "late", error: describe(event.reason) });
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    port.postMessage({ type: "thrown", stage: "late", error: describe(event.error) });
  });
  port.on("message", (request) => {
    switch (request.type) {
      case "load":
        return void load(request.url);
      case "run":
        return void run(request);
      case "abort":
        return aborts.get(request.id)?.abort(new Error(request.reason));
      case "close":
        return void closeScope(request.scope);
      case "call":
        return call(request.name, request.args, request.shared);
    }
  });
}
