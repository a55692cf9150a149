import type { ActionContext } from "../action.ts";
import { onAbort } from "../on_abort.ts";

/** Something that serves one step at a time: `turn` resolves when the last of them is done. */
export interface Turns {
  turn: Promise<void>;
}

/** Acts when those who came before are done; no timeout applies to the wait. */
export async function inTurn<T>(
  turns: Turns,
  { deadline, signal }: ActionContext,
  act: () => Promise<T>,
): Promise<T> {
  const before = turns.turn;
  const { promise, resolve } = Promise.withResolvers<void>();
  turns.turn = before.then(() => promise);
  const stopped = Promise.withResolvers<never>();
  const forget = onAbort(signal, stopped.reject);
  try {
    deadline.pauseTimeout();
    await Promise.race([before, stopped.promise]).finally(() => deadline.resumeTimeout());
    forget();
    return await act();
  } finally {
    forget();
    resolve();
  }
}
