/**
 * Steps that stay open until the run ends, and keep the messages that come for later steps.
 *
 * An action opens a subscription by `subscribe` in its definition, beside `run`, and documents the
 * fields of its messages in `messages`. A step with `background: true`, or any step if the action
 * has no such parameter, then calls `subscribe` with a connection of its own, which the seam closes
 * when the run ends. It calls `open.add(message, bytes, acknowledge)` for each message,
 * `open.end(reason)` when no more can come, and `open.onClose(act)` for what else is to be ended,
 * and returns once the server has confirmed the subscription.
 *
 * @module
 */
import { StepError } from "../base/errors.ts";
import { countOf } from "../base/text/count_of.ts";
import { readTrace } from "../base/trace.ts";
import { isDict } from "../base/value/value.ts";
import type { ActionContext, Arrival, Dict, StepIdentity } from "./action.ts";
import { type ActionAttempt, limitAction } from "./attempt.ts";
import { type Connection, openConnection } from "./connection.ts";
import { findExchangedSecrets } from "../secrets/find_secrets.ts";
import { onAbort } from "./on_abort.ts";
import { excerpt } from "./received.ts";
import { allow } from "./target.ts";

/** What is kept for each step. */
const MAX_MESSAGES = 1000;
const MAX_BYTES = 16 * 1024 * 1024;

/** What reports show: the first messages of the first steps, as a load job may have thousands. */
const MAX_SHOWN = { messages: 100, steps: 100 };

/** A message that came to a step. */
export class Message {
  /** The seam makes it. */
  constructor(
    /** Its place among all messages of the run. */
    readonly number: number,
    /** The step that it came to. */
    readonly open: OpenStep,
    /** What steps see of it. */
    readonly value: Dict,
    /** What it counts. */
    readonly bytes: number,
    /** Confirms it to the server, once a step has taken it. */
    readonly acknowledge?: () => void | Promise<void>,
  ) {}
}

/** A step that waits for messages. */
export interface Receiver {
  /** Whether it takes a message, which is then no one else's unless it gives it back. */
  offer(message: Message): boolean;
  /** A subscription has ended: there will be no more of it. */
  ended(open: OpenStep): void;
}

/** A step that stays open: the messages that came to it, and how it ends. */
export class OpenStep {
  /** The context of what goes on after the step is done: its signal ends it with the run. */
  readonly context: ActionContext;
  /** What later steps speak on, such as the connection. */
  peer: unknown;
  /** Its place among all open steps of the run. */
  readonly number: number;
  readonly #abort = new AbortController();
  readonly #closers: (() => void | Promise<void>)[] = [];
  readonly #receivers = new Set<Receiver>();
  #kept: Message[] = [];
  #bytes = 0;
  #lost = 0;
  #came = 0;
  readonly #arrivals: Arrival[] = [];
  #ending: string | undefined;
  #isClosed = false;

  readonly #all: { steps: number; messages: number };

  /** `name` is how messages call it. */
  constructor(
    context: ActionContext,
    readonly name: string,
    all: { steps: number; messages: number },
  ) {
    this.#all = all;
    this.number = all.steps++;
    const { signal } = this.#abort;
    this.context = Object.create(context, {
      signal: { value: signal },
      onStop: { value: (stop: (reason: StepError) => void) => onAbort(signal, stop) },
    });
  }

  /**
   * Keeps a message, or hands it to a step that waits for it. `bytes` are those that came;
   * `acknowledge` is called for one that a step has taken.
   */
  add(value: Dict, bytes: number, acknowledge?: Message["acknowledge"]): void {
    if (this.#isClosed) return;
    const isShown = this.number < MAX_SHOWN.steps;
    if (++this.#came <= MAX_SHOWN.messages && isShown) this.#show(value);
    this.#keep(new Message(this.#all.messages++, this, value, bytes, acknowledge));
  }

  /** Gives a message back, which is offered to others. */
  giveBack(message: Message): void {
    if (!this.#isClosed) this.#keep(message);
  }

  #keep(message: Message): void {
    for (const receiver of this.#receivers) if (receiver.offer(message)) return;
    const place = this.#kept.findLastIndex(({ number }) => number < message.number) + 1;
    this.#kept.splice(place, 0, message);
    this.#bytes += message.bytes;
    while (this.#kept.length > MAX_MESSAGES || this.#bytes > MAX_BYTES) {
      this.take(this.#kept[0]!);
      this.#lost++;
    }
  }

  /**
   * No more messages can come, for a reason like `the server closed the connection`. Unless a step
   * waits for one, whose failure says so, the run warns if that is a fault.
   */
  end(reason: string, isFault = true): void {
    if (this.#isClosed || this.#ending !== undefined) return;
    this.#ending = reason;
    if (isFault && this.#receivers.size === 0) {
      this.context.warn(`"${this.name}" is over: ${reason}`);
    }
    for (const receiver of this.#receivers) receiver.ended(this);
  }

  /** Why no more messages can come; undefined as long as they can. */
  get ending(): string | undefined {
    return this.#isClosed ? "the run has ended it" : this.#ending;
  }

  /** What was dropped since a step was told of it, in words; undefined if nothing was. */
  get loss(): string | undefined {
    const lost = this.#lost;
    return lost === 0
      ? undefined
      : `${countOf(lost, "message")} of "${this.name}" fell out before a step received ` +
        `${lost === 1 ? "it" : "them"}: the last ${MAX_MESSAGES} and 16 MiB are kept`;
  }

  /** A step has failed by the loss: later ones go on from there. */
  forgetLoss(): void {
    this.#lost = 0;
  }

  /** The messages that no step has taken, in their order. */
  get kept(): readonly Message[] {
    return this.#kept;
  }

  /** Offers each message that comes from now on to a step; the result ends that. */
  receive(receiver: Receiver): () => void {
    this.#receivers.add(receiver);
    return () => void this.#receivers.delete(receiver);
  }

  /** Takes a message out of those that are kept. */
  take(message: Message): void {
    this.#kept.splice(this.#kept.indexOf(message), 1);
    this.#bytes -= message.bytes;
  }

  #show(value: Dict): void {
    const { host, secrets, trace: traced } = this.context;
    findExchangedSecrets(value, (secret, shortest) => secrets.add(secret, shortest));
    const text = excerpt(JSON.stringify(inShort(value)), secrets);
    const trace = traced && isDict(value.headers) ? readTrace(value.headers) : undefined;
    this.#arrivals.push({ time: host.clock.now(), text, ...trace && { trace } });
  }

  /** Has something ended when the run ends, or when opening fails. */
  onClose(act: () => void | Promise<void>): void {
    this.#closers.push(act);
  }

  /** Ends all that belongs to it. */
  async close(reason: StepError = new StepError("the run has ended")): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#kept = [];
    this.#abort.abort(reason);
    for (const receiver of this.#receivers) receiver.ended(this);
    if (this.#arrivals.length > 0) this.context.messagesCame?.(this.#came, this.#arrivals);
    for (const act of this.#closers.splice(0).reverse()) await act();
  }
}

/** A message without what is empty, and without headers and a text that its body has. */
export function inShort(message: Dict): Dict {
  return Object.fromEntries(
    Object.entries(message).filter(([name, value]) =>
      name !== "headers" && name !== "raw" && value !== "" &&
      !(typeof value === "object" && Object.keys(value ?? {}).length === 0)
    ),
  );
}

/** The open steps of a run, by what finds them. */
class OpenSteps {
  readonly all = { steps: 0, messages: 0 };
  readonly #found = new Map<string, OpenStep>();
  readonly #jobs = new Set<string>();

  add(open: OpenStep, { id, job, user, round }: StepIdentity): void {
    for (const owner of [[id, job, user, round], [id, job, user], [id]]) {
      this.#found.set(JSON.stringify(owner), open);
    }
    this.#jobs.add(JSON.stringify([id, job]));
  }

  /** That of the round, of the user or the job, or else of another job. */
  find(id: string, { job, user, round }: StepIdentity): OpenStep | undefined {
    const find = (...owner: unknown[]) => this.#found.get(JSON.stringify(owner));
    return find(id, job, user, round) ?? find(id, job, user) ??
      (this.#jobs.has(JSON.stringify([id, job])) ? undefined : find(id));
  }
}

const NO_IDENTITY: StepIdentity = { job: "" };

function openSteps({ scope }: Pick<ActionContext, "scope">): OpenSteps {
  return scope.run.resource("open steps", () => new OpenSteps());
}

/** The open step with an id that a step sees; undefined where there is none. */
export function findOpenStep(id: string, context: ActionContext): OpenStep | undefined {
  return openSteps(context).find(id, context.identity ?? NO_IDENTITY);
}

/** Makes an open step, which later steps find by its id. What it opens is the caller's to close. */
export function makeOpenStep(context: ActionContext): OpenStep {
  const { identity = NO_IDENTITY, label } = context;
  const steps = openSteps(context);
  const open = new OpenStep(context, identity.id ?? label, steps.all);
  if (identity.id !== undefined) steps.add(open, identity);
  return open;
}

/** What a step opened, and its result. */
interface Opened<R> {
  readonly open: OpenStep;
  readonly result: R;
}

/**
 * Opens something that stays open until the run ends, within `timeout` milliseconds. A step of the
 * same job and user that runs again with the same parameters finds it open.
 */
export async function keepOpen<R>(
  raw: Dict,
  context: ActionContext,
  timeout: number | undefined,
  subscribe: (open: OpenStep) => Promise<R>,
): Promise<R> {
  const { identity: { id, job, user } = NO_IDENTITY } = context;
  const key = `open step ${JSON.stringify([id ?? context.label, job, user, raw])}`;
  const { run } = context.scope;
  const slot = run.resource(key, () => ({} as { opened?: Promise<Opened<R>> }));
  const before = await slot.opened?.catch(() => undefined);
  if (before && before.open.ending === undefined) return before.result;
  slot.opened = begin(context, timeout, subscribe);
  return (await slot.opened).result;
}

async function begin<R>(
  context: ActionContext,
  timeout: number | undefined,
  subscribe: (open: OpenStep) => Promise<R>,
): Promise<Opened<R>> {
  const open = makeOpenStep(context);
  const { run, user = run } = context.scope;
  const { context: { signal }, release } = limitAction(context, timeout);
  const forget = onAbort(signal, (reason) => void open.close(reason));
  try {
    const result = await subscribe(open);
    // It ends before what it has opened on the way, such as the connections of http.
    user.resource(`open step ${open.number}`, () => open, (open) => open.close());
    return { open, result };
  } catch (error) {
    await open.close();
    throw error;
  } finally {
    forget();
    release();
  }
}

/**
 * What a step that stays open works with: a connection of its own, or nothing where its action has
 * none. It is closed with the step.
 */
export async function openFor<P, C>(
  open: OpenStep,
  connection: Connection<P, C> | undefined,
  params: P,
  attempt: ActionAttempt,
): Promise<C> {
  open.onClose(() => attempt.undoAll());
  if (!connection) {
    await allow(attempt.target, "", attempt.context);
    return undefined as C;
  }
  const opened = await openConnection(connection, params, attempt);
  open.onClose(() => connection.close(opened));
  return opened;
}
