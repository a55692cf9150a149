import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import { type RunResources, runResources } from "../../action/run_resources.ts";
import { onAbort } from "../../action/on_abort.ts";
import { awaitCommand } from "../../action/process/await_command.ts";
import { type Captured, outputFields } from "../../action/process/capture.ts";
import type { ProcessGroup } from "../../action/process/process_group.ts";
import { runInBackground } from "./run_in_background.ts";
import {
  describeRequest,
  environmentSecrets,
  readShellRequest,
  type ShellRequest,
} from "./shell_request.ts";
import { startCommand } from "./start_command.ts";

/** Runs a command and waits for it, unless it is to run in the background. */
export async function runShell(params: Dict, context: ActionContext): Promise<ActionResult> {
  const request = readShellRequest(params, context.host);
  for (const secret of environmentSecrets(request)) context.secrets.add(secret);
  const resources = runResources(context);
  if (request.background) return await runInBackground(request, resources, context);
  if (request.detach) return await runDetached(request, resources, context);
  const { timeout } = request;
  const stop = Promise.withResolvers<StepError>();
  const deadline = timeout === undefined ? undefined : context.deadline.after(
    timeout,
    () => stop.resolve(new StepError(`the command timed out after ${formatDuration(timeout)}`)),
  );
  const forget = onAbort(context.signal, stop.resolve);
  try {
    const group = await startCommand(request, resources, context);
    return await waitFor(group, request, stop.promise, resources, context);
  } finally {
    deadline?.cancel();
    forget();
  }
}

/** Starts a command that nothing ends: it and its exit code are no longer the run's. */
async function runDetached(
  request: ShellRequest,
  resources: RunResources,
  context: ActionContext,
): Promise<ActionResult> {
  const { pid } = await startCommand(request, resources, context);
  const res = { code: null, signal: null, pid };
  return { req: describeRequest(request), res, status: 0, brief: "detached" };
}

async function waitFor(
  group: ProcessGroup,
  request: ShellRequest,
  stop: Promise<StepError>,
  resources: RunResources,
  context: ActionContext,
): Promise<ActionResult> {
  const { maxOutput } = request;
  const limits = { stdout: maxOutput, stderr: maxOutput };
  const { end, stdout, stderr } = await awaitCommand(group, limits, stop, resources, context);
  if (end instanceof StepError) throw interrupted(end, request, stdout, stderr);
  return makeResult(group, request, end, stdout, stderr);
}

function makeResult(
  { pid }: ProcessGroup,
  request: ShellRequest,
  { code, signal }: Deno.CommandStatus,
  stdout: Captured,
  stderr: Captured,
): ActionResult {
  return {
    req: describeRequest(request),
    res: {
      code,
      stdout: stdout.text,
      stderr: stderr.text,
      pid,
      signal,
      stdout_bytes: stdout.bytes,
      stderr_bytes: stderr.bytes,
      truncated: stdout.cut || stderr.cut,
    },
    status: code === 0 ? 0 : 1,
    brief: signal === null ? `exit ${code}` : `signal ${signal}`,
  };
}

/** The reason for the end of a command, with what it had printed by then. */
function interrupted(
  { message, hint }: StepError,
  request: ShellRequest,
  stdout: Captured,
  stderr: Captured,
): StepError {
  const req = describeRequest(request);
  if (stdout.bytes + stderr.bytes === 0) return new StepError(message, hint, { req });
  return new StepError(message, hint, { req, res: outputFields(stdout, stderr) });
}
