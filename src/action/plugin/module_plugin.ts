import { toFileUrl } from "@std/path/to-file-url";
import { LoadError } from "../../source/errors.ts";
import { describeValue, type Dict, isDict } from "../../value/value.ts";
import type { Action, ParameterProblem } from "../action.ts";
import { actionProblem } from "./action_problem.ts";
import { explainThrown } from "./explain_thrown.ts";
import type { PluginFile, PluginProblem } from "./plugin.ts";

/** An action that a module of TypeScript or JavaScript exports as `action`, or by default. */
export async function modulePlugin(file: PluginFile): Promise<Action | PluginProblem> {
  const { name, path, shown } = file;
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = await import(toFileUrl(path).href);
  } catch (error) {
    return { message: `the plugin "${shown}" cannot be loaded: ${explainThrown(error, path)}` };
  }
  const key = ["action", "default"].find((key) => Object.hasOwn(exported, key));
  const record = key && exported[key];
  const problem = key === undefined
    ? 'exports neither "action" nor a default'
    : actionProblem(record, name);
  if (problem !== undefined) {
    return {
      message: `the plugin "${shown}" ${problem}`,
      hint: "it exports a record: { name, summary, parameters, load }",
    };
  }
  return guard(record as Action, file);
}

/** The action with everything that it may throw, or may do wrong, turned into words. */
function guard(action: Action, file: PluginFile): Action {
  const { check, merge } = action;
  return {
    ...action,
    ...check ? { check: (params) => guardCheck(check, params, file) } : {},
    ...merge ? { merge: (defaults, own) => guardMerge(merge, defaults, own, file) } : {},
    load: async () => (await import("./run_module.ts")).runModule(action, file),
  };
}

function guardCheck(
  check: NonNullable<Action["check"]>,
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
  merge: NonNullable<Action["merge"]>,
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
