import { LoadError, StepError } from "../../base/errors.ts";
import { describeValue, type Dict, isDict } from "../../base/value/value.ts";
import type { Action, ParameterProblem, RunAction } from "../../action/action.ts";
import { PARAMETER_TYPES } from "../../action/parameters.ts";
import { explainThrown } from "./explain_thrown.ts";
import type { PluginFile, PluginProblem } from "./plugin.ts";
import { type PluginRecord, type PluginWorker, startPluginWorker } from "./plugin_worker.ts";
import { readAnswer } from "./read_answer.ts";

/** An action that a module of TypeScript or JavaScript exports as `action`, or by default. */
export async function modulePlugin(file: PluginFile): Promise<Action | PluginProblem> {
  const { name, shown } = file;
  const worker = await startPluginWorker(file);
  let exported: PluginRecord;
  try {
    exported = await worker.exported;
  } catch (reason) {
    await worker.end();
    return { message: `the plugin "${shown}" cannot be loaded: ${reason}` };
  }
  const { key, record } = exported;
  const problem = key === undefined
    ? 'exports neither "action" nor a default'
    : actionProblem(record ?? null, name);
  if (problem !== undefined) {
    await worker.end();
    return {
      message: `the plugin "${shown}" ${problem}`,
      hint: "it exports a record: { name, summary, parameters, load }",
    };
  }
  return makeAction(record as Action, file, worker);
}

/**
 * The action whose functions run in the worker, with everything that they may throw, or may do
 * wrong, turned into words. Each run starts a worker of its own.
 */
function makeAction(record: Action, file: PluginFile, worker: PluginWorker): Action {
  const { explainer: _, omitsNilIn, ...data } = record;
  const check = (params: Dict) => worker.call("check", [params]);
  const merge = (defaults: Dict, own: Dict) => worker.call("merge", [defaults, own]);
  return {
    ...data,
    ...record.check ? { check: (params) => guardCheck(check, params, file) } : {},
    ...record.merge ? { merge: (defaults, own) => guardMerge(merge, defaults, own, file) } : {},
    ...omitsNilIn ? { omitsNilIn: (params) => namesIn(worker.call("omitsNilIn", [params])) } : {},
    load: () => Promise.resolve(runInWorker(file)),
  };
}

function namesIn(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Carries the action out in the worker of the run, and in a new one after that has ended. */
function runInWorker(file: PluginFile): RunAction {
  const { name } = file;
  return async (params, context) => {
    const start = () => startPluginWorker(file);
    const workers = context.scope.run.resource(
      `plugin ${file.path}`,
      () => ({ current: start() }),
      async ({ current }) => await (await current).end(),
    );
    if ((await workers.current).hasEnded) workers.current = start();
    const worker = await workers.current;
    await worker.exported.catch((reason) => {
      throw new StepError(`the plugin "${name}" cannot be loaded: ${reason}`);
    });
    const result = await worker.run(params, context).catch((error) => {
      if (!(error instanceof StepError) || error.details.req) throw error;
      throw new StepError(error.message, error.hint, { req: params });
    });
    const { brief, elapsed } = isDict(result) ? result : {};
    return {
      ...readAnswer(name, result, params),
      ...typeof brief === "string" ? { brief } : {},
      ...typeof elapsed === "number" && elapsed >= 0 ? { elapsed } : {},
    };
  };
}

function guardCheck(
  check: (params: Dict) => unknown,
  params: Dict,
  { name, path }: PluginFile,
): readonly ParameterProblem[] {
  const fail = (message: string) => [{ path: [], message: `the plugin "${name}" ${message}` }];
  let problems: unknown;
  try {
    problems = check(params);
  } catch (error) {
    return fail(`cannot check its parameters: ${explainThrown(error, path)}`);
  }
  if (Array.isArray(problems) && problems.every(isParameterProblem)) return problems;
  return fail("must give a list of { path, message } as what is wrong with its parameters");
}

function isParameterProblem(value: unknown): value is ParameterProblem {
  return isDict(value) && typeof value.message === "string" && Array.isArray(value.path) &&
    value.path.every((part) => typeof part === "string" || typeof part === "number") &&
    (value.hint === undefined || typeof value.hint === "string");
}

function guardMerge(
  merge: (defaults: Dict, own: Dict) => unknown,
  defaults: Dict,
  own: Dict,
  { shown, path }: PluginFile,
): Dict {
  const what = `the plugin "${shown}" cannot merge defaults`;
  let merged: unknown;
  try {
    merged = merge(defaults, own);
  } catch (error) {
    throw new LoadError(`${what}: ${explainThrown(error, path)}`);
  }
  if (isDict(merged)) return merged;
  throw new LoadError(`${what}: its merge() gave ${describeValue(merged)}, not a mapping`);
}

/** Why a value is not a record of an action of that name; undefined if it is one. */
function actionProblem(value: unknown, name: string): string | undefined {
  if (!isRecord(value)) return `exports ${describe(value)} where an action should be`;
  if (value.name !== name) {
    const given = typeof value.name === "string" ? `"${value.name}"` : describe(value.name);
    return `must export an action with the name "${name}", not ${given}`;
  }
  if (typeof value.summary !== "string") {
    return `must say in one line what its action does, as "summary"`;
  }
  for (const key of ["load", "check", "merge"]) {
    const isThere = value[key] !== undefined;
    if (key === "load" && !isThere) return 'has no "load" that brings its code';
    if (isThere && typeof value[key] !== "function") {
      return `must have a function as "${key}", not ${describe(value[key])}`;
    }
  }
  return parametersProblem(value.parameters) ?? alternativesProblem(value.alternatives);
}

function parametersProblem(parameters: unknown): string | undefined {
  if (parameters === undefined) return undefined;
  if (!Array.isArray(parameters)) {
    return `must have a list as "parameters", not ${describe(parameters)}`;
  }
  for (const [index, parameter] of parameters.entries()) {
    const which = `parameter ${index + 1}`;
    if (!isRecord(parameter) || typeof parameter.name !== "string") {
      return `must give ${which} a "name"`;
    }
    const { name, type, summary } = parameter;
    if (typeof summary !== "string") return `must give its parameter "${name}" a "summary"`;
    const types = Array.isArray(type) ? type : [type];
    if (types.length === 0 || !types.every((one) => PARAMETER_TYPES.includes(one))) {
      return `must give its parameter "${name}" a "type" of ${PARAMETER_TYPES.join(", ")}`;
    }
  }
  return undefined;
}

function alternativesProblem(alternatives: unknown): string | undefined {
  if (alternatives === undefined) return undefined;
  const isGood = Array.isArray(alternatives) &&
    alternatives.every((one) =>
      isRecord(one) && Array.isArray(one.names) &&
      one.names.every((name) => typeof name === "string")
    );
  return isGood ? undefined : 'must have a list of { names } as "alternatives"';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return isDict(value);
}

function describe(value: unknown): string {
  return typeof value === "function" ? "a function" : describeValue(value ?? null);
}
