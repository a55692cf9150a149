import type { Host } from "../../host/host.ts";
import { StepError } from "../../base/errors.ts";
import type { Action, ActionContext, ActionResult, Dict, RunAction } from "../../action/action.ts";
import type { Permissions } from "../../action/permissions/permissions.ts";
import {
  findPlugin,
  PLUGIN_NAME,
  type PluginDirectory,
  pluginDirectory,
  type PluginFile,
  pluginNames,
  type PluginProblem,
  readAnswer,
} from "./plugin.ts";
import { type Denial, explainDenial } from "../../host/explain_denial.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { runResources } from "../../action/run_resources.ts";
import { awaitCommand, type CommandEnd } from "../../action/process/await_command.ts";
import { lastLines } from "../../action/process/capture.ts";
import { feed, type ProcessGroup, startGroup } from "../../action/process/process_group.ts";

/** The plugins that provide actions that are not built in. */
export interface Plugins {
  readonly actions: ReadonlyMap<string, Action>;
  /** Why a plugin cannot be used, by its name. */
  readonly problems: ReadonlyMap<string, PluginProblem>;
  readonly names: readonly string[];
  /** The directory in which they are looked for, for messages. */
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
    load: () => Promise.resolve(runProgram(file)),
  };
}

/** An answer is read as a whole; what goes to stderr is for people. */
const LIMITS = { stdout: 64 * 1024 * 1024, stderr: 1024 * 1024 };

/** More of an invalid answer is not shown. Part of a line could be part of a secret. */
const MOST_SHOWN = 300;

/**
 * Carries an action out by a program: it reads one request as JSON, and writes one answer. It ends
 * with all that it started when its time is over.
 */
export function runProgram(plugin: PluginFile): RunAction {
  return async (params, context) => {
    const group = start(plugin, params, context);
    runResources(context).watch(group.pid);
    const { vars, deadline } = context;
    const request = { action: plugin.name, with: params, vars, timeout: deadline.timeout / 1000 };
    feed(group.child.stdin, JSON.stringify(request) + "\n");
    const ended = await awaitCommand(group, LIMITS, context.signal, context);
    const printed = ended.stderr.text.trimEnd();
    if (printed !== "") context.log(`${plugin.name}: ${printed}`);
    return readEnd(plugin, ended, params);
  };
}

function start(
  { name, path, shown }: PluginFile,
  params: Dict,
  { host }: ActionContext,
) {
  const fail = (message: string, hint?: string) =>
    new StepError(`cannot run the plugin "${name}": ${message}`, hint, { req: params });
  try {
    const piped = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
    return startGroup(path, piped, host.clock) satisfies ProcessGroup;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw fail(`"${shown}" does not exist, or what its first line names does not`);
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw fail(`permission to execute "${shown}" is denied`);
    }
    const denial = explainDenial(error);
    if (denial) throw fail(denial.message, denial.hint);
    if (!(error instanceof Error)) throw error;
    const reason = error.message.replace(/^Failed to spawn '.*?': /s, "");
    throw fail(`"${shown}": ${reason}`);
  }
}

function readEnd(
  { name }: PluginFile,
  { end, stdout, stderr }: CommandEnd,
  params: Dict,
): ActionResult {
  const lines = lastLines("stderr", stderr.text);
  const fail = (message: string, ...hints: (string | undefined)[]) => {
    const hint = hints.filter((text) => text !== undefined).join("\n");
    return new StepError(message, hint === "" ? undefined : hint, { req: params });
  };
  if (end instanceof StepError) throw fail(end.message, end.hint, lines);
  if (stdout.cut) {
    throw fail(`the plugin "${name}" answered with more than ${LIMITS.stdout / 1024 ** 2} MiB`);
  }
  const text = stdout.text.replace(/^\ufeff/, "").trim();
  const answer = tryParseJson(text);
  if (answer === undefined) {
    const how = howItEnded(end);
    if (text === "") throw fail(`the plugin "${name}" ended${how} without an answer`, lines);
    throw fail(
      `the plugin "${name}" ended${how} and answered with no JSON: ${beginning(text)}`,
      "its standard output is for the answer alone; what is for people goes to standard error",
      lines,
    );
  }
  return readAnswer(name, answer, params);
}

/** A short text, or its first line. */
function beginning(text: string): string {
  if (text.length <= MOST_SHOWN) return JSON.stringify(text);
  const [line = ""] = text.split("\n", 1);
  if (line.length > MOST_SHOWN) return `a line of ${line.length} characters`;
  return JSON.stringify(`${line}…`);
}

function howItEnded({ code, signal }: Deno.CommandStatus): string {
  if (signal !== null) return ` by ${signal}`;
  return code === 0 ? "" : ` with exit code ${code}`;
}
