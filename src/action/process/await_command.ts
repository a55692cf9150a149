import { StepError } from "../../source/errors.ts";
import type { ActionContext } from "../action.ts";
import type { RunResources } from "../run_resources.ts";
import { type Capture, capture, type Captured } from "./capture.ts";
import type { ProcessGroup } from "./process_group.ts";

/** The end of a command, or the reason why it was stopped, with its output until then. */
export interface CommandEnd {
  readonly end: Deno.CommandStatus | StepError;
  readonly stdout: Captured;
  readonly stderr: Captured;
}

/** The wait for output after the end of a command: the number of checks and their interval. */
const LOOKS = 10;
const LOOK_INTERVAL = 20;

interface Outputs {
  readonly stdout: Capture;
  readonly stderr: Capture;
}

/**
 * Waits until a command ends, or ends it with all that it started when `stop` resolves. What it
 * leaves behind ends with the run. So many bytes of each of its outputs are kept.
 */
export async function awaitCommand(
  group: ProcessGroup,
  limits: { readonly stdout: number; readonly stderr: number },
  stop: Promise<StepError>,
  resources: RunResources,
  context: ActionContext,
): Promise<CommandEnd> {
  const outputs: Outputs = {
    stdout: capture(group.child.stdout, limits.stdout),
    stderr: capture(group.child.stderr, limits.stderr),
  };
  const end = await Promise.race([group.status, stop]);
  if (end instanceof StepError) {
    if (!group.isWhole) context.log("without --allow-run for all, only the command is ended");
    await group.end();
  }
  const isComplete = await haveEnded(outputs, context);
  const stdout = outputs.stdout.take();
  const stderr = outputs.stderr.take();
  if (isComplete && !await group.isAlive()) {
    resources.release(group.pid);
  } else {
    // A process that still writes keeps its reader, so that it does not fail.
    context.log(`command ${group.pid} left processes behind, which end with the run`);
    resources.defer(async () => {
      await group.end();
      resources.release(group.pid);
      await cancel(outputs);
    });
  }
  return { end, stdout, stderr };
}

/**
 * Whether both outputs have ended, after the time that they may lag behind.
 *
 * It is spent in several waits, so that a program busy with other steps still gets round to
 * reading in between what the command had printed.
 */
async function haveEnded(outputs: Outputs, { deadline }: ActionContext): Promise<boolean> {
  const both = Promise.all([outputs.stdout.ended, outputs.stderr.ended]).then(() => true);
  for (let look = 0; look < LOOKS; look++) {
    const pause = Promise.withResolvers<boolean>();
    const timer = deadline.after(LOOK_INTERVAL, () => pause.resolve(false));
    const ended = await Promise.race([both, pause.promise]);
    timer.cancel();
    if (ended) return true;
  }
  return false;
}

async function cancel({ stdout, stderr }: Outputs): Promise<void> {
  await Promise.all([stdout.cancel(), stderr.cancel()]);
}
