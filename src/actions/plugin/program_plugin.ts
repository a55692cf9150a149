import { explainDenial } from "../../host/explain_denial.ts";
import { StepError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import type { ActionContext, ActionResult, Dict, RunAction } from "../../action/action.ts";
import { runResources } from "../../action/run_resources.ts";
import { awaitCommand, type CommandEnd } from "../../action/process/await_command.ts";
import { lastLines } from "../../action/process/capture.ts";
import { feed, type ProcessGroup, startGroup } from "../../action/process/process_group.ts";
import { type PluginFile, readAnswer } from "./plugin.ts";

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
