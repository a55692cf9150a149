import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import { StepError } from "../../base/errors.ts";
import { describeValue, isDict } from "../../base/value/value.ts";
import { demand } from "../../host/deno_permissions.ts";
import type { Host } from "../../host/host.ts";
import type { Action, ActionResult, Dict } from "../../action/action.ts";
import type * as api from "../../action/api.ts";

const WINDOWS = Deno.build.os === "windows";

/**
 * The default export of a plugin that is a module: makes an action with what it is given, which are
 * the functions that this library exports for actions.
 */
export type Plugin = (parts: typeof api) => Action | Promise<Action>;

/** The characters of a plugin name, none of which leads to another directory. */
export const PLUGIN_NAME = /^[A-Za-z0-9_-]+$/;

export interface PluginDirectory {
  /** The path as given by the user, or in the home directory. */
  readonly path: string;
  /** Whether RUNNER_PLUGIN_DIR names it. */
  readonly isChosen: boolean;
}

export interface PluginFile {
  readonly name: string;
  /** The name used in messages. */
  readonly shown: string;
  readonly path: string;
  readonly kind: "module" | "program";
}

/** Why a plugin cannot be used. */
export interface PluginProblem {
  readonly message: string;
  readonly hint?: string;
}

/** The file extensions of plugins: of several files with one name the first is used. */
const ENDINGS: readonly (readonly [ending: string, kind: PluginFile["kind"]])[] = [
  [".ts", "module"],
  [".js", "module"],
  ...WINDOWS ? [[".exe", "program"], [".cmd", "program"]] as const : [["", "program"]] as const,
];

/** Where plugins are looked for; undefined without a home directory. */
export function pluginDirectory({ env }: Host): PluginDirectory | undefined {
  const chosen = env.get("RUNNER_PLUGIN_DIR");
  if (chosen) return { path: chosen, isChosen: true };
  const home = env.get(WINDOWS ? "USERPROFILE" : "HOME");
  return home ? { path: join(home, ".runner", "plugins"), isChosen: false } : undefined;
}

/** The file of a plugin, if there is one. */
export async function findPlugin(
  directory: PluginDirectory,
  name: string,
): Promise<PluginFile | undefined> {
  for (const [ending, kind] of ENDINGS) {
    const shown = join(directory.path, `runner-${name}${ending}`);
    if (await isFile(shown)) return { name, shown, path: resolve(shown), kind };
  }
  return undefined;
}

/** The names of the plugins in a directory; undefined if it cannot be read. */
export async function pluginNames(
  directory: PluginDirectory,
  { files }: Host,
): Promise<readonly string[] | undefined> {
  const names = await files.list(directory.path).catch((error) => {
    if (directory.isChosen && error instanceof Deno.errors.NotCapable) throw error;
    return undefined;
  });
  return names?.flatMap((name) => {
    const ending = ENDINGS.find(([ending]) => name.endsWith(ending));
    return ending && name.startsWith("runner-")
      ? [name.slice("runner-".length, name.length - ending[0].length)]
      : [];
  });
}

async function isFile(path: string): Promise<boolean> {
  try {
    demand({ name: "read", path });
    return (await Deno.stat(path)).isFile;
  } catch {
    return false; // A file that cannot be inspected is not a plugin, whatever the reason.
  }
}

/**
 * The answer of a plugin as the result of its action: `{status, res, req}`; `req` is the
 * parameters if it is left out. Throws `StepError` for an `error` and for an invalid answer.
 */
export function readAnswer(plugin: string, answer: unknown, params: Dict): ActionResult {
  const fail = (message: string) => {
    const hint = 'an answer is {"status": 0, "res": {…}}, or {"error": "why not"}';
    return new StepError(`the plugin "${plugin}" ${message}`, hint, { req: params });
  };
  if (!isDict(answer)) throw fail(`must answer with a mapping, not ${describeValue(answer)}`);
  const { status, error = null, brief, elapsed } = answer;
  const mapping = (name: "req" | "res") => {
    const value = answer[name] ?? null;
    if (value === null || isDict(value)) return value;
    throw fail(`must answer with a mapping as "${name}", not ${describeValue(value)}`);
  };
  const req = mapping("req") ?? params;
  if (typeof error === "string") {
    const text = error.trim() || "it says nothing more";
    throw new StepError(`the plugin "${plugin}" failed: ${text}`, undefined, { req });
  }
  if (error !== null) throw fail(`must answer with text as "error", not ${describeValue(error)}`);
  if (status === undefined) throw fail('answered without "status"');
  if (!Number.isSafeInteger(status)) {
    throw fail(`must answer with a whole number as "status", not ${describeValue(status)}`);
  }
  const res = mapping("res") ?? {};
  return {
    ...{ req, res, status: status as number },
    brief: typeof brief === "string" ? brief : `status ${status}`,
    ...typeof elapsed === "number" && elapsed >= 0 && { elapsed },
  };
}
