import type { Dict } from "../../../action/action.ts";
import type { Clock } from "../../../host/host.ts";
import type { ConnectionSettings } from "../connection/connection.ts";
import type { HttpRequest } from "../request/read_request.ts";

/** Bytes of memory that is not shared. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** The first line and the headers of a response. */
export class RawHead {
  constructor(
    readonly code: number,
    /** The text of the status line after the code, a character for each byte. */
    readonly reason: string,
    /** The version of HTTP: `1.1`. */
    readonly version: string,
    /** Names and values in turn, a character for each byte. */
    readonly rawHeaders: readonly string[],
  ) {}
}

/** A response as it came, its body not decoded. */
export interface RawResponse extends RawHead {
  /** The fields after a chunked body, like `rawHeaders`. */
  readonly rawTrailers: readonly string[];
  readonly body: Bytes;
  /** The details of the TLS session, if there was one. */
  readonly tls?: Dict | undefined;
  readonly phases: Phases;
  /** The bytes of the request and of the response, if known. */
  readonly sent?: number;
  readonly received?: number;
  /** Whether the request was sent twice: the server closed the first connection without an answer. */
  readonly isResent?: boolean;
  /** The outcome of saving a body to a file. */
  readonly saved?: SavedBody | undefined;
}

/** Properties of the bytes of a body, regardless of their type. */
export interface BodyFacts extends Record<"sha256" | "sha1" | "md5", string> {
  readonly size: number;
}

export interface SavedBody extends BodyFacts {
  readonly filepath: string;
}

/** Where the body of a response goes while it is received. */
export interface BodySink {
  /** Whether it takes the body of a response with that code and these headers. */
  takes(code: number, rawHeaders: readonly string[]): boolean;
  save(
    chunks: AsyncIterable<Bytes>,
    contentEncoding: string,
  ): Promise<SavedBody | undefined>;
  /** Whether it needs no more of the body. */
  readonly isDone?: boolean;
  discard(): void;
}

/** The times that the parts of an exchange took, in milliseconds. */
export interface Phases {
  readonly dns: number;
  readonly connect: number;
  readonly tls: number;
  readonly first_byte: number;
  readonly download: number;
}

/** The times that opening a connection took; the first request over it counts them. */
export type Opening = Pick<Phases, "dns" | "connect" | "tls">;

export const NO_OPENING: Opening = { dns: 0, connect: 0, tls: 0 };

/** Settings for sending a request. */
export interface SendOptions {
  readonly connection: ConnectionSettings;
  readonly clock: Clock;
  /** The largest body that is kept in memory, in bytes. */
  readonly maxBody: number;
  readonly sink?: BodySink | undefined;
  /** Calls `send` once the request may be sent over the connection that it has. */
  readonly hold?: ((send: () => void) => void) | undefined;
  /** Called when the request has a connection, or one is being opened for it. */
  onDispatch(): void;
  /** Called when the request waits for others that connect to the same server. */
  onWait(): void;
  /** Writes a line for `-v`. */
  log(text: string): void;
  warn(text: string): void;
}

/** The connections of a run. */
export interface Client {
  /** Sends a request over HTTP/1.1. */
  send(request: HttpRequest, options: SendOptions): HttpExchange;
  /** What else is closed with it: sessions of HTTP/2. */
  readonly others: Set<{ destroy(): void }>;
}

/** A request under way, over whatever version of HTTP. */
export interface HttpExchange {
  /** Rejects with `SendFailure` alone. */
  readonly reply: Promise<RawResponse>;
  /** Ends it now, and its connection. */
  abort(reason: unknown): void;
}

export type Phase = "connecting" | "securing" | "waiting" | "receiving";

/** Why there is no response, and how far the exchange had progressed. */
export class SendFailure extends Error {
  constructor(
    override readonly cause: unknown,
    readonly request: HttpRequest,
    readonly phase: Phase,
    /** Bytes of the body that had come. */
    readonly received: number,
    readonly connection: ConnectionSettings,
  ) {
    super("no response", { cause });
  }
}

export class OpeningFailure extends Error {
  constructor(override readonly cause: unknown, readonly stage: Phase) {
    super("no connection", { cause });
  }
}

/** The server closed the connection before the end of its response. */
export class ClosedEarly extends Error {}

/** The server switched to another protocol. */
export class ProtocolChanged extends Error {}

/** The status code of the response is not one of HTTP. */
export class InvalidStatus extends Error {
  constructor(readonly code: string) {
    super(`invalid status code ${code}`);
  }
}

/** The server sent something that is not HTTP/1.1; the codes are those of the parser llhttp. */
export class MalformedResponse extends Error {
  /** The first bytes that the server sent. */
  packet: Uint8Array = new Uint8Array();

  constructor(readonly code: `HPE_${string}`, message: string) {
    super(message);
  }
}

/** A body that is larger than the limit, in memory or in a file. */
export class BodyTooLarge extends Error {
  /** `limit` is in bytes. */
  constructor(readonly limit: number, readonly isSaved = false) {
    super("body too large");
  }
}

/** The value of a header among names and values in turn; the name is in lower case. */
export function findHeader(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at]!;
    if (other.length === name.length && other.toLowerCase() === name) return rawHeaders[at + 1];
  }
  return undefined;
}

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

  /** Throws `BodyTooLarge` if the announced length is above the limit. */
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
    // A TLS connection passes on all decrypted bytes at once.
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

  /** Makes room for the rest of the body if its length is known, or doubles the space. */
  #grow(size: number): void {
    const room = Math.max(this.#limit ?? HIGH_WATER, 2 * size);
    const store = new Uint8Array(Math.min(size + (this.#expected ?? size), room));
    if (this.#size > 0) store.set(this.#store.subarray(0, this.#size));
    this.#store = store;
  }
}
