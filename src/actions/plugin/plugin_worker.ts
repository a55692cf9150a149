import type { Worker } from "node:worker_threads";
import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import { StepError } from "../../base/errors.ts";
import { isDict, writeIntegers } from "../../base/value/value.ts";
import { parseExactly, parseJson, tryParseJson } from "../../base/value/parse_json.ts";
import type { ActionContext, Dict, Value } from "../../action/action.ts";
import { onAbort } from "../../action/on_abort.ts";
import type { PluginFile } from "./plugin.ts";
import {
  MESSAGE_TYPES,
  type RunData,
  workerMain,
  type WorkerMessage,
  type WorkerRequest,
} from "./worker_code.ts";

/** The built-in module, which only workflows with plugins load. */
export type Threads = typeof import("node:worker_threads");

/** The time that an action has to clean up once it must stop. */
const GRACE = 1000;

/** The maximum time of `check` and `merge`. */
const CALL_TIMEOUT = 5000;

/** Represents a function where a record travels as JSON. */
export const FUNCTION = "\u0000function";

/** A request that the worker has not answered yet. */
interface Pending {
  readonly method: WorkerRequest["method"];
  /** That of a run. */
  readonly context?: ActionContext;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: StepError) => void;
}

/**
 * A module plugin in a worker of its own, so that nothing it does ends the program: it may call
 * `Deno.exit`, never return or throw when nobody listens any more.
 */
export class PluginWorker {
  /** The exports of the module. Rejects with the reason if it cannot be loaded. */
  readonly exported: Promise<Value>;
  /** Whether it can no longer be used. */
  hasEnded = false;
  readonly #file: PluginFile;
  readonly #threads: Threads;
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  /** The last attempt. */
  #last: ActionContext | undefined;
  /** Texts that it printed before its first step. */
  readonly #printed: string[] = [];
  #ids = 0;

  constructor(file: PluginFile, threads: Threads) {
    this.#file = file;
    this.#threads = threads;
    const mark = JSON.stringify(FUNCTION);
    const code = `(${writeIntegers})();
      const port = require("node:worker_threads").parentPort;
      (${workerMain})(port, ${mark}, require, ${parseExactly})`;
    this.#worker = new threads.Worker(code, { eval: true });
    this.#worker.on("message", (data: unknown) => this.#hear(data));
    this.#worker.on("error", (error: Error) => this.#fail(this.#explain(error)));
    this.#worker.on("exit", (code: number) => this.#exited(code));
    this.exported = this.#request(++this.#ids, "load", toFileUrl(file.path).href);
    this.exported.catch(() => {});
  }

  /** Calls a function of the record, and waits without doing anything else. */
  call(name: string, args: readonly unknown[]): unknown {
    const { port1, port2 } = new this.#threads.MessageChannel();
    const woken = new Int32Array(new SharedArrayBuffer(4));
    const json = JSON.stringify({ name, args });
    const request = { method: "call", id: 0, json, answer: { port: port2, woken } } as const;
    if (!this.hasEnded) this.#worker.postMessage(request satisfies WorkerRequest, [port2]);
    Atomics.wait(woken, 0, 0, this.hasEnded ? 0 : CALL_TIMEOUT);
    const message = readMessage(this.#threads.receiveMessageOnPort(port1)?.message);
    port1.close();
    if (!message) throw new Error(`${name}() does not answer`);
    if (message.type === "thrown") throw new Error(this.#explain(message));
    return parseJson(message.text);
  }

  /** Carries the action out; once there is a reason to stop, throws that reason in time. */
  async run(params: Dict, context: ActionContext): Promise<unknown> {
    this.#last = context;
    for (const text of this.#printed.splice(0)) context.log(text);
    const { signal, label, vars, permissions, deadline } = context;
    if (signal.aborted) throw signal.reason;
    const attempt = { label, vars, permissions };
    const scopes = this.#scopesOf(context);
    const data: RunData = { params, attempt, timeout: deadline.timeout, scopes };
    const id = ++this.#ids;
    let grace: { cancel(): void } | undefined;
    const forget = onAbort(signal, (reason) => {
      this.#post("abort", id, reason.message);
      grace = deadline.after(GRACE, () => this.#pending.get(id)?.reject(reason));
    });
    try {
      return await this.#request(id, "run", data, context);
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      forget();
      grace?.cancel();
    }
  }

  /** Ends the worker, whatever it is doing. */
  async end(): Promise<void> {
    this.hasEnded = true;
    await this.#worker.terminate();
  }

  #exited(code: number | string): void {
    if (this.hasEnded) return;
    void this.end(); // A message may say so where nothing has ended.
    this.#fail(`it ended itself with exit code ${code}`);
  }

  #post(method: WorkerRequest["method"], id: number, data: unknown): void {
    this.#worker.postMessage({ method, id, json: JSON.stringify(data) } satisfies WorkerRequest);
  }

  /** Only while it has something to do it keeps the program running. */
  async #request(
    id: number,
    method: WorkerRequest["method"],
    data: unknown,
    context?: ActionContext,
  ): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    this.#pending.set(id, { method, context, resolve, reject });
    this.#worker.ref();
    this.#post(method, id, data);
    return await promise.finally(() => {
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#worker.unref();
    });
  }

  /** The worker keeps its own resources, by the names of scopes that end here. */
  #scopesOf({ scope }: ActionContext): RunData["scopes"] {
    const nameOf = (kind: "run" | "job" | "step") =>
      scope[kind].resource(
        `plugin resources ${this.#file.path}`,
        () => crypto.randomUUID() as string,
        (name) => this.#closeScope(name),
      );
    return { run: nameOf("run"), job: nameOf("job"), step: nameOf("step") };
  }

  async #closeScope(name: string): Promise<void> {
    if (this.hasEnded) return;
    const id = ++this.#ids;
    const grace = this.#last?.deadline.after(GRACE, async () => {
      await this.end(); // One that does not answer is busy for ever.
      this.#pending.get(id)?.resolve(null);
    });
    await this.#request(id, "close", name).finally(() => grace?.cancel());
  }

  /** A module can send messages of its own, so that nothing is certain about one. */
  #hear(data: unknown): void {
    const message = readMessage(data);
    if (!message) return this.#fail("it sent a message that cannot be read");
    const { type, id, text } = message;
    const pending = this.#pending.get(id);
    switch (type) {
      case "value": {
        const value = tryParseJson(text);
        if (value !== undefined) return pending?.resolve(value);
        const problem = "answered with something that is nested too deeply";
        return pending?.reject(new StepError(`the plugin "${this.#file.name}" ${problem}`));
      }
      case "thrown":
        return pending?.reject(this.#stepError(pending.method, message));
      case "late":
        return this.#fail(this.#explain(message));
      case "exit":
        return this.#exited(text);
      case "log":
      case "warn":
        return pending?.context?.[type](text);
      case "secret":
        return pending?.context?.secrets.add(text);
      case "print":
        if (this.#last) this.#last.log(text);
        else this.#printed.push(text);
    }
  }

  /** Fails what is under way, or warns where the step is over that it belongs to. */
  #fail(why: string): void {
    const error = { text: why };
    if (this.#pending.size === 0 && !this.hasEnded) {
      this.#last?.warn(`${this.#stepError("run", error).message}, after its step had ended`);
    }
    for (const { method, reject } of this.#pending.values()) {
      reject(this.#stepError(method, error));
    }
  }

  /** An error of the plugin, under the name of the plugin unless it is a `StepError`. */
  #stepError(method: WorkerRequest["method"], error: Thrown): StepError {
    const { text, name, hint, failing } = error;
    if (hint !== undefined || name === "StepError") return new StepError(text, hint);
    const { name: plugin, shown } = this.#file;
    const [title, otherwise] = method === "load" ? [shown, "cannot be loaded"] : [plugin, "failed"];
    const why = this.#explain(error);
    return new StepError(`the plugin "${title}" ${failing ?? otherwise}: ${why}`);
  }

  /** An error in one line with its position in the module, and without a stack. */
  #explain({ text, message = text, name, stack }: Partial<Thrown & Error>): string {
    const { path } = this.#file;
    // deno-lint-ignore no-control-regex
    const plain = message!.replace(/\x1b\[[\d;]*m/g, "");
    const line = plain.split("\n")[0]!.replace(/file:\/\/[^\s"']+?(?=:\d+|["'\s]|$)/g, pathOf);
    const shown = line || name || "";
    if (/:\d+:\d+/.test(shown)) return shown;
    const url = toFileUrl(path).href;
    const frame = stack?.split("\n").find((line) => line.includes(`${url}:`));
    const position = frame && /:(\d+:\d+)\)?$/.exec(frame.trim())?.[1];
    return position === undefined ? shown : `${shown} (${path}:${position})`;
  }
}

/** The parts of a message that are about an error. */
type Thrown = Pick<WorkerMessage, "text" | "failing" | "name" | "stack" | "hint">;

/** A message of the worker; undefined if it is none. */
function readMessage(data: unknown): WorkerMessage | undefined {
  if (!isDict(data)) return undefined;
  const { type, id, text, ...rest } = data;
  const isMessage = MESSAGE_TYPES.some((one) => one === type) && Number.isSafeInteger(id) &&
    typeof text === "string" &&
    Object.values(rest).every((part) => part === undefined || typeof part === "string");
  return isMessage ? data as unknown as WorkerMessage : undefined;
}

function pathOf(url: string): string {
  try {
    return fromFileUrl(url);
  } catch {
    return url;
  }
}
