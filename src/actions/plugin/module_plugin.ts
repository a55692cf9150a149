import type { Worker } from "node:worker_threads";
import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import type { Action, ActionContext, Dict, HideSecrets, Value } from "../../action/action.ts";
import type { ParameterProblem, RunAction } from "../../action/action.ts";
import { onAbort } from "../../action/on_abort.ts";
import { StepError } from "../../base/errors.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import { isDict } from "../../base/value/value.ts";
import { isGranted } from "../../host/deno_permissions.ts";
import { startWorker, type Threads } from "../../host/start_worker.ts";
import { type PluginFile, type PluginProblem, readAnswer } from "./plugin.ts";
import { type Message, PluginCalls, readError, type RemoteError } from "./plugin_calls.ts";
import { FUNCTION, type StepData, WORKER_MODULE } from "./plugin_worker.ts";

/** The time that an action has to clean up once it must stop. */
const GRACE = 1000;

/** The maximum time of a call that the program waits for. */
const CALL_TIMEOUT = 5000;

/** An action that a module of TypeScript or JavaScript makes. */
export async function modulePlugin(file: PluginFile): Promise<Action | PluginProblem> {
  const denial = moduleDenial();
  if (denial) {
    return { ...denial, message: `the plugin "${file.shown}" cannot be loaded: ${denial.message}` };
  }
  const threads = await import("node:worker_threads");
  const worker = new PluginWorker(file, threads);
  try {
    return makeAction(await worker.loaded, file, worker, threads);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    await worker.end();
    return { message: error.message, hint: error.hint };
  }
}

/** Why the worker cannot load the program, which Deno takes for a file that has to be read. */
function moduleDenial(): PluginProblem | undefined {
  if (!WORKER_MODULE.startsWith("file:")) return undefined;
  const path = fromFileUrl(WORKER_MODULE);
  if (isGranted({ name: "read", path })) return undefined;
  return {
    message: `Deno does not let it read "${path}"`,
    hint: `run it with deno run --allow-read=${path}`,
  };
}

/** The action whose functions run in the worker. Each run starts a worker of its own. */
function makeAction(
  loaded: Dict,
  file: PluginFile,
  worker: PluginWorker,
  threads: Threads,
): Action {
  // What hides a part of a parameter hides all of it: functions cannot travel.
  const hide: HideSecrets = (_value, mask) => mask;
  const record: Action = JSON.parse(
    JSON.stringify(loaded),
    (key, part) => part !== FUNCTION ? part : key === "hide" ? hide : undefined,
  );
  const ask = (method: string, params: Dict) => {
    try {
      return worker.call(method, params);
    } catch {
      return undefined;
    }
  };
  return {
    ...record,
    problems(params) {
      try {
        return readProblems(worker.call("problems", params));
      } catch (error) {
        const why = (error as Error).message;
        return [{
          path: [],
          message: `the plugin "${file.name}" cannot check its parameters: ${why}`,
        }];
      }
    },
    expectsResult: loaded.expectsResult
      ? (params) => ask("expectsResult", params) === true
      : undefined,
    omitsNilIn: loaded.omitsNilIn
      ? (params) => [ask("omitsNilIn", params)].flat().filter((name) => typeof name === "string")
      : undefined,
    load: () => Promise.resolve(runInWorker(file, threads)),
  };
}

function readProblems(problems: unknown): ParameterProblem[] {
  return [problems].flat().filter(isDict).map(({ path, at, message, hint }) => ({
    path: [path].flat().filter((key) => typeof key === "string" || typeof key === "number"),
    message: typeof message === "string" ? message : "it does not fit",
    ...at === "key" && { at },
    ...typeof hint === "string" && { hint },
  }));
}

/** Carries the action out in the worker of the run, and in a new one after that has ended. */
function runInWorker(file: PluginFile, threads: Threads): RunAction {
  return async (params, context) => {
    const { scope, deadline } = context;
    const start = () => new PluginWorker(file, threads, context);
    const workers = scope.run.resource(
      `plugin ${file.path}`,
      () => ({ current: start() }),
      ({ current }) => current.end(),
    );
    if (workers.current.hasEnded) workers.current = start();
    // The worker keeps its own resources, by the names of scopes that end here.
    const nameOf = (kind: "run" | "job" | "step") =>
      scope[kind].resource(
        `resources of ${file.path}`,
        () => crypto.randomUUID() as string,
        (name) => workers.current.closeScope(name, deadline),
      );
    const scopes = { run: nameOf("run"), job: nameOf("job"), step: nameOf("step") };
    try {
      const answer = await workers.current.run(params, scopes, context);
      return readAnswer(file.name, answer, params);
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      throw new StepError(error.message, error.hint, { req: params, ...error.details });
    }
  };
}

/**
 * A module in a worker of its own, so that nothing it does ends the program: it may call
 * `Deno.exit`, never return or throw when nobody listens any more.
 */
class PluginWorker {
  /** The action, with marks for its functions. Rejects with why the module cannot be loaded. */
  readonly loaded: Promise<Dict>;
  /** Whether it can no longer be used. */
  hasEnded = false;
  readonly #file: PluginFile;
  readonly #threads: Threads;
  readonly #worker: Worker;
  readonly #calls: PluginCalls;
  /** The steps under way. */
  readonly #steps = new Map<number, ActionContext>();
  /** The last step. */
  #last: ActionContext | undefined;
  #ids = 0;

  constructor(file: PluginFile, threads: Threads, first?: ActionContext) {
    this.#file = file;
    this.#threads = threads;
    this.#last = first;
    const url = toFileUrl(file.path).href;
    this.#worker = startWorker(threads, WORKER_MODULE, "servePlugin", file, url);
    const step = (id: number) => this.#steps.get(id);
    this.#calls = new PluginCalls(this.#worker, {
      log: (id: number, text: string) => step(id)?.log(String(text)),
      warn: (id: number, text: string) => step(id)?.warn(String(text)),
      addSecret: (id: number, text: string) => step(id)?.secrets.add(String(text)),
      pauseTimeout: (id: number) => step(id)?.deadline.pauseTimeout(),
      resumeTimeout: (id: number) => step(id)?.deadline.resumeTimeout(),
      resolvePath: (id: number, path: string) => step(id)?.resolvePath(String(path)),
      print: (text: string) => this.#last?.log(String(text)),
      exit: (code: number) => this.#exited(code),
      fail: (error?: Value) => this.#fail(readError(error ?? null)),
    }, () => this.#fail({ message: "it sent a message that cannot be read" }));
    this.#worker.on("error", (error: Error) => this.#fail({ message: error.message }));
    this.#worker.on("exit", (code: number) => this.#exited(code));
    this.loaded = this.#ask("load").then((record) => {
      if (isDict(record) && record.name === file.name) return record;
      throw { message: "it sent a message that cannot be read" };
    }).catch((error) => {
      throw this.#stepError(`"${file.shown}" cannot be loaded`, error);
    });
    this.loaded.catch(() => {});
  }

  /** Calls a function of the action, and waits without doing anything else. */
  call(method: string, params: Dict): unknown {
    const { port1, port2 } = new this.#threads.MessageChannel();
    const woken = new Int32Array(new SharedArrayBuffer(4));
    const json = JSON.stringify([params]);
    if (!this.hasEnded) {
      this.#worker.postMessage({ id: 1, method, json, port: port2, woken }, [port2]);
      Atomics.wait(woken, 0, 0, CALL_TIMEOUT);
    }
    const answer: Message | undefined = this.#threads.receiveMessageOnPort(port1)?.message;
    port1.close();
    if (!answer) throw new Error(`${method}() does not answer`);
    const result = parseJson(answer.json) as Value;
    if (answer.isError) throw new Error(this.#explain(readError(result)));
    return result;
  }

  /** Carries the action out; once there is a reason to stop, throws in time. */
  async run(
    params: Dict,
    scopes: StepData["scopes"],
    context: ActionContext,
  ): Promise<Value> {
    await this.loaded;
    const { signal, label, vars, permissions, tls, deadline, secrets } = context;
    if (signal.aborted) throw signal.reason;
    const text = JSON.stringify([params, vars]);
    const data: StepData = {
      ...{ label, vars, permissions, tls, timeout: deadline.timeout, scopes },
      secrets: secrets.find(text).map(({ start, end }) => text.slice(start, end)),
    };
    const id = ++this.#ids;
    this.#steps.set(id, this.#last = context);
    const late = Promise.withResolvers<never>();
    let grace: { cancel(): void } | undefined;
    const answer = this.#ask("run", id, params, data);
    const forget = onAbort(signal, (reason) => {
      const { message, hint, details } = reason;
      this.#calls.tell("abort", id, { message, hint, details });
      grace = deadline.after(GRACE, () => late.reject(reason));
    });
    try {
      return await Promise.race([answer, late.promise]);
    } catch (error) {
      if (error === signal.reason) throw error;
      if (signal.aborted && !(error as RemoteError).isStepError) throw signal.reason;
      throw this.#stepError(`"${this.#file.name}" failed`, error as RemoteError);
    } finally {
      forget();
      grace?.cancel();
      this.#steps.delete(id);
    }
  }

  /** Ends the worker, whatever it is doing. */
  async end(): Promise<void> {
    this.hasEnded = true;
    await this.#worker.terminate();
  }

  #exited(code: number): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#calls.rejectAll({ message: `it ended itself with exit code ${code}` });
  }

  /** Only while the worker has something to do it keeps the program running. */
  async #ask(method: string, ...args: readonly unknown[]): Promise<Value> {
    this.#worker.ref();
    return await this.#calls.ask(method, ...args).finally(() => {
      if (this.#calls.isIdle) this.#worker.unref();
    });
  }

  async closeScope(name: string, deadline: ActionContext["deadline"]): Promise<void> {
    if (this.hasEnded) return;
    const late = Promise.withResolvers<void>();
    const grace = deadline.after(GRACE, async () => {
      await this.end(); // One that does not answer is busy for ever.
      late.resolve();
    });
    const closed = this.#ask("close", name).catch((error) => {
      throw this.#stepError("failed", error);
    });
    await Promise.race([closed, late.promise]).finally(() => grace.cancel());
  }

  /** Fails what is under way, or warns where the step is over that it belongs to. */
  #fail(error: RemoteError): void {
    if (this.#calls.isIdle && !this.hasEnded) {
      const { message } = this.#stepError(`"${this.#file.name}" failed`, error);
      this.#last?.warn(`${message}, after its step had ended`);
    }
    this.#calls.rejectAll(error);
  }

  /** An error of the plugin: a `StepError` as it is, or another under the name of the plugin. */
  #stepError(failing: string, error: RemoteError): StepError {
    const { isStepError, message, hint, details } = error;
    if (isStepError) return new StepError(message, hint, details);
    return new StepError(`the plugin ${failing}: ${this.#explain(error)}`);
  }

  /** An error in one line with its position in the module, and without a stack. */
  #explain({ message, stack }: RemoteError): string {
    const { path } = this.#file;
    // deno-lint-ignore no-control-regex
    const plain = message.replace(/\x1b\[[\d;]*m/g, "");
    const line = plain.split("\n")[0]!.replace(/file:\/\/[^\s"']+?(?=:\d+|["'\s]|$)/g, pathOf);
    if (/:\d+:\d+/.test(line)) return line;
    const url = toFileUrl(path).href;
    const frame = stack?.split("\n").find((line) => line.includes(`${url}:`));
    const position = frame && /:(\d+:\d+)\)?$/.exec(frame.trim())?.[1];
    return position === undefined ? line : `${line} (${path}:${position})`;
  }
}

function pathOf(url: string): string {
  try {
    return fromFileUrl(url);
  } catch {
    return url;
  }
}
