import type { Buffer as Packet } from "node:buffer";
import { type ConnectionSettings, demandAccess } from "../connection/connection.ts";
import { proxyAuthorization } from "../connection/proxy.ts";
import { type ContentStream, isStream } from "../request/body.ts";
import { isSafe } from "../request/http_syntax.ts";
import { type Headers, type HttpRequest, wireValue } from "../request/read_request.ts";
import type {
  ConnectionTarget,
  ConnectionUser,
  HttpConnection,
  ResponseHandler,
} from "./http_connection.ts";
import {
  type BodySource,
  ClosedEarly,
  findHeader,
  type HttpExchange,
  MalformedResponse,
  NO_OPENING,
  type Phase,
  ProtocolChanged,
  type RawHead,
  type RawResponse,
  ResponseBody,
  type SavedBody,
  SendFailure,
  type SendOptions,
} from "./model.ts";
import type { Pool, Waiter } from "./pool.ts";

const { Buffer } = await import("node:buffer");

/** The most responses 1xx before a response. */
const MAX_INFORMATIONAL = 32;

/** Bytes of a malformed response that are looked at to explain it. */
const PACKET = 64;

/** A request under way: it waits for a connection, is sent, and receives its response. */
export class Http1Exchange
  implements HttpExchange, Waiter, ConnectionUser, ResponseHandler, BodySource {
  readonly reply: Promise<RawResponse>;
  readonly isRepeatable: boolean;
  /** Whether it is sent for the second time, over a new connection. */
  isFresh = false;
  readonly #request: HttpRequest;
  readonly #pool: Pool;
  readonly #prepared: PreparedRequest;
  readonly #options: SendOptions;
  readonly #resolve: (response: RawResponse) => void;
  readonly #reject: (failure: SendFailure) => void;
  #connection: HttpConnection | undefined;
  #head: RawHead | undefined;
  #body: ResponseBody | undefined;
  #trailers: readonly string[] = [];
  /** The destination of the body takes it. */
  #isSaving = false;
  #informational = 0;
  /** Bytes that have come over the connection. */
  #received = 0;
  /** Its time begins when it gets a connection, or one is being opened for it. */
  #dispatched: number | undefined;
  /** When it was sent, had the first byte of its response, and had the last. */
  #sent = 0;
  #answered = 0;
  #ended: number | undefined;
  #opening = NO_OPENING;
  #tls: RawResponse["tls"];
  /** Whether the operating system has taken some of it, and all of it. */
  #isBegun = false;
  #isSent = false;
  #isOver = false;
  /** Where the opening of a connection failed. */
  #failedStage: Phase | undefined;
  #onDrain: (() => void) | undefined;

  constructor(request: HttpRequest, pool: Pool, options: SendOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
    this.reply = promise;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#request = request;
    this.#pool = pool;
    this.#options = options;
    this.#prepared = prepare(request, options.connection, pool);
    this.isRepeatable = isSafe(request.method);
    try {
      demandAccess(request, options.connection);
      pool.acquire(this);
    } catch (error) {
      this.abort(error);
    }
  }

  get target(): ConnectionTarget {
    return this.#prepared.target;
  }

  abort(reason: unknown): void {
    // All that is wanted of the body has come.
    if (this.#isOver || this.#isSaving && this.#options.sink?.isDone) return;
    const failure = new SendFailure(
      reason,
      this.#request,
      this.#phase,
      this.#body?.received ?? 0,
      this.#prepared.connection,
    );
    const connection = this.#connection;
    this.#leave();
    this.#isOver = true;
    this.#body?.fail(failure);
    if (connection) connection.destroy();
    else this.#pool.cancel(this);
    this.#reject(failure);
  }

  waiting(): void {
    if (this.#dispatched === undefined) this.#options.onWait();
  }

  dialing(): void {
    if (this.#dispatched !== undefined) return;
    this.#dispatched = this.#options.clock.ticks();
    this.#options.onDispatch();
  }

  take(connection: HttpConnection): void {
    const { hold } = this.#options;
    const startIfOpen = () => {
      if (this.#isOver) this.#pool.release(connection);
      else if (connection.isOpen) this.#start(connection);
      else this.#pool.acquire(this);
    };
    if (hold) {
      this.dialing();
      return hold(startIfOpen);
    }
    if (this.isRepeatable || connection.uses === 0) return this.#start(connection);
    this.#pool.whenSettled(connection, startIfOpen);
  }

  refuse(error: unknown, stage: Phase): void {
    this.#failedStage = stage;
    this.abort(error);
  }

  receive(bytes: Packet, length: number): void {
    if (this.#received === 0) this.#answered = this.#options.clock.ticks();
    this.#received += length;
    const { parser } = this.#connection!;
    let used: number;
    try {
      used = parser.execute(bytes, length);
    } catch (error) {
      if (error instanceof MalformedResponse) {
        error.packet = Uint8Array.from(bytes.subarray(0, Math.min(length, PACKET)));
      }
      return this.abort(error);
    }
    if (this.#ended === undefined) return;
    if (used < length) {
      const { method, url } = this.#request;
      this.#options.log(
        `${
          length - used
        } bytes came after the response to ${method} ${url}: its connection is not used again`,
      );
    }
    this.#complete(used === length);
  }

  ended(): void {
    const { parser } = this.#connection!;
    const mayBeCut = parser.endsWithConnection && this.#tls !== undefined;
    try {
      parser.finish();
    } catch (error) {
      return this.closed(error);
    }
    if (mayBeCut && !this.#pool.warned.has(this.target.key)) {
      this.#pool.warned.add(this.target.key);
      this.#options.warn(
        `the body of ${this.#request.url} has no length: a connection that was cut looks like its end`,
      );
    }
    this.#complete(false);
  }

  closed(error: unknown): void {
    const connection = this.#connection;
    if (this.#isOver || !connection) return;
    const isStale = connection.uses > 1 && this.#received === 0 && !this.isFresh;
    if (isStale) this.#pool.distrust(connection, connection.uses - 1, this.#sent);
    if (!isStale || !this.isRepeatable && this.#isBegun) {
      return this.abort(error ?? new ClosedEarly());
    }
    this.isFresh = true;
    this.#isSent = this.#isBegun = false;
    this.#leave();
    connection.destroy();
    const { method, url } = this.#request;
    this.#options.log(
      `${method} ${url} is sent again: the server closed the connection without an answer`,
    );
    this.#pool.acquire(this);
  }

  drained(): void {
    const resume = this.#onDrain;
    this.#onDrain = undefined;
    resume?.();
  }

  onHead(head: RawHead): void {
    if (head.code === 101) throw new ProtocolChanged();
    if (head.code < 200) {
      if (++this.#informational <= MAX_INFORMATIONAL) return;
      throw new MalformedResponse("HPE_INVALID_STATUS", "there are too many responses 1xx");
    }
    this.#head = head;
    const { parser } = this.#connection!;
    const { sink, maxBody } = this.#options;
    const isSaved = sink !== undefined && !parser.isBodiless &&
      sink.takes(head.code, head.rawHeaders);
    this.#body = new ResponseBody(this, parser.length, isSaved ? undefined : maxBody);
    if (!isSaved) return;
    this.#isSaving = true;
    const encoding = findHeader(head.rawHeaders, "content-encoding") ?? "";
    sink.save(this.#body, encoding).then(
      (saved) => this.#finish(saved),
      (error) => this.abort(error),
    );
  }

  onBody(bytes: Packet, from: number, to: number): void {
    this.#body!.append(bytes, from, to);
  }

  onEnd(trailers: readonly string[]): void {
    this.#trailers = trailers;
    this.#ended = this.#options.clock.ticks();
  }

  pause(): void {
    this.#connection?.pause();
  }

  resume(): void {
    this.#connection?.resume();
  }

  cancelBody(): void {
    const connection = this.#connection;
    this.#leave();
    connection?.destroy();
  }

  get #phase(): Phase {
    if (this.#head) return "receiving";
    if (this.#connection) return "waiting";
    return this.#failedStage ?? this.#pool.stageOf(this);
  }

  #start(connection: HttpConnection): void {
    this.dialing();
    this.#connection = connection;
    connection.use(this);
    this.#tls = connection.tls;
    this.#sent = this.#options.clock.ticks();
    this.#opening = NO_OPENING;
    if (connection.uses === 1) {
      this.#opening = connection.opening(this.#dispatched!);
    }
    connection.parser.start(this, this.#request.method);
    this.#send(connection);
  }

  #send({ socket }: HttpConnection): void {
    const { bytes, body } = this.#prepared;
    if (body === undefined && this.isRepeatable) {
      // A callback for each request would cost more than it tells.
      socket.write(bytes);
      this.#isSent = true;
      return;
    }
    socket.write(bytes, (error) => this.#isBegun ||= !error);
    if (body === undefined) this.#isSent = true;
    else this.#sendBody(this.#connection!, body).catch((error) => this.abort(error));
  }

  async #sendBody(connection: HttpConnection, body: Uint8Array | ContentStream): Promise<void> {
    const { socket } = connection;
    const isSent = (error?: Error | null) => {
      if (!error && this.#connection === connection) this.#isSent = true;
    };
    if (!isStream(body)) return void socket.write(body, isSent);
    const { isChunked } = this.#prepared;
    for await (const chunk of body.open()) {
      // The server may have answered early, and wants no more of it.
      if (this.#connection !== connection) return;
      if (chunk.length === 0) continue;
      if (!connection.write(chunk, isChunked)) {
        await new Promise<void>((resume) => this.#onDrain = resume);
      }
    }
    if (this.#connection === connection) socket.write(isChunked ? "0\r\n\r\n" : "", isSent);
  }

  /** All of the response has come; `isWhole` if nothing came after it. */
  #complete(isWhole: boolean): void {
    const connection = this.#connection!;
    const isKept = isWhole && connection.parser.keepAlive && this.#prepared.isKept && this.#isSent;
    this.#leave();
    this.#body!.complete();
    if (isKept) this.#pool.release(connection);
    else connection.destroy();
    if (!this.#isSaving) this.#finish(undefined);
  }

  #finish(saved: SavedBody | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { bytes, body } = this.#prepared;
    const ended = this.#ended ?? this.#options.clock.ticks();
    this.#resolve({
      ...this.#head!,
      rawTrailers: this.#trailers,
      body: this.#body!.take(),
      tls: this.#tls,
      phases: {
        ...this.#opening,
        first_byte: Math.max(0, this.#answered - this.#sent),
        download: ended - this.#answered,
      },
      sent: bytes.length + (body instanceof Uint8Array ? body.length : 0),
      received: this.#received,
      // Of others, nothing was sent before.
      isResent: this.isFresh && this.isRepeatable,
      saved,
    });
  }

  /** Lets go of the connection. */
  #leave(): void {
    this.#connection?.use(undefined);
    this.#connection = undefined;
    // Ends a body that is being sent.
    this.drained();
  }
}

/** A body up to this length is sent in one piece with the head. */
const SMALL_BODY = 65_536;

/** A request as it is sent over HTTP/1.1. */
class PreparedRequest {
  constructor(
    readonly target: ConnectionTarget,
    readonly connection: ConnectionSettings,
    /** The head, with a small body. */
    readonly bytes: Uint8Array,
    /** A body that is sent after the head. */
    readonly body: Uint8Array | ContentStream | undefined,
    readonly isChunked: boolean,
    /** Whether the connection can be used again. */
    readonly isKept: boolean,
  ) {}
}

/** A step without templates sends the same request in every round. */
const preparedRequests = new WeakMap<HttpRequest, PreparedRequest>();

/** The bytes of a request, which are made once. */
function prepare(
  request: HttpRequest,
  connection: ConnectionSettings,
  pool: Pool,
): PreparedRequest {
  let made = preparedRequests.get(request);
  if (made?.connection !== connection) {
    preparedRequests.set(request, made = makePrepared(request, connection, pool));
  }
  return made;
}

function makePrepared(
  request: HttpRequest,
  connection: ConnectionSettings,
  pool: Pool,
): PreparedRequest {
  const { method, url, headers, body } = request;
  const target = pool.targetOf(url, connection);
  const { route } = target;
  const isForward = route.kind === "forward";
  const access = isForward ? proxyAuthorization(route.proxy) : undefined;
  const wire = [
    ...wireHeaders(headers),
    ...access === undefined ? [] : ["Proxy-Authorization", access],
  ];
  let head = `${method} ${isForward ? url.href : url.pathname + url.search} HTTP/1.1\r\n`;
  for (let at = 0; at < wire.length; at += 2) head += `${wire[at]}: ${wire[at + 1]}\r\n`;
  const content = typeof body === "string" ? Buffer.from(body) : body;
  const isJoined = content instanceof Uint8Array && content.length <= SMALL_BODY;
  const bytes = Buffer.from(`${head}\r\n`, "latin1");
  return new PreparedRequest(
    target,
    connection,
    isJoined ? Buffer.concat([bytes, content]) : bytes,
    isJoined ? undefined : content,
    headers["Transfer-Encoding"] !== undefined,
    !/\bclose\b/i.test(findHeader(wire, "connection") ?? ""),
  );
}

/** Names and values in turn, as they are sent: a character for each byte. */
function wireHeaders(headers: Headers): string[] {
  const wire: string[] = [];
  for (const name in headers) {
    for (const value of [headers[name]!].flat()) wire.push(name, wireValue(name, value));
  }
  if (headers.Connection === undefined) wire.push("Connection", "keep-alive");
  return wire;
}
