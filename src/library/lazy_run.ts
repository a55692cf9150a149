import type { RunEvent } from "../run/event.ts";
import type { Run, RunOptions } from "./types.ts";

/** Carries out a run of the library once it starts, until the signal interrupts it. */
type Runner = (emit: (event: RunEvent) => void, signal: AbortSignal) => Promise<boolean>;

/** Creates a run, which starts at once if there is an `onEvent`. */
export function startRun(runner: Runner, options: RunOptions): Run {
  const running = new LazyRun(runner, options);
  if (options.onEvent) running.begin();
  return running;
}

class LazyRun implements Run {
  readonly #runner: Runner;
  readonly #options: RunOptions;
  readonly #stop = new AbortController();
  #passed: Promise<boolean> | undefined;
  #queue: EventQueue | undefined;
  /** Why the events can no longer be read. */
  #closed: string | undefined;

  constructor(runner: Runner, options: RunOptions) {
    this.#runner = runner;
    this.#options = options;
  }

  get passed(): Promise<boolean> {
    return this.begin();
  }

  begin(): Promise<boolean> {
    if (this.#passed) return this.#passed;
    this.#passed = this.#run();
    // The program may take the promise first and begin its loop right after.
    queueMicrotask(() => this.#closed ??= "begin to read the events no later than the run begins");
    return this.#passed;
  }

  [Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
    if (this.#closed !== undefined) throw new TypeError(this.#closed);
    this.#closed = "the events of a run can be read once";
    const queue = this.#queue = new EventQueue();
    this.begin().then(() => queue.end(), (error) => queue.end({ error }));
    return this.#read(queue);
  }

  async *#read(queue: EventQueue): AsyncGenerator<RunEvent> {
    try {
      yield* queue.read();
    } finally {
      // The run still goes on only if the reader leaves early.
      this.#queue = undefined;
      this.#stop.abort("nobody reads its events any more");
      await this.#passed;
    }
  }

  async #run(): Promise<boolean> {
    const { signal, onEvent } = this.#options;
    const interrupt = () => this.#stop.abort(reasonOf(signal?.reason));
    if (signal?.aborted) interrupt();
    signal?.addEventListener("abort", interrupt);
    const thrown: unknown[] = [];
    const emit = (event: RunEvent) => {
      this.#queue?.add(event);
      if (thrown.length > 0) return;
      try {
        onEvent?.(event);
      } catch (error) {
        thrown.push(error);
        this.#stop.abort("its events cannot be taken any more");
      }
    };
    try {
      const passed = await this.#runner(emit, this.#stop.signal);
      // Reported here, since an error thrown in a step would fail that step.
      if (thrown.length > 0) throw thrown[0];
      return passed;
    } finally {
      signal?.removeEventListener("abort", interrupt);
    }
  }
}

/** Events that are added before they are read. */
class EventQueue {
  #events: RunEvent[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake = () => {};

  add(event: RunEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  /** Ends the reading after the events that are there, perhaps by an error. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end = end;
    this.#wake();
  }

  async *read(): AsyncGenerator<RunEvent> {
    for (;;) {
      const events = this.#events;
      this.#events = [];
      yield* events;
      if (this.#events.length > 0) continue;
      if (this.#end && "error" in this.#end) throw this.#end.error;
      if (this.#end) return;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
  }
}

/** Why a run was interrupted, as reports show it. */
function reasonOf(reason: unknown): string {
  if (!(reason instanceof Error)) return String(reason);
  // The reasons that signals have by themselves are sentences about the signal.
  if (reason.name === "AbortError") return "interrupted";
  return reason.name === "TimeoutError" ? "timed out" : reason.message;
}
