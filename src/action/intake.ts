import { StepError } from "../base/errors.ts";

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
