import { onAbort } from "../../action/on_abort.ts";
import type { MessagePort } from "node:worker_threads";
import * as api from "../../action/api.ts";
import type { Action, ActionContext, Dict, RunAction } from "../../action/action.ts";
import { Resources } from "../../action/resource_scope.ts";
import { StepError } from "../../base/errors.ts";
import { describeValue, dictOf, isDict, type Value } from "../../base/value/value.ts";
import { Deadlines } from "../../host/deadlines.ts";
import { denoHost } from "../../host/deno_host.ts";
import { Masker } from "../../secrets/masker.ts";
import type { PluginFile } from "./plugin.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";

/** The module that exports `servePlugin` to the worker: in a bundle, the whole program. */
export const WORKER_MODULE = import.meta.url;

/** What a step needs besides its parameters. */
export interface StepData extends Pick<ActionContext, "label" | "vars" | "permissions" | "tls"> {
  readonly timeout: number;
  readonly scopes: Readonly<Record<"run" | "job" | "step", string>>;
  readonly secrets: readonly string[];
}

/** Carries out the action of a module in its worker, when the program asks for it. */
export function servePlugin(port: MessagePort, file: PluginFile, url: string): void {
  const steps = new Steps();
  const loading = Promise.withResolvers<Action>();
  let loaded: Promise<RunAction> | undefined;
  // JSON leaves functions out: this one has to be known of.
  const mark = (key: string, part: unknown) =>
    key === "hide" && typeof part === "function" ? true : part;
  const calls = new PluginCalls(port, {
    load: async () => JSON.parse(JSON.stringify(await loading.promise, mark)),
    async run(id: number, params: Dict, data: StepData) {
      const action = await loading.promise;
      const result = await steps.run(await (loaded ??= action.load()), id, params, data, calls)
        .finally(flush);
      return { ...result, expectsResult: action.expectsResult?.(params) };
    },
    abort: (id: number, reason: StepError) => steps.abort(id, reason),
    close: (name: string) => steps.close(name),
  });
  const flush = captureOutput((text) => calls.tell("print", text));
  const { exit } = Deno;
  Deno.exit = (code = 0) => {
    calls.tell("exit", code); // The worker goes on for a moment, in which a step could pass.
    return exit(code);
  };
  for (const type of ["error", "unhandledrejection"]) {
    // It would end the worker, and other steps with it, and Deno would print it without a mask.
    addEventListener(type, (event) => {
      event.preventDefault();
      const { error, reason } = event as Partial<ErrorEvent & PromiseRejectionEvent>;
      calls.tell("fail", remoteError(error ?? reason));
    });
  }
  loadAction(file, url).then(loading.resolve, loading.reject);
}

/** The action that a module makes. Throws `StepError` about what is not one. */
async function loadAction({ name, shown }: PluginFile, url: string): Promise<Action> {
  const fail = (message: string) => {
    const hint =
      "write export default ({ action, text }) => action({ name, summary, params, run })";
    return new StepError(`the plugin "${shown}" ${message}`, hint);
  };
  const define = (spec: Parameters<typeof api.action>[0]) => {
    const { summary, params = {}, run } = spec;
    if (typeof summary !== "string") throw fail('must say in one line what it does, as "summary"');
    const wrong = Object.keys(params).find((name) => !(params[name] instanceof api.Rule));
    if (wrong !== undefined) {
      throw fail(`must give its parameter "${wrong}" a rule, like text("…")`);
    }
    if (typeof run !== "function") throw fail('must have a function as "run"');
    return api.action({
      ...{ ...spec, params },
      async run(...args) {
        const answer = await run(...args);
        if (isDict(answer)) return { req: args[3], ...answer };
        const message = `must answer with a mapping, not ${describeValue(answer)}`;
        throw new StepError(`the plugin "${name}" ${message}`, "run() returns { res: { … } }");
      },
    });
  };
  const { default: exported } = await import(url);
  if (typeof exported !== "function") throw fail("exports no function by default");
  const made: unknown = await exported({ ...api, action: define });
  if (!isDict(made) || typeof made.problems !== "function") throw fail("makes no action");
  if (made.name === name) return made as unknown as Action;
  throw fail(`must make an action with the name "${name}", not ${describeValue(made.name)}`);
}

/**
 * Prints what the module prints, in whole lines, by the program, which masks secrets: standard
 * output is for reports. The result prints the beginning of a line.
 */
function captureOutput(print: (text: string) => void): () => void {
  const flushes = (["stdout", "stderr"] as const).map((name) => {
    const decoder = new TextDecoder();
    let line = "";
    const writeSync = (bytes: Uint8Array) => {
      const lines = (line + decoder.decode(bytes, { stream: true })).split("\n");
      line = lines.pop()!;
      if (lines.length > 0) print(lines.join("\n"));
      return bytes.length;
    };
    Object.defineProperties(Deno[name], {
      writeSync: { value: writeSync },
      write: { value: (bytes: Uint8Array) => Promise.resolve(writeSync(bytes)) },
      writable: { value: new WritableStream({ write: (bytes) => void writeSync(bytes) }) },
    });
    return () => {
      if (line !== "") print(line);
      line = "";
    };
  });
  const { Console } = process.getBuiltinModule("node:console");
  globalThis.console = new Console(process.stdout, process.stderr); // They write to those of Deno.
  return () => flushes.forEach((flush) => flush());
}

/** What steps get from the run, in the worker. */
class Steps {
  readonly #host = denoHost();
  readonly #deadlines = new Deadlines(this.#host.clock);
  readonly #masker = new Masker();
  readonly #aborts = new Map<number, AbortController>();
  readonly #scopes = new Map<string, Resources>();

  async run(action: RunAction, id: number, params: Dict, data: StepData, calls: PluginCalls) {
    for (const secret of data.secrets) this.#masker.add(secret);
    const abort = new AbortController();
    this.#aborts.set(id, abort);
    try {
      return await action(params, this.#context(id, data, abort.signal, calls));
    } finally {
      this.#aborts.delete(id);
    }
  }

  abort(id: number, { message, hint, details }: StepError): void {
    this.#aborts.get(id)?.abort(new StepError(message, hint, details));
  }

  /** Closes a scope. Throws `StepError` about what cannot be closed. */
  async close(name: string): Promise<void> {
    const problems: string[] = [];
    await this.#scopes.get(name)?.close(this.#deadlines, (text) => void problems.push(text));
    this.#scopes.delete(name);
    if (problems.length > 0) throw new StepError(problems.join("; "));
  }

  #scope(name: string): Resources {
    let scope = this.#scopes.get(name);
    if (!scope) this.#scopes.set(name, scope = new Resources());
    return scope;
  }

  #context(id: number, data: StepData, signal: AbortSignal, calls: PluginCalls): ActionContext {
    const { label, vars, permissions, tls, timeout, scopes } = data;
    const tell = (method: string) => (text?: unknown) => calls.tell(method, id, String(text));
    const unavailable = () => Promise.reject(new Error("a plugin cannot do that"));
    return {
      ...{ label, vars, permissions, tls, signal, host: this.#host },
      onStop: (stop) => onAbort(signal, stop),
      deadline: {
        timeout,
        pauseTimeout: tell("pauseTimeout"),
        resumeTimeout: tell("resumeTimeout"),
        after: (milliseconds, callback) => this.#deadlines.add(milliseconds, callback),
      },
      scope: {
        run: this.#scope(scopes.run),
        job: this.#scope(scopes.job),
        step: this.#scope(scopes.step),
      },
      secrets: {
        add: (text, shortest = 0) => {
          if (text.length < shortest) return;
          this.#masker.add(text);
          calls.tell("addSecret", id, text);
        },
        find: (text) => this.#masker.find(text),
        mask: (text, from, to) => this.#masker.mask(text, from, to),
      },
      resolvePath: async (path) => String(await calls.ask("resolvePath", id, path)),
      readCondition: unavailable,
      runJobFile: unavailable,
      log: tell("log"),
      warn: tell("warn"),
    };
  }
}

/** What carries messages between the program and the worker of a plugin. */
interface Port {
  postMessage(message: Message): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

/** A call, or the answer to one. */
interface Message {
  /** An answer has that of its call; a call with 0 has no answer. */
  readonly id: number;
  /** Absent in answers. */
  readonly method?: string;
  /** The arguments, the result or a `RemoteError`; as text, since views of outputs cannot be cloned. */
  readonly json: string;
  readonly isError?: boolean;
}

/** An error that was thrown on the other side; only a `StepError` has a hint and details. */
export interface RemoteError extends Pick<Error, "message"> {
  readonly isStepError?: boolean;
  readonly stack?: string;
  readonly hint?: string;
  readonly details?: StepError["details"];
}

/** What the other side may call. Nothing is certain about the arguments. */
type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Calls in both directions between the program and the worker of a plugin. */
export class PluginCalls {
  readonly #port: Port;
  readonly #waiting = new Map<number, PromiseWithResolvers<Value>>();
  #ids = 0;

  /** `onRubbish` is called when what arrives is not a message. */
  constructor(port: Port, methods: Methods, onRubbish = () => {}) {
    this.#port = port;
    port.on("message", (data) => {
      const message = readMessage(data);
      const value = message && tryParseJson(message.json);
      if (!message || value === undefined) return onRubbish();
      const { id, method, isError } = message;
      const waiting = this.#waiting.get(id);
      if (method === undefined) {
        if (!isError) waiting?.resolve(value);
        else waiting?.reject(readError(value));
      } else if (Object.hasOwn(methods, method) && Array.isArray(value)) {
        this.#carryOut(id, methods[method]!, value).catch(onRubbish);
      } else {
        onRubbish();
      }
    });
  }

  /** Whether every call was answered. */
  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Calls a method. Rejects with a `RemoteError`. */
  ask(method: string, ...args: readonly unknown[]): Promise<Value> {
    const waiting = Promise.withResolvers<Value>();
    const id = ++this.#ids;
    this.#waiting.set(id, waiting);
    this.#port.postMessage({ id, method, json: JSON.stringify(args) });
    return waiting.promise.finally(() => this.#waiting.delete(id));
  }

  /** Calls a method without waiting for its end. */
  tell(method: string, ...args: readonly unknown[]): void {
    this.#port.postMessage({ id: 0, method, json: JSON.stringify(args) });
  }

  /** Ends all calls that were not answered. */
  rejectAll(error: RemoteError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
  }

  async #carryOut(id: number, method: Methods[string], args: readonly Value[]): Promise<void> {
    let answer: Message;
    try {
      answer = { id, json: toJson(await method(...args as never[])) };
    } catch (error) {
      answer = { id, json: JSON.stringify(remoteError(error)), isError: true };
    }
    if (id !== 0) this.#port.postMessage(answer);
  }
}

/** Functions are left out, as in all JSON. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    throw new Error("it answered with something that is not plain data");
  }
}

/** An error as it travels. A module can throw anything, also what has no text. */
function remoteError(error: unknown): RemoteError {
  try {
    return JSON.parse(JSON.stringify(describeError(error)));
  } catch {
    return { message: "it threw what cannot be described" };
  }
}

function describeError(error: unknown): RemoteError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, hint, details } = error as StepError;
  if (name === "StepError") return { isStepError: true, message, hint, details };
  return { message: message || name, stack };
}

/** Reads an error that a module sent: only the parts of the right type. */
export function readError(value: Value): RemoteError {
  if (!isDict(value)) return { message: describeValue(value) };
  const textOf = (part: Value | undefined) => typeof part === "string" ? part : undefined;
  const details = dictOf(value.details);
  const dict = (key: "req" | "res") => isDict(details[key]) ? { [key]: details[key] } : {};
  return {
    isStepError: value.isStepError === true,
    message: textOf(value.message) ?? "it does not say why",
    stack: textOf(value.stack),
    hint: textOf(value.hint),
    details: {
      parameter: textOf(details.parameter),
      cause: textOf(details.cause),
      ...details.isClosed === true && { isClosed: true },
      ...details.timedOut === true && { timedOut: true },
      ...dict("req"),
      ...dict("res"),
    },
  };
}

/** A message; undefined for other data: a module can send anything. */
function readMessage(data: unknown): Message | undefined {
  return isDict(data) && typeof data.json === "string" ? data as unknown as Message : undefined;
}
