import { StepError } from "../base/errors.ts";
import { findExchangedSecrets } from "../secrets/find_secrets.ts";
import { LONGEST_SECRET } from "../secrets/secrets.ts";
import type { ActionContext, Dict, SecretSink } from "./action.ts";

/** The memory that a message takes besides its content, in bytes. */
const MESSAGE_COST = 128;

/** Milliseconds of reading after which timers and signals get a turn. */
const TURN = 20;

/**
 * Bounds what a step receives: the memory that its messages take, and the time for which reading
 * them keeps the thread from everything else.
 */
export class Intake {
  #size = 0;
  #turnBegan = performance.now();

  /** `failure` is the message once more than `max` bytes came. */
  constructor(readonly max: number, readonly failure: string) {}

  /** Counts a message of that many bytes. Throws `StepError` when it is one too many. */
  add(bytes: number): void {
    this.#size += bytes + MESSAGE_COST;
    if (this.#size > this.max) throw new StepError(this.failure);
  }

  /** Whether something else should have a turn: see `rest`. */
  get isDue(): boolean {
    return performance.now() - this.#turnBegan > TURN;
  }

  /** Gives timers and signals a turn. */
  async rest(): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve));
    this.#turnBegan = performance.now();
  }
}

/** What the steps of a job have received. */
class Received {
  /** The last message, which a step may answer. */
  last: Dict | undefined;
}

/** What the steps of a job have received so far, of a load job those of the same user. */
export function receivedBefore(
  { scope, identity }: Pick<ActionContext, "scope" | "identity">,
): Received {
  return scope.job.resource(`received messages ${identity?.user ?? ""}`, () => new Received());
}

/** The length of the excerpt of received data in an error. */
const LONGEST = 200;

/**
 * The beginning of a text that was received, for an error. Its secrets are masked first: what is
 * left of one that was cut in two would not be recognized later.
 */
export function excerpt(text: string, secrets: SecretSink, longest = LONGEST): string {
  if (text.length <= longest) return text;
  const near = text.slice(0, longest + LONGEST_SECRET);
  findExchangedSecrets({ near }, (secret, shortest) => secrets.add(secret, shortest));
  return `${secrets.mask(near, 0, longest).toWellFormed()}…`;
}
