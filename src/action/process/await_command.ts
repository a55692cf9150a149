import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../action.ts";
import { onAbort } from "../on_abort.ts";
import { runResources } from "../run_resources.ts";
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
 * Waits until a command ends, or ends it with all that it started when the signal is aborted. What
 * it leaves behind ends with the run. `limits` bound the bytes kept of each output.
 */
export async function awaitCommand(
  group: ProcessGroup,
  limits: { readonly stdout: number; readonly stderr: number },
  signal: AbortSignal,
  context: ActionContext,
): Promise<CommandEnd> {
  const stop = Promise.withResolvers<StepError>();
  const forget = onAbort(signal, stop.resolve);
  const outputs: Outputs = {
    stdout: capture(group.child.stdout, limits.stdout, context.secrets),
    stderr: capture(group.child.stderr, limits.stderr, context.secrets),
  };
  const end = await Promise.race([group.status, stop.promise]).finally(forget);
  if (end instanceof StepError) {
    if (!group.isWhole) context.log("without --allow-run for all, only the command is ended");
    await group.end();
  }
  const isComplete = await haveEnded([outputs.stdout, outputs.stderr], context);
  const stdout = outputs.stdout.take();
  const stderr = outputs.stderr.take();
  if (isComplete && !group.isAlive()) {
    runResources(context).release(group.pid);
  } else {
    // A process that still writes keeps its reader, so that it does not fail.
    context.scope.run.resource<Left[]>(
      `left by ${context.label}`,
      () => [],
      (left) => endLeft(left, context),
    ).push({ group, outputs });
  }
  return { end, stdout, stderr };
}

/**
 * Whether outputs have ended, after the time that they may lag behind.
 *
 * It is spent in several waits, so that a program busy with other steps still gets round to
 * reading in between what the command had printed.
 */
export async function haveEnded(
  outputs: readonly Pick<Capture, "ended">[],
  { deadline }: ActionContext,
): Promise<boolean> {
  const all = Promise.all(outputs.map(({ ended }) => ended)).then(() => true);
  for (let look = 0; look < LOOKS; look++) {
    const pause = Promise.withResolvers<boolean>();
    const timer = deadline.after(LOOK_INTERVAL, () => pause.resolve(false));
    const haveEnded = await Promise.race([all, pause.promise]);
    timer.cancel();
    if (haveEnded) return true;
  }
  return false;
}

/** What a command has left running. */
interface Left {
  readonly group: ProcessGroup;
  readonly outputs: Outputs;
}

/** The most processes that a warning names, and characters that it shows of each. */
const MOST_NAMED = 3;
const LONGEST_NAME = 80;

/** Ends what the commands of a step left running, and says so: no one asked for its end. */
async function endLeft(left: readonly Left[], context: ActionContext): Promise<void> {
  const resources = runResources(context);
  const stopped: (string | undefined)[] = [];
  let losesOutput = false;
  await Promise.all(left.map(async ({ group, outputs: { stdout, stderr } }) => {
    const isAlive = group.isAlive();
    if (isAlive) stopped.push(...group.commands() ?? [undefined]);
    await group.end();
    resources.release(group.pid);
    if (!isAlive && !(stdout.isOver && stderr.isOver)) losesOutput = true;
    await Promise.all([stdout.cancel(), stderr.cancel()]);
  }));
  const { label, secrets } = context;
  if (stopped.length > 0) {
    const lines = stopped.slice(0, MOST_NAMED).flatMap((line) =>
      line === undefined ? [] : secrets.mask(line, 0, Math.min(line.length, LONGEST_NAME))
    );
    const ellipsis = stopped.length > MOST_NAMED ? ", …" : "";
    const count = stopped.length === 1 ? "1 process" : `${stopped.length} processes`;
    context.warn(
      lines.length === 0
        ? `stopped what "${label}" left running`
        : `stopped ${count} that "${label}" left running: ${lines.join(", ")}${ellipsis}`,
    );
  }
  if (losesOutput) {
    context.warn(
      `a process that "${label}" started lives on, but can no longer print: redirect its output`,
    );
  }
}
