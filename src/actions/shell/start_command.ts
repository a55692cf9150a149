import { resolve } from "@std/path/resolve";
import type { ActionContext } from "../../action/action.ts";
import type { RunResources } from "../../action/run_resources.ts";
import type { Host } from "../../host/host.ts";
import { commandFile, fileArguments, inlineArguments, needsFile } from "./interpreter.ts";
import { feed } from "../../action/process/feed.ts";
import { type ProcessGroup, startGroup } from "../../action/process/process_group.ts";
import { StepError } from "../../base/errors.ts";
import { describeRequest, type ShellRequest } from "./shell_request.ts";
import { isGranted } from "../../host/deno_permissions.ts";
import { explainDenial } from "../../host/explain_denial.ts";

/** Starts the command of a request; throws a `StepError` that says why that cannot be. */
export async function startCommand(
  request: ShellRequest,
  resources: RunResources,
  context: ActionContext,
): Promise<ProcessGroup> {
  const { host } = context;
  const { interpreter, workdir, stdin, detach } = request;
  try {
    const program = await permittedProgram(request, context);
    const file = await writeCommandFile(request, resources);
    const group = startGroup(
      program,
      {
        args: file === undefined
          ? inlineArguments(interpreter, request.cmd)
          : fileArguments(interpreter, file),
        cwd: resolve(host.files.workingDirectory(), workdir ?? ""),
        ...makeEnvironment(request, host),
        stdin: stdin === undefined ? "null" : "piped",
        stdout: detach ? "null" : "piped",
        stderr: detach ? "null" : "piped",
        detached: detach,
        windowsRawArguments: interpreter.dialect === "cmd",
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
    throw await spawnProblem(error, request);
  }
}

/** The shell, or what it was found to be where not every one may run. */
async function permittedProgram(
  request: ShellRequest,
  { host, permissions }: ActionContext,
): Promise<string> {
  const { interpreter: { program }, workdir, env } = request;
  if (!permissions) return program;
  const { permittedShell } = await import("../../action/permissions/program_rule.ts");
  const own = Object.keys(env).find((name) => isSameName(name, "PATH"));
  const path = own === undefined ? host.env.get("PATH") : env[own] ?? undefined;
  const directory = workdir ?? host.files.workingDirectory();
  const permitted = await permittedShell(permissions, program, { path, directory }, host);
  if (typeof permitted === "string") return permitted;
  throw new StepError(`cannot run the command: ${permitted.message}`, permitted.hint, {
    req: describeRequest(request),
  });
}

/** Writes a command that is too long for an argument to a file, and gives its path. */
async function writeCommandFile(
  { interpreter, cmd }: ShellRequest,
  resources: RunResources,
): Promise<string | undefined> {
  if (!needsFile(interpreter, cmd)) return undefined;
  const { text, extension } = commandFile(interpreter, cmd);
  const path = await resources.newFile(extension);
  await Deno.writeTextFile(path, text, { mode: 0o600 });
  return path;
}

/** Deno can add variables to what a program inherits, but to take one away needs all of them. */
function makeEnvironment(
  { env }: ShellRequest,
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
export async function spawnProblem(error: unknown, request: ShellRequest): Promise<StepError> {
  if (error instanceof StepError) return error;
  const { interpreter: { program }, workdir } = request;
  const fail = (message: string, hint?: string) =>
    new StepError(`cannot run the command: ${message}`, hint, { req: describeRequest(request) });
  const denial = explainDenial(error);
  if (denial) return fail(denial.words, denial.hint);
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
