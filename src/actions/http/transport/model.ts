import type { Dict } from "../../../action/action.ts";
import type { Clock } from "../../../host/host.ts";
import type { Connection } from "../connection/connection.ts";
import type { HttpRequest } from "../request/read_request.ts";
import type { BodyFacts } from "../response/body_facts.ts";

/** Bytes of memory that is not shared. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** The first line and the headers of a response. */
export interface RawHead {
  readonly code: number;
  /** The text of the status line after the code, a character for each byte. */
  readonly reason: string;
  /** Names and values in turn, a character for each byte. */
  readonly rawHeaders: readonly string[];
  /** The version of HTTP: `1.1`. */
  readonly version: string;
}

/** A response as it came, its body not decoded. */
export interface RawResponse extends RawHead {
  /** The fields after a chunked body, like `rawHeaders`. */
  readonly rawTrailers: readonly string[];
  readonly body: Bytes;
  /** The details of the TLS session, if there was one. */
  readonly tls?: Dict | undefined;
  readonly phases: Phases;
  /** The outcome of saving a body to a file. */
  readonly saved?: SavedBody | undefined;
}

/** A body that was saved to a file. */
export interface SavedBody extends BodyFacts {
  readonly filepath: string;
}

/** Where the body of a response goes while it is received. */
export interface BodySink {
  /** Whether it takes the body of a response with that code and these headers. */
  takes(code: number, rawHeaders: readonly string[]): boolean;
  save(
    chunks: AsyncIterable<Uint8Array>,
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

/** The parts of several exchanges together. */
export function addPhases(one: Phases | undefined, other: Phases): Phases {
  if (!one) return other;
  return {
    dns: one.dns + other.dns,
    connect: one.connect + other.connect,
    tls: one.tls + other.tls,
    first_byte: one.first_byte + other.first_byte,
    download: one.download + other.download,
  };
}

/** Settings for sending a request. */
export interface SendOptions {
  readonly connection: Connection;
  readonly clock: Clock;
  /** The largest body that is kept in memory, in bytes. */
  readonly maxBody: number;
  /** The destination of the body. */
  readonly sink?: BodySink | undefined;
  /** Called when the request has a connection, or one is being opened for it. */
  onDispatch(): void;
  /** Called when the request waits for others that connect to the same server. */
  onWait(): void;
  /** Writes a line for `-v`. */
  log(text: string): void;
}

/** A request under way, over whatever version of HTTP. */
export interface Exchange {
  /** Rejects with `SendFailure` alone. */
  readonly reply: Promise<RawResponse>;
  /** Ends it now, and its connection. */
  abort(reason: unknown): void;
}

/** The progress of an exchange. */
export type Phase = "connecting" | "securing" | "waiting" | "receiving";

/** Why there is no response, and how far the exchange had progressed. */
export class SendFailure extends Error {
  constructor(
    override readonly cause: unknown,
    readonly request: HttpRequest,
    readonly phase: Phase,
    /** Bytes of the body that had come. */
    readonly received: number,
    readonly connection: Connection,
  ) {
    super("no response", { cause });
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
  /** The beginning of what the server sent. */
  packet: Uint8Array = new Uint8Array();

  constructor(readonly code: `HPE_${string}`, message: string) {
    super(message);
  }
}

/** A body that is larger than what is kept in memory. */
export class BodyTooLarge extends Error {
  /** `limit` is in bytes. */
  constructor(readonly limit: number) {
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
