import { resolve } from "@std/path/resolve";
import type { ActionContext } from "../../action/action.ts";
import { type RunResources, runResources } from "../../action/run_resources.ts";
import type { Host } from "../../host/host.ts";
import type { Ready } from "./await_ready.ts";
import { findInterpreter, type Interpreter, needsFile, stopAtFailure } from "./interpreter.ts";
import { feed, type ProcessGroup, startGroup } from "../../action/process/process_group.ts";
import { StepError } from "../../base/errors.ts";
import { isGranted } from "../../host/deno_permissions.ts";
import { explainDenial } from "../../host/explain_denial.ts";

/** A command as it is asked for. */
export interface Command {
  readonly cmd: string;
  /** The shell, by path or name; that of the system by default. */
  readonly shell?: string;
  readonly workdir?: string;
  /** Variables to set, and those to take away, which are null. */
  readonly env?: Readonly<Record<string, string | null>>;
  readonly stdin?: string;
  readonly background: boolean;
  /** What shows that it is ready, in the background. */
  readonly ready?: Ready;
  /** Milliseconds until it must be ready. */
  readonly ready_timeout: number;
  /** It lives on after the run. */
  readonly detach: boolean;
  /** Bytes to keep of each output. */
  readonly max_output: number;
}

/** Starts a command; throws a `StepError` that says why that cannot be. */
export async function startCommand(
  command: Command,
  context: ActionContext,
): Promise<ProcessGroup> {
  const { host } = context;
  const { shell, workdir, stdin, detach } = command;
  const interpreter = findInterpreter(shell);
  const cmd = interpreter.stops ? stopAtFailure(command.cmd) : command.cmd;
  const resources = runResources(context);
  try {
    const program = await permittedProgram(command, interpreter, context);
    const file = needsFile(interpreter, cmd)
      ? await writeCommandFile(interpreter, cmd, resources)
      : undefined;
    const group = startGroup(
      program,
      {
        args: file === undefined ? interpreter.inline(cmd) : interpreter.file(file),
        cwd: resolve(host.files.workingDirectory(), workdir ?? ""),
        ...makeEnvironment(command, host),
        stdin: stdin === undefined ? "null" : "piped",
        stdout: detach ? "null" : "piped",
        stderr: detach ? "null" : "piped",
        detached: detach,
        windowsRawArguments: interpreter.quotesItself,
      },
      host.clock,
    );
    if (detach) group.child.unref();
    else resources.watch(group.pid);
    if (stdin !== undefined) feed(group.child.stdin, stdin);
    // A repeated step would fill the disk. Files that remain are removed when the run ends.
    if (file !== undefined) group.status.then(() => Deno.remove(file)).catch(() => {});
    return group;
  } catch (error) {
    throw await spawnProblem(error, command);
  }
}

/** The shell, or what it was found to be where not every one may run. */
async function permittedProgram(
  { workdir, env = {} }: Command,
  { program }: Interpreter,
  { host, permissions }: ActionContext,
): Promise<string> {
  if (!permissions) return program;
  const { permittedShell } = await import("../../action/permissions/program_rule.ts");
  const name = Object.keys(env).find((name) => isSameName(name, "PATH"));
  const path = name === undefined ? host.env.get("PATH") : env[name] ?? undefined;
  const directory = workdir ?? host.files.workingDirectory();
  const permitted = await permittedShell(permissions, program, { path, directory }, host);
  if (typeof permitted === "string") return permitted;
  throw new StepError(`cannot run the command: ${permitted.message}`, permitted.hint);
}

/** Writes a command that is too long for an argument to a file, and gives its path. */
async function writeCommandFile(
  { preamble, extension }: Interpreter,
  cmd: string,
  resources: RunResources,
): Promise<string> {
  const path = await resources.newFile(extension);
  await Deno.writeTextFile(path, preamble + cmd, { mode: 0o600 });
  return path;
}

/** Deno can add variables to what a program inherits, but to take one away needs all of them. */
function makeEnvironment(
  { env = {} }: Command,
  host: Host,
): { readonly clearEnv?: true; readonly env?: Record<string, string> } {
  const names = Object.keys(env);
  if (names.length === 0) return {};
  const set: Record<string, string> = {};
  for (const name of names) {
    const value = env[name];
    if (typeof value === "string") set[name] = value;
  }
  if (names.every((name) => env[name] !== null)) return { env: set };
  const inherited = { ...host.env.all() };
  for (const name of Object.keys(inherited)) {
    if (names.some((given) => isSameName(given, name))) delete inherited[name];
  }
  return { clearEnv: true, env: { ...inherited, ...set } };
}

function isSameName(one: string, other: string): boolean {
  return one === other ||
    Deno.build.os === "windows" && one.toLowerCase() === other.toLowerCase();
}

/** Why a command could not be started, in words that lead to the mistake. */
export async function spawnProblem(
  error: unknown,
  { shell, workdir }: Command,
): Promise<StepError> {
  if (error instanceof StepError) return error;
  const { program } = findInterpreter(shell);
  const fail = (message: string, hint?: string) =>
    new StepError(`cannot run the command: ${message}`, hint);
  const denial = explainDenial(error);
  if (denial) return fail(denial.message, denial.hint);
  const directory = workdir === undefined ? undefined : await directoryProblem(workdir);
  if (directory !== undefined) return fail(`workdir "${workdir}" ${directory}`);
  if (error instanceof Deno.errors.NotFound) {
    const isPath = /[/\\]/.test(program);
    return fail(
      `shell "${program}" ${isPath ? "does not exist" : "is not on the PATH"}`,
      'leave "shell" out to use the one of the system',
    );
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return fail(
      `permission to execute shell "${program}" is denied` +
        (workdir === undefined ? "" : `, or to enter workdir "${workdir}"`),
    );
  }
  if (error instanceof Error && "code" in error && error.code === "E2BIG") {
    return fail("its environment is too large", 'give large texts with "stdin" instead of "env"');
  }
  if (error instanceof Error && /^Failed to spawn/.test(error.message)) {
    return fail(error.message.replace(/^Failed to spawn '.*?': /, `shell "${program}": `));
  }
  throw error;
}

async function directoryProblem(path: string): Promise<string | undefined> {
  if (!isGranted({ name: "read", path })) return undefined;
  try {
    return (await Deno.stat(path)).isDirectory ? undefined : "is a file, not a directory";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "does not exist";
    if (error instanceof Deno.errors.NotADirectory) return "leads through a file";
    return undefined; // Unknown, so the shell may be at fault.
  }
}
