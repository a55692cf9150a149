import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../../host/host.ts";
import { demand, demandCertificates } from "../../../host/deno_permissions.ts";
import type { Connection } from "../connection/connection.ts";
import { authorityOf } from "../../../action/net/endpoint.ts";
import { firstHop, type Route, routeOf } from "../connection/route.ts";
import type { Dict } from "../../../action/action.ts";
import { tlsRecord } from "../../../action/tls/certificate_record.ts";
import { isSafe } from "../request/http_syntax.ts";
import type { HttpRequest } from "../request/read_request.ts";
import type { BodySink, SavedBody } from "../response/save_body.ts";
import { isStream } from "../request/request_body.ts";
import { addChunk, BodyTooLarge, counted } from "./body_chunks.ts";
import { sendContent } from "./send_content.ts";
import { measure, type Phases, takeMarks } from "./phases.ts";
import type { Sockets } from "./sockets.ts";
import { wireOptions } from "../request/wire_options.ts";

const { ClientRequest } = await import("node:http");

/** A response as it came, its body not decoded. */
export interface RawResponse {
  readonly code: number;
  /** The text of the status line after the code, a character for each byte. */
  readonly reason: string;
  /** Names and values in turn, a character for each byte. */
  readonly rawHeaders: readonly string[];
  /** The same of the trailers after the body. */
  readonly rawTrailers: readonly string[];
  readonly chunks: readonly Uint8Array[];
  /** The version of HTTP: `1.1`. */
  readonly version: string;
  /** The details of the TLS session, if there was one. */
  readonly tls?: Dict;
  readonly phases: Phases;
  /** The outcome of saving a body to a file. */
  readonly saved?: SavedBody;
}

/** The progress of an exchange. */
export type Phase = "connecting" | "securing" | "waiting" | "receiving";

/** Why no reply came, and how far the exchange had progressed. */
export class SendFailure extends Error {
  constructor(
    override readonly cause: unknown,
    readonly request: HttpRequest,
    readonly phase: Phase,
    /** Bytes of the body that had come. */
    readonly received: number,
    /** Whether the socket had served a request before and was closed without a byte of answer. */
    readonly isStale: boolean,
    readonly connection: Connection,
  ) {
    super("no reply", { cause });
  }
}

/** The connection was closed, and nothing else is known. */
export class ClosedEarly extends Error {}

/** The server agreed to go on in another protocol. */
export class ProtocolChanged extends Error {}

/** The status code of the response is not one of HTTP. */
export class InvalidStatus extends Error {
  constructor(readonly code: string) {
    super(`invalid status code ${code}`);
  }
}

/** Settings for sending a request. */
export interface SendOptions {
  readonly sockets: Sockets;
  readonly connection: Connection;
  readonly clock: Clock;
  /** The largest body that is kept in memory, in bytes. */
  readonly maxBody: number;
  /** The destination of the body. */
  readonly sink: BodySink | undefined;
  /** Whether it must go over a new connection. */
  readonly fresh: boolean;
  /** Called when the request has got its socket. */
  readonly onDispatch: () => void;
}

/** Sends a request; the response is collected in the exchange. */
export function send(request: HttpRequest, options: SendOptions): HttpExchange {
  return new HttpExchange(request, options);
}

/** A request under way. */
export class HttpExchange {
  /** Rejects with `SendFailure` alone. */
  readonly reply: Promise<RawResponse>;
  readonly #request: HttpRequest;
  readonly #connection: Connection;
  readonly #onDispatch: () => void;
  readonly #maxBody: number;
  readonly #sink: BodySink | undefined;
  readonly #resolve: (reply: RawResponse) => void;
  readonly #reject: (failure: SendFailure) => void;
  #outgoing: Outgoing | undefined;
  #incoming: IncomingMessage | undefined;
  #socket: Socket | undefined;
  #dial: AbortController | undefined;
  #bytesBefore = 0;
  #isOver = false;
  readonly #clock: Clock;
  #dispatched: number | undefined;
  #sent = 0;
  #answered = 0;
  #tls: Dict | undefined;
  #isSaving = false;
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(request: HttpRequest, options: SendOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
    this.reply = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#request = request;
    this.#connection = options.connection;
    this.#clock = options.clock;
    this.#onDispatch = options.onDispatch;
    this.#maxBody = options.maxBody;
    this.#sink = options.sink;
    try {
      this.#outgoing = open(request, options, this);
    } catch (error) {
      this.abort(error);
    }
  }

  /** Ends it now, socket and all. */
  abort(reason: unknown): void {
    if (this.#isOver || this.#isSaving && this.#sink?.isDone) return;
    this.#isOver = true;
    const isStale = this.#outgoing?.reusedSocket === true && !this.#incoming &&
      this.#socket !== undefined && this.#socket.bytesRead === this.#bytesBefore;
    this.#reject(
      new SendFailure(reason, this.#request, this.#phase, this.#size, isStale, this.#connection),
    );
    this.#dial?.abort();
    this.#outgoing?.destroy();
  }

  /** A tunnel is being opened for it. */
  dialing(dial: AbortController): void {
    this.#dial = dial;
    this.#dispatched = this.#clock.ticks();
    this.#onDispatch();
  }

  /** The request has got its socket. */
  dispatched(socket: Socket): void {
    this.#socket = socket;
    this.#sent = this.#clock.ticks();
    this.#dispatched ??= this.#sent;
    this.#bytesBefore = socket.bytesRead;
    this.#onDispatch();
  }

  /** The connection failed, or what came over it is not HTTP. */
  fail(error: unknown): void {
    const response = this.#incoming;
    // Some servers send a body where none is allowed. It is not part of the response.
    if (response && this.#isBodiless(response) && isParserError(error)) {
      this.#finish(response);
      this.#outgoing?.destroy();
    } else {
      this.abort(error);
    }
  }

  /** The head of the response has come. */
  receive(response: IncomingMessage): void {
    this.#incoming = response;
    this.#answered = this.#clock.ticks();
    // Later it may be closed.
    this.#tls = this.#socket && secureFacts(this.#socket, this.#clock);
    const { rawHeaders, statusCode = 0 } = response;
    if (statusCode < 100) {
      return this.abort(new InvalidStatus(String(statusCode).padStart(3, "0")));
    }
    const sink = this.#sink?.takes(statusCode, rawHeaders) && !this.#isBodiless(response)
      ? this.#sink
      : undefined;
    if (
      !sink && Number(findHeader(rawHeaders, "content-length")) > this.#maxBody &&
      this.#request.method !== "HEAD"
    ) {
      return this.abort(new BodyTooLarge(this.#maxBody));
    }
    // By the time that the next request comes, the server would be closing the connection.
    const kept = findHeader(rawHeaders, "keep-alive");
    if (kept !== undefined && /^timeout=[01]\b/.test(kept)) this.#outgoing!.shouldKeepAlive = false;
    response.on("error", (error) => this.abort(error));
    if (sink) return this.#save(response, sink);
    response.on("data", (chunk: Uint8Array) => this.#collect(chunk));
    response.on("end", () => this.#finish(response));
  }

  #save(response: IncomingMessage, sink: BodySink): void {
    const encoding = findHeader(response.rawHeaders, "content-encoding") ?? "";
    this.#isSaving = true;
    // The parser copies what it needs of a packet.
    const socket = this.#socket?.on("data", release);
    sink.save(counted(response, (length) => this.#size += length), encoding).finally(
      () => socket?.off("data", release),
    ).then(
      (saved) => this.#finish(response, saved),
      (error) => this.abort(error),
    );
  }

  /** Nothing more will come. */
  closed(): void {
    // All of it has come, and is still being written.
    if (this.#isSaving && this.#incoming?.complete) return;
    if (!this.#isOver) this.abort(new ClosedEarly());
  }

  get #phase(): Phase {
    if (this.#incoming) return "receiving";
    if (!this.#socket || this.#socket.connecting) return "connecting";
    return "secureConnecting" in this.#socket && this.#socket.secureConnecting
      ? "securing"
      : "waiting";
  }

  #isBodiless({ statusCode }: IncomingMessage): boolean {
    return this.#request.method === "HEAD" || statusCode === 204 || statusCode === 304;
  }

  #collect(chunk: Uint8Array): void {
    this.#size += chunk.length;
    if (this.#size > this.#maxBody) this.abort(new BodyTooLarge(this.#maxBody));
    else addChunk(this.#chunks, chunk);
  }

  #finish(response: IncomingMessage, saved?: SavedBody): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { statusCode = 0, statusMessage = "", rawHeaders, rawTrailers } = response;
    const chunks = this.#chunks;
    const tls = this.#tls;
    const phases = measure(takeMarks(this.#socket), {
      from: this.#dispatched,
      sent: this.#sent,
      answered: this.#answered,
      ended: this.#clock.ticks(),
    });
    this.#resolve({
      ...{ code: statusCode, reason: statusMessage, rawHeaders, rawTrailers, chunks, phases },
      version: response.httpVersion,
      ...tls ? { tls } : {},
      ...saved ? { saved } : {},
    });
    // A server that answers early wants no more of the body, and may never read it.
    if (!this.#outgoing?.writableFinished) this.#outgoing?.destroy();
  }
}

/** Gives back the memory of a packet at once: waiting to be collected are hundreds of megabytes. */
function release({ buffer, length }: Uint8Array): void {
  // Others may have the rest of it.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}

/** The value of a header among names and values in turn; the name is in lower case. */
export function findHeader(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const other = rawHeaders[at]!;
    if (other.length === name.length && other.toLowerCase() === name) return rawHeaders[at + 1];
  }
  return undefined;
}

/** A request of node's that knows its exchange, so that all of them have the same listeners. */
class Outgoing extends ClientRequest {
  exchange: HttpExchange | undefined;
}

function onSocket(this: Outgoing, socket: Socket): void {
  this.exchange?.dispatched(socket);
}

function onDial(this: Outgoing, dial: AbortController): void {
  this.exchange?.dialing(dial);
}

function onResponse(this: Outgoing, response: IncomingMessage): void {
  this.exchange?.receive(response);
}

function onError(this: Outgoing, error: unknown): void {
  this.exchange?.fail(error);
}

function isParserError(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("HPE_");
}

function onClose(this: Outgoing): void {
  this.exchange?.closed();
}

function onUpgrade(this: Outgoing): void {
  this.exchange?.abort(new ProtocolChanged());
}

function open(request: HttpRequest, options: SendOptions, exchange: HttpExchange): Outgoing {
  demandAccess(request, options.connection);
  // A request that may not be sent twice needs a socket that the server cannot be closing.
  const isNew = options.fresh || !isSafe(request.method);
  const outgoing = new Outgoing(wireOptions(request, options, isNew));
  outgoing.exchange = exchange;
  // Deno would send a request again by itself when a socket that was used before fails, even
  // after the request was destroyed. This field of its own marks that as done.
  (outgoing as { _retrying?: boolean })._retrying = true;
  // Without this the socket would be kept unless the server closes it, too.
  if (isNew) outgoing.shouldKeepAlive = false;
  outgoing.on("socket", onSocket);
  outgoing.on("dial", onDial);
  outgoing.on("response", onResponse);
  outgoing.on("error", onError);
  outgoing.on("close", onClose);
  outgoing.on("upgrade", onUpgrade);
  const { body } = request;
  if (isStream(body)) sendContent(body, outgoing).catch((error) => exchange.abort(error));
  else outgoing.end(body);
  return outgoing;
}

/** Throws where Deno would ask for what a connection needs. */
export function demandAccess({ url }: HttpRequest, connection: Connection): void {
  demandRoute(routeOf(url, connection));
  if (url.protocol === "https:") demandCertificates();
}

function demandRoute(route: Route): void {
  const hop = firstHop(route);
  if (hop) return demand({ name: "net", host: authorityOf(hop) });
  if (route.kind !== "unix") return;
  demand({ name: "read", path: route.path });
  demand({ name: "write", path: route.path });
}

/** The facts of each connection, which many responses may share. */
const secured = new WeakMap<Socket, Dict>();

/** The TLS options of a connection; undefined if it does not use TLS. */
export function secureFacts(socket: Socket, clock: Clock): Dict | undefined {
  if (!("encrypted" in socket)) return undefined;
  let facts = secured.get(socket);
  if (!facts) secured.set(socket, facts = tlsRecord(socket as TLSSocket, clock.now()));
  return facts;
}
