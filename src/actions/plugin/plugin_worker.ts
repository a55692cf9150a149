import type { Worker } from "node:worker_threads";
import { toFileUrl } from "@std/path/to-file-url";
import { StepError } from "../../base/errors.ts";
import { writeIntegers } from "../../base/value/value.ts";
import { parseExactly, parseJson, tryParseJson } from "../../base/value/parse_json.ts";
import type { ActionContext, Dict } from "../../action/action.ts";
import { onAbort } from "../../action/on_abort.ts";
import { explainThrown } from "./explain_thrown.ts";
import type { PluginFile } from "./plugin.ts";
import {
  ANSWER,
  type PluginReply,
  type PluginRequest,
  type ThrownError,
  workerMain,
} from "./worker_code.ts";

/** The time that an action has to clean up once it must stop. */
const GRACE = 1000;

/** The maximum time of `check` and `merge`, and the maximum bytes of their result. */
const CALL_TIMEOUT = 5000;
const LONGEST_ANSWER = 4 * 1024 * 1024;

/** Represents a function where a record travels as JSON. */
const FUNCTION = "\u0000function";

interface Attempt {
  readonly context: ActionContext;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The exports of a module: its functions are replaced by functions that do nothing. */
export interface PluginRecord {
  readonly key?: "action" | "default" | undefined;
  readonly record?: unknown;
}

/**
 * A module plugin in a worker of its own, so that nothing it does ends the program: it may call
 * `Deno.exit`, never return or throw when nobody listens any more.
 */
export class PluginWorker {
  readonly #worker: Worker;
  readonly #file: PluginFile;
  readonly #loading = Promise.withResolvers<PluginRecord>();
  readonly #attempts = new Map<number, Attempt>();
  readonly #closing = new Map<string, PromiseWithResolvers<readonly string[]>>();
  #last: ActionContext | undefined;
  /** Texts that it printed before its first step. */
  #printed: string[] = [];
  #ids = 0;
  #hasEnded = false;

  constructor(worker: Worker, file: PluginFile) {
    this.#worker = worker;
    this.#file = file;
    worker.on("message", (reply: PluginReply) => this.#hear(reply));
    worker.on("error", (error: unknown) => this.#fail(this.#explain(error)));
    worker.on("exit", (code: number) => this.#exited(code));
    this.#post({ type: "load", url: toFileUrl(file.path).href });
    // From then on it must not keep a program running that is done.
    this.#loading.promise.catch(() => {}).then(() => worker.unref());
  }

  /** The exports of the module. Rejects with the reason, in words, if it cannot be loaded. */
  get exported(): Promise<PluginRecord> {
    return this.#loading.promise;
  }

  /** Whether it can still be used. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Calls a function of the record, and waits without doing anything else. */
  call(name: string, args: readonly unknown[]): unknown {
    const shared = new SharedArrayBuffer(8 + LONGEST_ANSWER);
    const head = new Int32Array(shared, 0, 2);
    if (!this.#hasEnded) this.#post({ type: "call", name, args, shared });
    Atomics.wait(head, 0, ANSWER.pending, this.#hasEnded ? 0 : CALL_TIMEOUT);
    const state = Atomics.load(head, 0);
    if (state === ANSWER.pending) throw `${name}() does not answer`;
    if (state === ANSWER.tooLong) throw `${name}() answers with more than 4 MiB`;
    const bytes = new Uint8Array(shared, 8, Atomics.load(head, 1)).slice();
    const answer = parseJson(new TextDecoder().decode(bytes));
    if (state === ANSWER.thrown) throw asError(answer as ThrownError);
    return answer;
  }

  /** Carries the action out; once there is a reason to stop, throws that reason in time. */
  async run(params: Dict, context: ActionContext): Promise<unknown> {
    const id = ++this.#ids;
    this.#last = context;
    for (const text of this.#printed.splice(0)) context.log(text);
    if (context.signal.aborted) throw context.signal.reason;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#attempts.set(id, { context, resolve, reject });
    let stopped: StepError | undefined;
    let grace: { cancel(): void } | undefined;
    const forget = onAbort(context.signal, (reason) => {
      stopped = reason;
      this.#post({ type: "abort", id, reason: reason.message });
      grace = context.deadline.after(GRACE, () => reject(reason));
    });
    const { label, vars, permissions } = context;
    // As text, because a view of outputs cannot be cloned.
    const data = JSON.stringify({ params, attempt: { label, vars, permissions } });
    const { timeout } = context.deadline;
    this.#worker.ref();
    this.#post({ type: "run", id, data, timeout, scopes: this.#scopesOf(context) });
    try {
      return await promise;
    } catch (error) {
      throw stopped ?? error;
    } finally {
      forget();
      grace?.cancel();
      this.#attempts.delete(id);
      if (this.#attempts.size === 0) this.#worker.unref();
    }
  }

  /** Ends the worker, whatever it is doing. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.#worker.terminate();
  }

  #exited(code: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#fail(`it ended itself with exit code ${code}`);
  }

  #post(request: PluginRequest): void {
    this.#worker.postMessage(request);
  }

  /** The worker keeps its own resources, by the numbers of scopes that end here. */
  #scopesOf({ scope }: ActionContext): Record<"run" | "job" | "step", string> {
    const idOf = (kind: "run" | "job" | "step") =>
      scope[kind].resource(
        `plugin resources ${this.#file.path}`,
        () => crypto.randomUUID() as string,
        (id) => this.#closeScope(id),
      );
    return { run: idOf("run"), job: idOf("job"), step: idOf("step") };
  }

  async #closeScope(scope: string): Promise<void> {
    if (this.#hasEnded) return;
    const closing = Promise.withResolvers<readonly string[]>();
    this.#closing.set(scope, closing);
    this.#post({ type: "close", scope });
    // A worker that does not answer is busy for ever.
    const late = this.#last?.deadline.after(GRACE, () => {
      closing.resolve([]);
      this.end();
    });
    const problems = await closing.promise;
    late?.cancel();
    if (problems.length > 0) throw new Error(problems.join("; "));
  }

  /** A module can send messages of its own, so that nothing is certain about one. */
  #hear(reply: PluginReply): void {
    try {
      this.#take(reply);
    } catch (error) {
      this.#fail(`it sent a message that cannot be read: ${this.#explain(error)}`);
    }
  }

  #take(reply: PluginReply): void {
    switch (reply.type) {
      case "loaded": {
        const { key, json } = reply;
        const record = json === undefined ? undefined : withFunctions(parseJson(json));
        return this.#loading.resolve({ key, record });
      }
      case "result":
        return this.#takeResult(reply);
      case "thrown":
        return this.#takeThrown(reply);
      case "log":
      case "warn":
        return this.#attempts.get(reply.id)?.context[reply.type](String(reply.text));
      case "secret":
        return this.#attempts.get(reply.id)?.context.secrets.add(String(reply.text));
      case "print":
        if (this.#last) this.#last.log(reply.text);
        else this.#printed.push(reply.text);
        return;
      case "exit":
        return this.#exited(reply.code);
      case "closed":
        this.#closing.get(reply.scope)?.resolve(reply.problems);
        this.#closing.delete(reply.scope);
    }
  }

  #takeResult({ id, json }: PluginReply & { readonly type: "result" }): void {
    const attempt = this.#attempts.get(id);
    const value = tryParseJson(json);
    if (value !== undefined) return attempt?.resolve(value);
    const { name } = this.#file;
    attempt?.reject(
      new StepError(`the plugin "${name}" answered with something that is nested too deeply`),
    );
  }

  #takeThrown({ id, stage, error }: PluginReply & { readonly type: "thrown" }): void {
    if (id === undefined) return this.#fail(this.#explain(asError(error)), stage === "load");
    const { name } = this.#file;
    const attempt = this.#attempts.get(id);
    if (error.message === FUNCTION) {
      const message = `the plugin "${name}" must load a function that carries its action out`;
      return attempt?.reject(new StepError(message));
    }
    const what = {
      load: "cannot be loaded",
      run: "failed",
      late: "failed",
      data: "answered with something that is not plain data",
    }[stage];
    const words = error.hint !== undefined || error.name === "StepError"
      ? error.message
      : `the plugin "${name}" ${what}: ${this.#explain(asError(error))}`;
    attempt?.reject(new StepError(words, error.hint));
  }

  /** Fails what is under way, or warns where the step is over that it belongs to. */
  #fail(why: string, isLoading = false): void {
    this.#loading.reject(why);
    const message = `the plugin "${this.#file.name}" failed: ${why}`;
    for (const { reject } of this.#attempts.values()) reject(new StepError(message));
    for (const { resolve } of this.#closing.values()) resolve([]);
    const isOver = this.#attempts.size === 0 && !isLoading && !this.#hasEnded;
    if (isOver) this.#last?.warn(`${message}, after its step had ended`);
  }

  #explain(error: unknown): string {
    return typeof error === "string" ? error : explainThrown(error, this.#file.path);
  }
}

/** Starts a worker that loads the module. */
export async function startPluginWorker(file: PluginFile): Promise<PluginWorker> {
  const { Worker } = await import("node:worker_threads");
  const mark = JSON.stringify(FUNCTION);
  const code = `(${writeIntegers})();
    const port = require("node:worker_threads").parentPort;
    (${workerMain})(port, ${mark}, require, ${parseExactly})`;
  return new PluginWorker(new Worker(code, { eval: true }), file);
}

function asError({ isError, name, message, stack }: ThrownError): unknown {
  if (!isError) return message;
  return Object.assign(new Error(message), { name, stack });
}

/** A record with functions in the places of those that stayed in the worker. */
function withFunctions(value: unknown): unknown {
  if (value === FUNCTION) return () => {};
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withFunctions);
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, withFunctions(field)]),
  );
}
