import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import type { Attempt } from "../../action/attempt.ts";
import { awaitCommand, haveEnded } from "../../action/process/await_command.ts";
import {
  type Captured,
  empty,
  type LastOf,
  lastOf,
  outputFields,
} from "../../action/process/capture.ts";
import type { ProcessGroup } from "../../action/process/process_group.ts";
import { runResources } from "../../action/run_resources.ts";
import { type Command, spawnProblem, startCommand } from "./start_command.ts";

/** Runs a command and waits for it, unless it is to run on. */
export async function runCommand(command: Command, attempt: Attempt) {
  const { context } = attempt;
  if (command.background) return await runInBackground(command, context);
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
  attempt: Attempt,
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
async function runInBackground(command: Command, context: ActionContext) {
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
  const outputs = copyTo(log, end, group.child);
  let isOver = false;
  const failure = group.status.then(async (status) => {
    if (isOver || !isFailure(status)) return undefined;
    await haveEnded(outputs, context);
    const line = lastLine(end.take(true));
    const ended = `the command in the background ended with exit code ${status.code}`;
    const message = line === "" ? ended : `${ended}: ${line}`;
    context.warn(message);
    return message;
  });
  resources.addBackground(failure);
  resources.defer(async () => {
    isOver = true;
    await group.end();
    await failure;
    resources.release(group.pid);
    await Promise.all(outputs.map((output) => output.cancel()));
    await Promise.all(outputs.map((output) => output.ended));
    log.close();
  });
  return { res: { code: null, signal: null, pid: group.pid, log: path }, brief: "started" };
}

/** Exit codes of commands that were ended by SIGINT, SIGKILL or SIGTERM, by themselves or in a shell. */
const ENDED_BY_SIGNAL: ReadonlySet<number> = new Set([130, 137, 143]);

/** Whether a command failed by itself; one that a step ended was meant to end. */
function isFailure({ code }: Deno.CommandStatus): boolean {
  return code !== 0 && !ENDED_BY_SIGNAL.has(code);
}

/** So many bytes of the output are searched for the last line. */
const LONGEST_END = 64 * 1024;

/** The last line that a command printed; nothing where that is longer than what is kept. */
function lastLine({ text, cut }: Captured): string {
  const printed = text.trimEnd();
  const newline = printed.lastIndexOf("\n");
  // Part of a line may begin with part of a secret, which reports would not recognize.
  return newline < 0 && cut ? "" : printed.slice(newline + 1);
}

/** Copies both outputs to a file; `end` keeps the end of them. */
function copyTo(log: Deno.FsFile, end: LastOf, { stdout, stderr }: Deno.ChildProcess) {
  const write = (bytes: Uint8Array) => {
    end.add(bytes);
    try {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(log.writeSync(rest));
    } catch {
      // A full disk costs the log, not the command, whose output is emptied all the same.
    }
  };
  return [empty(stdout, write), empty(stderr, write)];
}
