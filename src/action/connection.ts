import { StepError } from "../base/errors.ts";
import type { ActionContext, Dict } from "./action.ts";
import { onAbort } from "./on_abort.ts";
import type { ActionAttempt } from "./attempt.ts";
import { allow, describeTarget } from "./target.ts";

/** How an action gets what it works with, and who shares it. */
export interface Connection<P, C> {
  /**
   * The parameters that tell one connection from another. Steps of a job in which they are equal
   * share it, one at a time. Absent: each attempt has its own.
   */
  readonly by?: readonly (keyof P & string)[];
  /**
   * Steps use it at the same time: a pool, or a channel with streams. `run` ends its own part of
   * the work by `attempt.signal`.
   */
  readonly parallel?: true;
  /** Opens it; `attempt.undo` says what to close where that fails or takes too long. */
  readonly open: (params: P, attempt: ActionAttempt) => Promise<C>;
  /** Whether it was lost, so that the next step needs another. */
  readonly isLost?: (connection: C) => boolean;
  /** Ends what is under way, so that it can be used again. Without it, it is dropped then. */
  readonly cancel?: (connection: C) => Promise<void>;
  /** Closes it gracefully when it is no longer needed. */
  readonly close: (connection: C) => void | Promise<void>;
  /** Closes it at once, also while it is used; like `close` by default. */
  readonly drop?: (connection: C) => void;
}

/** The connection was lost before the other side did anything: `run` is repeated on another. */
export class Unprocessed extends StepError {}

/** The parameters of `sharing()`. */
interface Sharing {
  readonly connection?: string;
  readonly fresh?: boolean;
}

/** Milliseconds that the other side has to complete a requested end. */
const PATIENCE = 2000;

interface Held<C> {
  readonly opened: Promise<C>;
  /** The attempt that opened it. */
  readonly by: ActionAttempt;
}

/** A place for a connection: empty until it is needed, and once it was lost. */
class Slot<C> implements Turns {
  turn = Promise.resolve();
  held: Held<C> | undefined;

  /** Empties it, unless it holds something else by now. */
  forget(held: Held<C>): void {
    if (this.held === held) this.held = undefined;
  }
}

/** The step that uses a connection. */
interface Use<P> {
  readonly action: string;
  readonly params: P & Sharing;
  /** The parameters as the step gives them. */
  readonly raw: Dict;
  readonly context: ActionContext;
  /** Begins the attempt and its time. */
  readonly begin: () => ActionAttempt;
}

/** Carries out `run` on a connection, which is the step's own until it ends. */
export async function onConnection<P, C, A>(
  connection: Connection<P, C>,
  { action, params, raw, context, begin }: Use<P>,
  run: (connection: C, attempt: ActionAttempt) => Promise<A>,
): Promise<A> {
  const { by, parallel, cancel, close, drop = close } = connection;
  const together = async (
    slot: Slot<C>,
    attempt: ActionAttempt,
    isRepeated = false,
  ): Promise<A> => {
    const { clock } = context.host;
    const began = clock.ticks();
    const [it, held] = await connected(slot, connection, params, attempt);
    attempt.connecting += clock.ticks() - began;
    try {
      return await run(it, attempt);
    } catch (error) {
      if (!(error instanceof Unprocessed) || isRepeated) throw error;
      slot.forget(held);
      return await together(slot, attempt, true);
    }
  };
  const carryOut = async (slot: Slot<C>) => {
    const attempt = begin();
    try {
      if (parallel) return await together(slot, attempt);
      const [it, held] = await connected(slot, connection, params, attempt);
      return await guard(run(it, attempt), attempt, cancel && (() => cancel(it)), () => {
        slot.forget(held);
        void drop(it);
      });
    } finally {
      attempt.end();
    }
  };
  const end = async ({ held }: Slot<C>) => held && await close(await held.opened);
  if (!by) {
    const slot = new Slot<C>();
    return await carryOut(slot).finally(() => end(slot));
  }
  const { step, job, run: whole } = context.scope;
  const scope = params.fresh ? step : params.connection ? whole : job;
  const key = JSON.stringify(by.map((name) => raw[name] ?? params[name] ?? null));
  const slot = scope.resource(
    `${action}:${params.connection ?? ""}:${key}`,
    () => new Slot<C>(),
    end,
  );
  return await (parallel ? carryOut(slot) : inTurn(slot, context, () => carryOut(slot)));
}

/** Carries out `run` alone; what it opened is undone at the end. */
export async function withoutConnection<A>(
  attempt: ActionAttempt,
  run: (attempt: ActionAttempt) => Promise<A>,
): Promise<A> {
  try {
    await allow(attempt.target, "", attempt.context);
    return await run(attempt);
  } finally {
    attempt.undoAll();
    attempt.end();
  }
}

/** The content of a slot, which the first step that needs it opens for all. */
async function connected<P, C>(
  slot: Slot<C>,
  connection: Connection<P, C>,
  params: P,
  attempt: ActionAttempt,
): Promise<[C, Held<C>]> {
  for (;;) {
    const other = slot.held;
    const held = slot.held ??= { opened: openConnection(connection, params, attempt), by: attempt };
    try {
      const { opening } = describeTarget(attempt.target);
      const it = await (other ? attempt.during(opening, held.opened) : held.opened);
      if (!other || !connection.isLost?.(it)) return [it, held];
    } catch (error) {
      slot.forget(held);
      // The step that opened it may have come to its end, and this one not.
      if (!other || attempt.signal.aborted || !held.by.signal.aborted) throw error;
    }
    slot.forget(held);
  }
}

/** Opens a connection if the run may use it; throws a `StepError` that says why it cannot. */
export async function openConnection<P, C>(
  { by, open, close }: Connection<P, C>,
  params: P,
  attempt: ActionAttempt,
): Promise<C> {
  const { opening, failing } = describeTarget(attempt.target);
  const opened = allow(attempt.target, by?.[0] ?? "", attempt.context).then(() =>
    open(params, attempt)
  );
  try {
    return await attempt.during(opening, opened, failing);
  } catch (caught) {
    const error = attempt.signal.aborted ? await lastWords(opened) ?? caught : caught;
    attempt.undoAll();
    // What opens too late is not needed.
    opened.then(close, () => {});
    if (!attempt.isSecure || !attempt.signal.aborted || !(error instanceof StepError)) throw error;
    throw new StepError(error.message, error.hint ?? "does it speak TLS there?", error.details);
  }
}

/** The message of `open` itself about the end of the attempt, which knows its progress better. */
async function lastWords(opened: Promise<unknown>): Promise<StepError | undefined> {
  let said: unknown;
  opened.catch((error) => said = error);
  await new Promise<void>((resolve) => setTimeout(resolve));
  return said instanceof StepError ? said : undefined;
}

/** Waits for the work. When the attempt ends first, the work has a moment to say what it did. */
async function guard<A>(
  work: Promise<A>,
  attempt: ActionAttempt,
  cancel: (() => Promise<void>) | undefined,
  drop: () => void,
): Promise<A> {
  const stopped = Promise.withResolvers<"stopped">();
  const forget = onAbort(attempt.signal, () => stopped.resolve("stopped"));
  try {
    const first = await Promise.race([work.then((answer) => ({ answer })), stopped.promise]);
    if (first !== "stopped") return first.answer;
  } catch (error) {
    // Other errors of a step are not about the connection.
    if (attempt.isBroken || !(error instanceof StepError)) drop();
    throw await attempt.explain(`the connection to ${attempt.peer} was lost`, error);
  } finally {
    forget();
  }
  const late = Promise.withResolvers<[]>();
  const limit = attempt.context.deadline.after(PATIENCE, () => late.resolve([]));
  const ending = Promise.allSettled([work, cancel?.()]);
  const [said, cancelled] = await Promise.race([ending, late.promise]);
  limit.cancel();
  if (!cancel || cancelled?.status !== "fulfilled") drop();
  if (said?.status === "rejected" && said.reason instanceof StepError) throw said.reason;
  throw attempt.ended(`waiting for ${attempt.peer}`);
}

/** Something that serves one step at a time: `turn` resolves when the last of them is done. */
interface Turns {
  turn: Promise<void>;
}

/** Acts when those who came before are done; no timeout applies to the wait. */
async function inTurn<T>(
  turns: Turns,
  { deadline, signal }: ActionContext,
  carryOut: () => Promise<T>,
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
    return await carryOut();
  } finally {
    forget();
    resolve();
  }
}
