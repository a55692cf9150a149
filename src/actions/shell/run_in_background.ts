import type { ActionContext, ActionResult } from "../../action/action.ts";
import type { RunResources } from "../../action/run_resources.ts";
import { type Captured, empty, type LastOf, lastOf } from "../../action/process/capture.ts";
import type { ProcessGroup } from "../../action/process/process_group.ts";
import { describeRequest, type ShellRequest } from "./shell_request.ts";
import { spawnProblem, startCommand } from "./start_command.ts";

/** Starts a command that runs until the run ends; all that it prints goes into a file. */
export async function runInBackground(
  request: ShellRequest,
  resources: RunResources,
  context: ActionContext,
): Promise<ActionResult> {
  let log: Deno.FsFile | undefined;
  let group: ProcessGroup;
  let path: string;
  try {
    path = await resources.newFile(".log");
    log = await Deno.open(path, { append: true, create: true, mode: 0o600 });
    group = await startCommand(request, resources, context);
  } catch (error) {
    log?.close();
    throw await spawnProblem(error, request);
  }
  const end = lastOf(LONGEST_END, context.secrets);
  const outputs = copyTo(log, end, group.child);
  let isOver = false;
  const failure = group.status.then(async (status) => {
    if (isOver || !isFailure(status)) return undefined;
    await atMost(OUTPUT_LAG, Promise.all(outputs.map((output) => output.ended)), context);
    const line = lastLine(end.take(true));
    const words = `the command in the background ended with exit code ${status.code}`;
    const message = line === "" ? words : `${words}: ${line}`;
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
  return {
    req: describeRequest(request),
    res: { code: null, signal: null, pid: group.pid, log: path },
    status: 0,
    brief: "started",
  };
}

/** The maximum delay of output after the end of a command, in milliseconds. */
const OUTPUT_LAG = 200;

/** Exit codes of commands that were ended by SIGINT, SIGKILL or SIGTERM, by themselves or in a shell. */
const ENDED_BY_SIGNAL: ReadonlySet<number> = new Set([130, 137, 143]);

/** Whether a command failed by itself; one that a step ended was meant to end. */
function isFailure({ code }: Deno.CommandStatus): boolean {
  return code !== 0 && !ENDED_BY_SIGNAL.has(code);
}

async function atMost(
  milliseconds: number,
  done: Promise<unknown>,
  { deadline }: ActionContext,
): Promise<void> {
  const pause = Promise.withResolvers<void>();
  const timer = deadline.after(milliseconds, () => pause.resolve());
  await Promise.race([done, pause.promise]);
  timer.cancel();
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
