import { BodyTooLarge, type Bytes } from "./model.ts";

const NOTHING: Bytes = new Uint8Array(0);

/** Reading stops while more bytes than these have come and are not taken. */
const HIGH_WATER = 256 * 1024;

/** Holds up and ends the connection that a body comes from. */
export interface BodySource {
  pause(): void;
  resume(): void;
  /** No more of the body is wanted. */
  cancelBody(): void;
}

/** The body of a response: taken as a whole when it is complete, or in parts as it comes. */
export class ResponseBody implements AsyncIterable<Bytes> {
  /** Bytes that have come. */
  received = 0;
  readonly #source: BodySource;
  /** The most bytes that are kept; undefined for a body that is taken in parts. */
  readonly #limit: number | undefined;
  #store = NOTHING;
  #size = 0;
  /** Bytes that are still to come, if it is known. */
  #expected: number | undefined;
  #isPaused = false;
  #state: "open" | "complete" | "failed" = "open";
  #error: unknown;
  #wake: (() => void) | undefined;

  /** Throws `BodyTooLarge` where the announced length is above the limit. */
  constructor(source: BodySource, expected: number | undefined, limit: number | undefined) {
    if (limit !== undefined && (expected ?? 0) > limit) throw new BodyTooLarge(limit);
    this.#source = source;
    this.#expected = expected;
    this.#limit = limit;
  }

  /** Everything that has come and was not taken yet. */
  take(): Bytes {
    const store = this.#store;
    const bytes = this.#size === store.length ? store : store.subarray(0, this.#size);
    this.#store = NOTHING;
    this.#size = 0;
    return bytes;
  }

  /** Gives it in parts; no more is received than is taken. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Bytes> {
    try {
      while (true) {
        if (this.#size > 0) yield this.take();
        else if (this.#state === "complete") return;
        else if (this.#state === "failed") throw this.#error;
        else await this.#more();
      }
    } finally {
      if (this.#state === "open") this.#source.cancelBody();
    }
  }

  /** Copies bytes that have come. Throws `BodyTooLarge`. */
  append(bytes: Uint8Array, from: number, to: number): void {
    const length = to - from;
    this.received += length;
    if (this.#expected !== undefined) this.#expected -= length;
    if (this.#limit !== undefined && this.received > this.#limit) {
      throw new BodyTooLarge(this.#limit);
    }
    const size = this.#size + length;
    if (size > this.#store.length) this.#grow(size);
    // Not `subarray`: that of a Buffer takes longer than the copy.
    const part = new Uint8Array(bytes.buffer, bytes.byteOffset + from, length);
    this.#store.set(part, this.#size);
    this.#size = size;
    if (this.#limit !== undefined) return;
    if (size >= HIGH_WATER && !this.#isPaused) {
      this.#isPaused = true;
      this.#source.pause();
    }
    this.#notify();
  }

  /** It is complete. */
  complete(): void {
    if (this.#state === "open") this.#state = "complete";
    this.#notify();
  }

  /** No more will come. */
  fail(error: unknown): void {
    if (this.#state !== "open") return;
    this.#state = "failed";
    this.#error = error;
    this.#notify();
  }

  #more(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    // A TLS connection hands over at once what it has decrypted.
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#source.resume();
    }
    return promise;
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Makes room for what is still to come, as far as that is known and kept, or for twice as much. */
  #grow(size: number): void {
    const room = Math.max(this.#limit ?? HIGH_WATER, 2 * size);
    const store = new Uint8Array(Math.min(size + (this.#expected ?? size), room));
    if (this.#size > 0) store.set(this.#store.subarray(0, this.#size));
    this.#store = store;
  }
}
