import type { RunEvent } from "../run/event.ts";

/** Events that are added before they are read. */
export class EventQueue {
  #events: RunEvent[] = [];
  #failure: { readonly error: unknown } | undefined;
  #isOver = false;
  #wake = () => {};

  /** Has an event read after those that are there. */
  add(event: RunEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  /** Ends the reading after the events that are there. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** The same, by an error. */
  fail(error: unknown): void {
    this.#failure = { error };
    this.end();
  }

  /** Gives the events as they come. */
  async *read(): AsyncGenerator<RunEvent> {
    for (;;) {
      const events = this.#events;
      this.#events = [];
      yield* events;
      if (this.#events.length > 0) continue;
      if (this.#failure) throw this.#failure.error;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}
