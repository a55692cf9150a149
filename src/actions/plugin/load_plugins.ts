import type { Host } from "../../host/host.ts";
import { StepError } from "../../base/errors.ts";
import type { Action, Dict } from "../../action/action.ts";
import type { Permissions } from "../../action/permissions/permissions.ts";
import type { Denial } from "../../host/explain_denial.ts";
import {
  findPlugin,
  PLUGIN_NAME,
  type PluginDirectory,
  pluginDirectory,
  type PluginFile,
  pluginNames,
  type PluginProblem,
} from "./plugin.ts";

/** The plugins that provide actions that are not built in. */
export interface Plugins {
  readonly actions: ReadonlyMap<string, Action>;
  /** Why a plugin cannot be used, by its name. */
  readonly problems: ReadonlyMap<string, PluginProblem>;
  readonly names: readonly string[];
  /** Where they are looked for, as messages say it. */
  readonly location: string;
}

/** Looks for plugins of those names, and says what was found and what is wrong with it. */
export async function loadPlugins(
  names: readonly string[],
  host: Host,
  permissions?: Permissions,
): Promise<Plugins> {
  const actions = new Map<string, Action>();
  const problems = new Map<string, PluginProblem>();
  const directory = pluginDirectory(host);
  const found = directory && await pluginNames(directory, host);
  const location = describeLocation(directory, found !== undefined);
  if (!directory || !found) return { actions, problems, names: [], location };
  await Promise.all(names.map(async (name) => {
    const file = PLUGIN_NAME.test(name) ? await findPlugin(directory, name) : undefined;
    if (!file) return;
    host.files.planReading([file.path]);
    const plugin = await loadPlugin(file, permissions, host);
    if ("load" in plugin) actions.set(name, plugin);
    else problems.set(name, plugin);
  }));
  return { actions, problems, names: found, location };
}

/** For users without plugins, also where to put them. */
function describeLocation(directory: PluginDirectory | undefined, isThere: boolean): string {
  if (!directory) return "plugins are looked for where RUNNER_PLUGIN_DIR says";
  const { path, isChosen } = directory;
  if (!isChosen) return "plugins are looked for in ~/.runner/plugins";
  return isThere
    ? `plugins are looked for in "${path}"`
    : `RUNNER_PLUGIN_DIR "${path}" is not a directory`;
}

async function loadPlugin(
  file: PluginFile,
  permissions: Permissions | undefined,
  host: Host,
): Promise<Action | PluginProblem> {
  if (permissions) {
    const { pluginDenial } = await import("../../action/permissions/rules.ts");
    const refusal = await pluginDenial(permissions, file, host);
    if (refusal) return refusedPlugin(file, refusal);
  }
  if (file.kind === "program") return await programPlugin(file);
  return await (await import("./module_plugin.ts")).modulePlugin(file);
}

/** An action that fails: not even the module of such a plugin is loaded, since that runs its code. */
function refusedPlugin({ name, shown }: PluginFile, { message, hint }: Denial): Action {
  const refuse = (req: Dict) => {
    throw new StepError(`cannot run the plugin "${name}": ${message}`, hint, { req });
  };
  return { name, summary: `The plugin ${shown}`, load: () => Promise.resolve(refuse) };
}

/** An action that a program carries out, which must be one that can be executed. */
async function programPlugin(file: PluginFile): Promise<Action | PluginProblem> {
  const { name, shown, path } = file;
  const { mode } = await Deno.stat(path);
  if (mode !== null && (mode & 0o111) === 0) {
    return {
      message: `the plugin "${shown}" is not executable`,
      hint: `make it executable: chmod +x ${shown}`,
    };
  }
  return {
    name,
    summary: `The plugin ${shown}`,
    load: async () => (await import("./program_plugin.ts")).runProgram(file),
  };
}
