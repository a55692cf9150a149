import type { ActionContext, ActionResult } from "../action.ts";
import type { Leftovers } from "../leftovers.ts";
import { empty } from "../process/capture.ts";
import type { ProcessGroup } from "../process/process_group.ts";
import { describeRequest, type ShellRequest } from "./shell_request.ts";
import { spawnProblem } from "./spawn_problem.ts";
import { startCommand } from "./start_command.ts";

/** Starts a command that runs until the run ends; all that it prints goes into a file. */
export async function runInBackground(
  request: ShellRequest,
  leftovers: Leftovers,
  context: ActionContext,
): Promise<ActionResult> {
  let log: Deno.FsFile | undefined;
  let group: ProcessGroup;
  let path: string;
  try {
    path = await leftovers.newFile(".log");
    log = await Deno.open(path, { append: true, create: true, mode: 0o600 });
    group = await startCommand(request, leftovers, context);
  } catch (error) {
    log?.close();
    throw await spawnProblem(error, request);
  }
  const outputs = copyTo(log, group.child);
  leftovers.leave(async () => {
    await group.end();
    leftovers.release(group.pid);
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

function copyTo(log: Deno.FsFile, { stdout, stderr }: Deno.ChildProcess) {
  const write = (bytes: Uint8Array) => {
    try {
      for (let rest = bytes; rest.length > 0;) rest = rest.subarray(log.writeSync(rest));
    } catch {
      // A full disk costs the log, not the command, whose output is emptied all the same.
    }
  };
  return [empty(stdout, write), empty(stderr, write)];
}
