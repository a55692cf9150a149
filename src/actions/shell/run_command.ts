import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { awaitCommand, haveEnded } from "../../action/process/await_command.ts";
import {
  type Captured,
  empty,
  lastLines,
  type LastOf,
  lastOf,
  outputFields,
} from "../../action/process/capture.ts";
import { feed, type ProcessGroup, startGroup } from "../../action/process/process_group.ts";
import { endsInBackground, type RunResources, runResources } from "../../action/run_resources.ts";
import { resolve } from "@std/path/resolve";
import type { ActionContext } from "../../action/action.ts";
import type { Host } from "../../host/host.ts";
import type { Ready } from "./await_ready.ts";
import { findInterpreter, type Interpreter, stopAtFailure } from "./interpreter.ts";
import { isGranted } from "../../host/deno_permissions.ts";
import { explainDenial } from "../../host/explain_denial.ts";
import { makeOpenStep, type OpenStep } from "../../action/open_step.ts";

/** Runs a command and waits for it, unless it is to run on. */
export async function runCommand(command: Command, attempt: ActionAttempt) {
  const { context } = attempt;
  if (command.background) return await runInBackground(command, attempt);
  const group = await startCommand(command, context);
  // Nothing ends it: it and its exit code are no longer the run's.
  if (command.detach) {
    return { res: { code: null, signal: null, pid: group.pid }, brief: "detached" };
  }
  return await waitFor(group, command, attempt);
}

/** The end of a command. When the attempt ends first, the command ends too. */
async function waitFor(
  group: ProcessGroup,
  { max_output: limit }: Command,
  attempt: ActionAttempt,
) {
  const { context } = attempt;
  const limits = { stdout: limit, stderr: limit };
  const { end, stdout, stderr } = await awaitCommand(group, limits, attempt.signal, context);
  if (end instanceof StepError) {
    // Not the step, whose message says so.
    const isTimeoutOfCommand = end.message.startsWith("timed out");
    const message = isTimeoutOfCommand ? `the command ${end.message}` : end.message;
    const hasPrinted = stdout.bytes + stderr.bytes > 0;
    throw new StepError(message, end.hint, hasPrinted ? { res: outputFields(stdout, stderr) } : {});
  }
  const { code, signal } = end;
  return {
    res: {
      code,
      stdout: stdout.text,
      stderr: stderr.text,
      pid: group.pid,
      signal,
      stdout_bytes: stdout.bytes,
      stderr_bytes: stderr.bytes,
      truncated: stdout.cut || stderr.cut,
    },
    status: code === 0 ? 0 : 1,
    brief: signal === null ? `exit ${code}` : `signal ${signal}`,
  };
}

/** Starts a command that runs until the run ends; all that it prints goes into a file. */
async function runInBackground(command: Command, attempt: ActionAttempt) {
  const { context } = attempt;
  const { ready, ready_timeout } = command;
  const resources = runResources(context);
  let log: Deno.FsFile;
  let path: string;
  try {
    path = await resources.newFile(".log");
    log = await Deno.open(path, { append: true, create: true, mode: 0o600 });
  } catch (error) {
    throw await spawnProblem(error, command);
  }
  const group = await startCommand(command, context).catch((error) => {
    log.close();
    throw error;
  });
  const end = lastOf(LONGEST_END, context.secrets);
  const printed = Promise.withResolvers<void>();
  const open = makeOpenStep(context);
  const outputs = copyTo(log, end, group.child, ready?.log, printed.resolve, open);
  let isOver = false;
  let isReady = !ready;
  let output: Captured | undefined;
  const takeOutput = () => output ??= end.take(true);
  /** How it ended by itself; undefined if it was ended. */
  const ended = group.status.then(async (status) => {
    if (isOver) return undefined;
    await haveEnded(outputs, context);
    open.end(`the command ${howItEnded(status)}`, false);
    const line = lastLine(takeOutput());
    return { status, reason: line === "" ? "" : `: ${line}` };
  });
  const failure = ended.then((ended) => {
    if (!ended || !isReady) return undefined;
    const message = `the command in the background ${howItEnded(ended.status)}${ended.reason}`;
    if (ready) endsInBackground(context.scope.job).push(message);
    if (!isFailure(ended.status)) return undefined;
    context.warn(message);
    return message;
  });
  resources.addBackground(failure);
  let stopping: Promise<void> | undefined;
  const stop = () =>
    stopping ??= (async () => {
      isOver = true;
      await open.close();
      await group.end();
      await failure;
      resources.release(group.pid);
      await Promise.all(outputs.map((output) => output.cancel()));
      await Promise.all(outputs.map((output) => output.ended));
      log.close();
    })();
  resources.defer(stop);
  if (ready) {
    const { awaitReady } = await import("./await_ready.ts");
    const death = Promise.withResolvers<never>();
    ended.then((ended) => {
      // A command may end well and leave its server behind.
      if (!ended || ended.status.code === 0 && group.isAlive()) return;
      const { status, reason } = ended;
      death.reject(
        new StepError(`the command ${howItEnded(status)} before it was ready${reason}`),
      );
    });
    try {
      const signs = { printed: printed.promise, died: death.promise };
      await awaitReady(ready, ready_timeout, signs, attempt);
      isReady = true;
    } catch (error) {
      await stop();
      if (!(error instanceof StepError)) throw error;
      const { text } = takeOutput();
      const isSilent = ready.log !== undefined && text === "" &&
        error.message.startsWith("timed out");
      const hints = [error.hint, lastLines("output", text), isSilent ? SILENT : undefined];
      const hint = hints.filter((text) => text !== undefined).join("\n");
      throw new StepError(error.message, hint === "" ? undefined : hint, error.details);
    }
  }
  const brief = ready ? "ready" : "started";
  return { res: { code: null, signal: null, pid: group.pid, log: path }, brief };
}

/** What a command has that prints a line only once its buffer is full. */
const SILENT = "it has printed nothing: many programs keep what they print until there is more, " +
  "unless it goes to a terminal; try PYTHONUNBUFFERED=1, stdbuf -oL, or ready: { tcp } or { http }";

function howItEnded({ code, signal }: Deno.CommandStatus): string {
  return signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
}

/** Exit codes of commands that were ended by SIGINT, SIGKILL or SIGTERM, by themselves or in a shell. */
const ENDED_BY_SIGNAL: ReadonlySet<number> = new Set([130, 137, 143]);

/** Whether a command failed by itself; one that a step ended was meant to end. */
function isFailure({ code }: Deno.CommandStatus): boolean {
  return code !== 0 && !ENDED_BY_SIGNAL.has(code);
}

/** The bytes at the end of the output in which the last line is searched for. */
const LONGEST_END = 64 * 1024;

/** The last line that a command printed; nothing if it is longer than the part that is kept. */
function lastLine({ text, cut }: Captured): string {
  const printed = text.trimEnd();
  const newline = printed.lastIndexOf("\n");
  // Part of a line may begin with part of a secret, which reports would not recognize.
  return newline < 0 && cut ? "" : printed.slice(newline + 1);
}

/**
 * Copies both outputs to a file, and their lines as messages to an open step; `end` keeps the end of
 * them. `found` is called when one of them has the text `sought`.
 */
function copyTo(
  log: Deno.FsFile,
  end: LastOf,
  { stdout, stderr }: Deno.ChildProcess,
  sought: string | undefined,
  found: () => void,
  open: OpenStep,
) {
  const writer = (stream: string) => {
    const readLines = lineReader((line) => open.add({ line, stream }, line.length));
    const look = sought === undefined ? () => {} : finder(sought, found);
    return (bytes: Uint8Array) => {
      look(bytes);
      readLines(bytes);
      write(bytes);
    };
  };
  const write = (bytes: Uint8Array) => {
    end.add(bytes);
    try {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(log.writeSync(rest));
    } catch {
      // A full disk costs the log, not the command, whose output is emptied all the same.
    }
  };
  return [empty(stdout, writer("stdout")), empty(stderr, writer("stderr"))];
}

/** A longer line becomes several messages. */
const LONGEST_MESSAGE = 1024 * 1024;

/** Calls `take` with each line of bytes that come in pieces. */
function lineReader(take: (line: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let last = "";
  return (bytes) => {
    const lines = (last + decoder.decode(bytes, { stream: true })).split("\n");
    last = lines.pop()!;
    for (const line of lines) take(line.replace(/\r$/, ""));
    if (last.length < LONGEST_MESSAGE) return;
    take(last);
    last = "";
  };
}

/** Looks for a text in bytes that come in pieces. */
function finder(sought: string, found: () => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let last = "";
  return (bytes) => {
    const text = last + decoder.decode(bytes, { stream: true });
    if (text.includes(sought)) found();
    last = text.slice(Math.max(0, text.length - sought.length));
  };
}

interface Command {
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
async function startCommand(
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
  const { permittedShell } = await import("../../action/permissions/rules.ts");
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
async function spawnProblem(
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

export function needsFile({ longest, multiline }: Interpreter, command: string): boolean {
  // No character of UTF-16 takes more than three bytes of UTF-8.
  return !multiline && command.includes("\n") || command.length * 3 > longest;
}
