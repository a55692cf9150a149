import type { Worker } from "node:worker_threads";
import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import type { Action, ActionContext, Dict, RunAction, Value } from "../../action/action.ts";
import type { HideSecrets, Parameter } from "../../action/parameter.ts";
import { declare } from "../../action/make_action.ts";
import { onAbort } from "../../action/on_abort.ts";
import { choice, list, map, type Shape, value } from "../../action/rule.ts";
import { StepError } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import { isGranted } from "../../host/deno_permissions.ts";
import { startWorker, type Threads } from "../../host/start_worker.ts";
import { type PluginFile, type PluginProblem, readAnswer } from "./plugin.ts";
import {
  PluginCalls,
  readError,
  type RemoteError,
  type StepData,
  WORKER_MODULE,
} from "./plugin_worker.ts";

/** The time that an action has to clean up once it must stop. */
const GRACE = 1000;

/** An action that a module of TypeScript or JavaScript makes. */
export async function modulePlugin(file: PluginFile): Promise<Action | PluginProblem> {
  const denial = moduleDenial();
  if (denial) {
    return { ...denial, message: `the plugin "${file.shown}" cannot be loaded: ${denial.message}` };
  }
  const threads = await import("node:worker_threads");
  const worker = new PluginWorker(file, threads);
  try {
    return makeAction(await worker.loaded, file, threads);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return { message: error.message, hint: error.hint };
  } finally {
    await worker.end();
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

/**
 * The action as the program knows it, which has its data alone: each run starts a worker for its
 * functions.
 */
function makeAction(loaded: Dict, file: PluginFile, threads: Threads): Action {
  // What hides a part of a parameter hides all of it: functions cannot travel.
  const hide: HideSecrets = (_value, mask) => mask;
  const record: Omit<Action, "load"> = JSON.parse(
    JSON.stringify(loaded),
    (key, part) => key === "hide" && part === true ? hide : part,
  );
  const { name, summary, parameters = [], alternatives: [{ names, required } = {}] = [] } = record;
  const { problems } = declare({
    ...{ name, summary, params: shapeOf(parameters) },
    ...required ? { oneOf: names } : { atMostOne: names },
  });
  const expecting = new WeakSet<Dict>();
  return {
    ...record,
    problems,
    expectsResult: (params) => expecting.has(params),
    load: () => Promise.resolve(runInWorker(file, threads, expecting)),
  };
}

/** Rules of which the functions are left out: these speak when the step runs. */
function shapeOf(parameters: readonly Parameter[]): Shape {
  return Object.fromEntries(
    parameters.map(({ name, ...form }) => [name, ruleOf(form).with(form)]),
  );
}

function ruleOf({ type, summary, fields, items, values, oneField }: Omit<Parameter, "name">) {
  if (fields && type === "map") return map(shapeOf(fields), summary, { oneField });
  if (items && type === "list") return list(map(shapeOf(items), summary), summary);
  if (values && type === "string") return choice(values, summary);
  return value(type, summary);
}

/** Carries the action out in the worker of the run, and in a new one after that has ended. */
function runInWorker(file: PluginFile, threads: Threads, expecting: WeakSet<Dict>): RunAction {
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
      if (isDict(answer) && answer.expectsResult === true) expecting.add(params);
      return readAnswer(file.name, answer, params);
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      throw new StepError(error.message, error.hint, { req: params, ...error.details });
    }
  };
}

/**
 * A module in its own worker, so that nothing it does ends the program: it may call
 * `Deno.exit`, never return or throw when nobody listens any more.
 */
class PluginWorker {
  /** The action, with marks for its functions. Rejects with why the module cannot be loaded. */
  readonly loaded: Promise<Dict>;
  /** Whether it can no longer be used. */
  hasEnded = false;
  readonly #file: PluginFile;
  readonly #worker: Worker;
  readonly #calls: PluginCalls;
  /** The steps under way. */
  readonly #steps = new Map<number, ActionContext>();
  #last: ActionContext | undefined;
  #ids = 0;

  constructor(file: PluginFile, threads: Threads, first?: ActionContext) {
    this.#file = file;
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
    this.loaded = this.#calls.ask("load").then((record) => {
      if (isDict(record) && record.name === file.name) return record;
      throw { message: "it sent a message that cannot be read" };
    }).catch((error) => {
      throw this.#stepError(`"${file.shown}" cannot be loaded`, error);
    });
    this.loaded.catch(() => {});
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
    const answer = this.#calls.ask("run", id, params, data);
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

  async closeScope(name: string, deadline: ActionContext["deadline"]): Promise<void> {
    if (this.hasEnded) return;
    const late = Promise.withResolvers<void>();
    const grace = deadline.after(GRACE, async () => {
      await this.end(); // One that does not answer is busy for ever.
      late.resolve();
    });
    const closed = this.#calls.ask("close", name).catch((error) => {
      throw this.#stepError("failed", error);
    });
    await Promise.race([closed, late.promise]).finally(() => grace.cancel());
  }

  /** Fails the calls under way, or warns if their step is over. */
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
