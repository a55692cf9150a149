import { StepError } from "../../source/errors.ts";
import { formatDuration } from "../../value/duration.ts";
import type { ActionContext, ActionResult, Dict } from "../action.ts";
import { type Leftovers, leftoversOf } from "../leftovers.ts";
import { type Capture, capture, type Captured } from "./capture.ts";
import { lastLines } from "./last_lines.ts";
import type { ProcessGroup } from "./process_group.ts";
import { runInBackground } from "./run_in_background.ts";
import {
  describeRequest,
  environmentSecrets,
  readShellRequest,
  type ShellRequest,
} from "./shell_request.ts";
import { startCommand } from "./start_command.ts";

/** How long output may lag behind the end of a command: so many looks, so far apart. */
const LOOKS = 10;
const LOOK_INTERVAL = 20;

interface Outputs {
  readonly stdout: Capture;
  readonly stderr: Capture;
}

/** Runs a command and waits for it, unless it is to run in the background. */
export async function runShell(params: Dict, context: ActionContext): Promise<ActionResult> {
  const request = readShellRequest(params, context.host);
  for (const secret of environmentSecrets(request)) context.addSecret(secret);
  const leftovers = leftoversOf(context);
  if (request.background) return await runInBackground(request, leftovers, context);
  const { timeout } = request;
  const stop = Promise.withResolvers<StepError>();
  const deadline = timeout === undefined ? undefined : context.deadlines.add(
    timeout,
    () => stop.resolve(new StepError(`the command timed out after ${formatDuration(timeout)}`)),
  );
  const forget = context.onStop(stop.resolve);
  try {
    const group = await startCommand(request, leftovers, context);
    return await waitFor(group, request, stop.promise, leftovers, context);
  } finally {
    deadline?.cancel();
    forget();
  }
}

async function waitFor(
  group: ProcessGroup,
  request: ShellRequest,
  stop: Promise<StepError>,
  leftovers: Leftovers,
  context: ActionContext,
): Promise<ActionResult> {
  const cutText = (text: string, limit: number) => context.cutText(text, limit);
  const outputs: Outputs = {
    stdout: capture(group.child.stdout, request.maxOutput, cutText),
    stderr: capture(group.child.stderr, request.maxOutput, cutText),
  };
  const end = await Promise.race([group.status, stop]);
  if (end instanceof StepError) {
    if (!group.isWhole) context.debug("without --allow-run for all, only the shell is ended");
    await group.end();
  }
  const isComplete = await haveEnded(outputs, context);
  const stdout = outputs.stdout.take();
  const stderr = outputs.stderr.take();
  if (isComplete && !await group.isAlive()) {
    leftovers.release(group.pid);
  } else {
    // What writes on keeps its reader, so that it does not fail for want of one.
    context.debug(`command ${group.pid} left processes behind, which end with the run`);
    leftovers.leave(async () => {
      await group.end();
      leftovers.release(group.pid);
      await cancel(outputs);
    });
  }
  if (end instanceof StepError) throw interrupted(end, request, stdout, stderr, context);
  return makeResult(group, request, end, stdout, stderr);
}

/**
 * Whether both outputs have ended, after the time that they may lag behind.
 *
 * It is spent in several waits, so that a program busy with other steps still gets round to
 * reading in between what the command had printed.
 */
async function haveEnded(outputs: Outputs, { deadlines }: ActionContext): Promise<boolean> {
  const both = Promise.all([outputs.stdout.ended, outputs.stderr.ended]).then(() => true);
  for (let look = 0; look < LOOKS; look++) {
    const pause = Promise.withResolvers<boolean>();
    const deadline = deadlines.add(LOOK_INTERVAL, () => pause.resolve(false));
    const ended = await Promise.race([both, pause.promise]);
    deadline.cancel();
    if (ended) return true;
  }
  return false;
}

async function cancel({ stdout, stderr }: Outputs): Promise<void> {
  await Promise.all([stdout.cancel(), stderr.cancel()]);
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

/** The reason for the end of a command, with the last that it said. */
function interrupted(
  { message, hint }: StepError,
  request: ShellRequest,
  stdout: Captured,
  stderr: Captured,
  context: ActionContext,
): StepError {
  const hints = [
    hint,
    lastLines("stdout", context.mask(stdout.text)),
    lastLines("stderr", context.mask(stderr.text)),
  ].filter((text) => text !== undefined);
  return new StepError(
    message,
    hints.length > 0 ? hints.join("\n") : undefined,
    { req: describeRequest(request) },
  );
}
