import type { ActionContext } from "../action.ts";
import type { Leftovers } from "../leftovers.ts";
import type { Host } from "../../host/host.ts";
import { commandFile, fileArguments, inlineArguments, needsFile } from "./interpreter.ts";
import { feed } from "../process/feed.ts";
import { type ProcessGroup, startGroup } from "../process/process_group.ts";
import type { ShellRequest } from "./shell_request.ts";
import { spawnProblem } from "./spawn_problem.ts";

/** Starts the command of a request; throws a `StepError` that says why that cannot be. */
export async function startCommand(
  request: ShellRequest,
  leftovers: Leftovers,
  { host }: ActionContext,
): Promise<ProcessGroup> {
  const { interpreter, workdir, stdin } = request;
  try {
    const file = await writeCommandFile(request, leftovers);
    const group = startGroup(interpreter.program, {
      args: file === undefined
        ? inlineArguments(interpreter, request.cmd)
        : fileArguments(interpreter, file),
      ...workdir === undefined ? {} : { cwd: workdir },
      ...makeEnvironment(request, host),
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      windowsRawArguments: interpreter.dialect === "cmd",
    }, host.clock);
    leftovers.watch(group.pid);
    if (stdin !== undefined) feed(group.child.stdin, stdin);
    // A step that is repeated would fill the disk. What stays all the same goes with the run.
    if (file !== undefined) group.status.then(() => Deno.remove(file)).catch(() => {});
    return group;
  } catch (error) {
    throw await spawnProblem(error, request);
  }
}

/** Writes a command that is too long for an argument to a file, and gives its path. */
async function writeCommandFile(
  { interpreter, cmd }: ShellRequest,
  leftovers: Leftovers,
): Promise<string | undefined> {
  if (!needsFile(interpreter, cmd)) return undefined;
  const { text, extension } = commandFile(interpreter, cmd);
  const path = await leftovers.newFile(extension);
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
