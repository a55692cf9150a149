import type { ActionContext } from "../../action/action.ts";
import { onAbort } from "../../action/on_abort.ts";

/** Places for what may work at once; the others wait for one. */
export interface SshSlots {
  /**
   * Opens something that counts until `release` is called. Where `open` fails while others work,
   * it is called again when one of them is done, since servers limit how many there may be.
   */
  open<T>(open: () => Promise<T>, context: ActionContext): Promise<T>;
  release(): void;
}

/** A server may take a moment to notice that a command is over: tries then, and milliseconds apart. */
const [MOST_REFUSALS, PAUSE] = [10, 50];

/** `most` is how many may work at once; what a server allows beyond is found out by asking. */
export function makeSlots(most: number): SshSlots {
  let working = 0;
  const waiting: (() => void)[] = [];
  return {
    async open(open, context) {
      for (let refusals = 0;;) {
        if (working >= most) {
          await waitForSlot(waiting, context);
          continue;
        }
        working++;
        try {
          return await open();
        } catch (error) {
          working--;
          const isRefusal = error instanceof Error && "reason" in error;
          if (!isRefusal || context.signal.aborted || refusals === MOST_REFUSALS) {
            waiting.shift()?.();
            throw error;
          }
          if (working > 0) {
            await waitForSlot(waiting, context);
          } else {
            refusals++;
            await new Promise<void>((done) => void context.deadline.after(PAUSE, done));
          }
        }
      }
    },
    release() {
      working--;
      waiting.shift()?.();
    },
  };
}

/** Waits until somebody is done; no timeout of the step applies to the wait. */
async function waitForSlot(
  waiting: (() => void)[],
  { deadline, signal }: ActionContext,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  waiting.push(resolve);
  const forget = onAbort(signal, reject);
  deadline.pauseTimeout();
  try {
    await promise;
  } catch (error) {
    const index = waiting.indexOf(resolve);
    if (index >= 0) waiting.splice(index, 1);
    throw error;
  } finally {
    deadline.resumeTimeout();
    forget();
  }
}
