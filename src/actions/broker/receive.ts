import type { Dict } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { OpenStep } from "../../action/open_step.ts";
import { excerpt, Intake, receivedBefore } from "../../action/received.ts";
import { StepError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { BODY_LIMIT } from "../../base/value/byte_size.ts";
import { goodbye } from "./connection.ts";

/** Until when a step receives. */
interface Until {
  readonly until?: string | undefined;
  readonly max_messages?: number | undefined;
}

/** Who gets the messages of a subscription. */
export interface Taker {
  /** Whether it needs no more. */
  readonly isDone?: boolean;
  /**
   * Takes a message of so many bytes; false if it needs no more. `acknowledge` is called once it is
   * not to come again.
   */
  take(message: Dict, bytes: number, acknowledge?: () => void | Promise<void>): boolean;
  /** No more can come. */
  fail(error: unknown): void;
}

/** Ends what was begun. */
export type End = () => void | Promise<void>;

/** Has messages come to who takes them, from a source. */
export interface Subscription {
  /** Where they come from, for messages: `topic "orders"`. */
  readonly source: string;
  begin(taker: Taker): Promise<End>;
}

/** Receives the messages that a step waits for. */
export async function receive(
  attempt: ActionAttempt,
  { until, max_messages: max }: Until,
  { source, begin }: Subscription,
) {
  const isMet = until === undefined
    ? undefined
    : await attempt.context.readCondition("until", until);
  const inbox = new Inbox(attempt, source, isMet, max ?? (isMet ? Infinity : 1));
  const { clock } = attempt.context.host;
  const began = clock.ticks();
  const end = await begin(inbox);
  const subscribed = clock.ticks();
  try {
    await inbox.received();
  } finally {
    await goodbye(end());
  }
  return {
    res: { ...inbox.soFar },
    brief: `${inbox.soFar.messages.length} received`,
    traffic: { sent: 0, received: inbox.bytes },
    phases: { subscribe: subscribed - began, wait: clock.ticks() - subscribed },
  };
}

/** Opens a subscription that later steps receive from. */
export async function stayOpen(open: OpenStep, { begin }: Subscription) {
  const end = await begin({
    take(message, bytes, acknowledge) {
      open.add(message, bytes, acknowledge);
      return true;
    },
    fail: (error) => open.end(error instanceof Error ? error.message : String(error)),
  });
  open.onClose(() => goodbye(end()));
  return { res: { messages: [], message: null }, brief: "subscribed" };
}

/** The message that a step of the job received last, where `reply: true` answers one. */
export function messageToAnswer({ context }: ActionAttempt): Dict {
  const { last } = receivedBefore(context);
  if (last) return last;
  throw new StepError(
    "there is no message to answer",
    'a step with "subscribe" or "uses: receive" must have received one in this job',
    { parameter: "reply" },
  );
}

/** The messages that a step receives, until it has those that it waits for. */
class Inbox implements Taker {
  /** Whether there are enough. */
  isDone = false;
  /** How many bytes came. */
  bytes = 0;
  /** Why the condition has no value, which is not a failure of the connection. */
  #fault: unknown;
  readonly #messages: Dict[] = [];
  readonly #acknowledged: Promise<void>[] = [];
  readonly #intake: Intake;
  readonly #done = Promise.withResolvers<void>();

  constructor(
    readonly attempt: ActionAttempt,
    /** Where they come from, for messages: `topic "orders"`. */
    readonly source: string,
    readonly isMet: ((names: Dict) => boolean) | undefined,
    readonly max: number,
  ) {
    this.#intake = new Intake(BODY_LIMIT, `${source} sent more than ${BODY_LIMIT} bytes`);
    this.#done.promise.catch(() => {});
  }

  /** The fields of `res` about messages. */
  get soFar(): { readonly messages: readonly Dict[]; readonly message: Dict | null } {
    return { messages: this.#messages, message: this.#messages.at(-1) ?? null };
  }

  take(message: Dict, bytes: number, acknowledge?: () => void | Promise<void>): boolean {
    if (this.isDone) return false;
    const acknowledged = acknowledge?.();
    if (acknowledged) {
      acknowledged.catch(() => {});
      this.#acknowledged.push(acknowledged);
    }
    try {
      this.bytes += bytes;
      this.#intake.add(bytes);
      this.#messages.push(message);
      const isMet = this.isMet?.({ message, res: this.soFar });
      if (!isMet && this.#messages.length < this.max) return true;
      if (isMet === false) {
        const text =
          `${this.max} came from ${this.source} before "until" was true: ${this.#came()}`;
        throw new StepError(text, undefined, { decided: false });
      }
    } catch (error) {
      this.#fault = error;
    }
    this.#end(this.#done.resolve);
    return true;
  }

  fail(error: unknown): void {
    this.#end(() => this.#done.reject(error));
  }

  /** Waits until all are there. */
  async received(): Promise<void> {
    const { attempt, isMet, max, source } = this;
    const wanted = isMet ? '"until" to be true' : countOf(max, "message");
    try {
      await attempt.during(
        () => `waiting for ${wanted} from ${source}: ${this.#came()}`,
        this.#done.promise,
        `cannot receive from ${source}`,
      );
      const acknowledged = Promise.all(this.#acknowledged);
      await attempt.during(`acknowledging what came from ${source}`, acknowledged);
      if (this.#fault !== undefined) throw this.#fault;
      receivedBefore(attempt.context).last = this.#messages.at(-1);
    } catch (error) {
      this.isDone = true;
      if (!(error instanceof StepError)) throw error;
      throw new StepError(error.message, error.hint, { res: this.soFar, ...error.details });
    }
  }

  #end(settle: () => void): void {
    this.isDone = true;
    settle();
  }

  #came(): string {
    const last = this.#messages.at(-1);
    if (!last) return "no message came";
    const shown = excerpt(JSON.stringify(last), this.attempt.context.secrets);
    return `${countOf(this.#messages.length, "message")} came, the last is ${shown}`;
  }
}
