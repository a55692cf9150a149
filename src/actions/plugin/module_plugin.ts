import { LoadError, StepError } from "../../base/errors.ts";
import { describeValue, type Dict, isDict } from "../../base/value/value.ts";
import type { Action, ParameterProblem, RunAction, Value } from "../../action/action.ts";
import { PARAMETER_TYPES } from "../../action/parameters.ts";
import { type PluginFile, type PluginProblem, readAnswer } from "./plugin.ts";
import { FUNCTION, PluginWorker, type Threads } from "./plugin_worker.ts";

/** An action that a module of TypeScript or JavaScript exports as `action`, or by default. */
export async function modulePlugin(file: PluginFile): Promise<Action | PluginProblem> {
  const worker = new PluginWorker(file, await import("node:worker_threads"));
  try {
    const { key, record = null } = await worker.exported as Dict;
    const problem = key === undefined
      ? 'exports neither "action" nor a default'
      : recordProblem(record, file.name);
    if (problem === undefined) return makeAction(record as Dict, file, worker);
    await worker.end();
    return {
      message: `the plugin "${file.shown}" ${problem}`,
      hint: "it exports a record: { name, summary, parameters, load }",
    };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    await worker.end();
    return { message: error.message };
  }
}

/**
 * The action whose functions run in the worker, with everything that they may throw, or may do
 * wrong, turned into words. Each run starts a worker of its own.
 */
function makeAction(record: Dict, file: PluginFile, worker: PluginWorker): Action {
  const { name, shown } = file;
  const data = Object.entries(record).filter(([, value]) => value !== FUNCTION);
  const has = (name: string) => record[name] === FUNCTION;
  return {
    ...withFunctions(Object.fromEntries(data)),
    check: has("check") ? (params) => check(worker, params, name) : undefined,
    merge: has("merge") ? (...args) => merge(worker, args, shown) : undefined,
    omitsNilIn: has("omitsNilIn")
      ? (params) => [worker.call("omitsNilIn", [params])].flat().map(String)
      : undefined,
    load: async () => runInWorker(file, await import("node:worker_threads")),
  };
}

/** A record in which what hides a part of a parameter hides all of it: functions cannot travel. */
function withFunctions(record: Dict): Action {
  const hide = (_value: Value, mask: string) => mask;
  return JSON.parse(JSON.stringify(record), (_key, part) => part === FUNCTION ? hide : part);
}

/** Carries the action out in the worker of the run, and in a new one after that has ended. */
function runInWorker(file: PluginFile, threads: Threads): RunAction {
  return async (params, context) => {
    const workers = context.scope.run.resource(
      `plugin ${file.path}`,
      () => ({ current: new PluginWorker(file, threads) }),
      ({ current }) => current.end(),
    );
    if (workers.current.hasEnded) workers.current = new PluginWorker(file, threads);
    const worker = workers.current;
    await worker.exported;
    const result = await worker.run(params, context).catch((error) => {
      if (!(error instanceof StepError) || error.details.req) throw error;
      throw new StepError(error.message, error.hint, { req: params });
    });
    const { brief, elapsed } = isDict(result) ? result : {};
    return {
      ...readAnswer(file.name, result, params),
      ...typeof brief === "string" ? { brief } : {},
      ...typeof elapsed === "number" && elapsed >= 0 ? { elapsed } : {},
    };
  };
}

function check(worker: PluginWorker, params: Dict, name: string): readonly ParameterProblem[] {
  const fail = (message: string) => [{ path: [], message: `the plugin "${name}" ${message}` }];
  try {
    const problems = worker.call("check", [params]);
    if (Array.isArray(problems) && problems.every(isParameterProblem)) return problems;
    return fail("must give a list of { path, message } as what is wrong with its parameters");
  } catch (error) {
    return fail(`cannot check its parameters: ${(error as Error).message}`);
  }
}

function isParameterProblem(value: unknown): value is ParameterProblem {
  return isDict(value) && typeof value.message === "string" && Array.isArray(value.path) &&
    value.path.every((part) => typeof part === "string" || typeof part === "number") &&
    (value.hint === undefined || typeof value.hint === "string");
}

function merge(worker: PluginWorker, args: readonly Dict[], shown: string): Dict {
  const fail = (why: string) =>
    new LoadError(`the plugin "${shown}" cannot merge defaults: ${why}`);
  let merged: unknown;
  try {
    merged = worker.call("merge", args);
  } catch (error) {
    throw fail((error as Error).message);
  }
  if (isDict(merged)) return merged;
  throw fail(`its merge() gave ${describeValue(merged)}, not a mapping`);
}

/** Why a value is not the record of an action of that name; undefined if it is one. */
function recordProblem(record: Value, name: string): string | undefined {
  if (!isDict(record)) return `exports ${describe(record)} where an action should be`;
  const { name: itsName, summary, parameters = [], alternatives = [] } = record;
  if (itsName !== name) {
    const shown = typeof itsName === "string" ? `"${itsName}"` : describe(itsName);
    return `must export an action with the name "${name}", not ${shown}`;
  }
  if (!isText(summary)) return 'must say in one line what its action does, as "summary"';
  if (record.load === undefined) return 'has no "load" that brings its code';
  for (const key of ["load", "check", "merge"]) {
    const value = record[key] ?? FUNCTION;
    if (value !== FUNCTION) return `must have a function as "${key}", not ${describe(value)}`;
  }
  if (!Array.isArray(parameters)) {
    return `must have a list as "parameters", not ${describe(parameters)}`;
  }
  for (const [index, parameter] of parameters.entries()) {
    if (!isDict(parameter) || !isText(parameter.name)) {
      return `must give parameter ${index + 1} a "name"`;
    }
    const { name, type = null, summary } = parameter;
    if (!isText(summary)) return `must give its parameter "${name}" a "summary"`;
    const types = [type].flat();
    if (types.length === 0 || !types.every((one) => PARAMETER_TYPES.includes(one as string))) {
      return `must give its parameter "${name}" a "type" of ${PARAMETER_TYPES.join(", ")}`;
    }
  }
  const isGood = Array.isArray(alternatives) &&
    alternatives.every((one) =>
      isDict(one) && Array.isArray(one.names) && one.names.every((name) => isText(name))
    );
  return isGood ? undefined : 'must have a list of { names } as "alternatives"';
}

function isText(value: Value | undefined): boolean {
  return typeof value === "string" && value !== FUNCTION;
}

function describe(value: Value | undefined): string {
  return value === FUNCTION ? "a function" : describeValue(value ?? null);
}
