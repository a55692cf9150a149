import type { Buffer as Packet } from "node:buffer";
import type { OnReadOpts, Socket, TcpSocketConnectOpts } from "node:net";
import type { ConnectionOptions, TLSSocket } from "node:tls";
import type { Dict } from "../../../action/action.ts";
import type { Endpoint } from "../../../action/net/endpoint.ts";
import { tlsRecord } from "../../../action/tls/certificate_record.ts";
import { secureSocket } from "../../../action/tls/secure_socket.ts";
import type { TlsOptions } from "../../../action/tls/tls_options.ts";
import type { Clock } from "../../../host/host.ts";
import {
  type ConnectionSettings,
  firstHop,
  type Route,
  routeOf,
} from "../connection/connection.ts";
import { openTunnel } from "../connection/proxy.ts";
import { hostOf } from "../request/http_syntax.ts";
import {
  ClosedEarly,
  InvalidStatus,
  MalformedResponse,
  type Opening,
  OpeningFailure,
  type Phase,
  RawHead,
} from "./model.ts";

const { Buffer } = await import("node:buffer");
const { connect } = await import("node:net");
const { Duplex } = await import("node:stream");

let isTlsReady = false;

/** Has the runtime read the authorities of the system, which the first server would wait for. */
function prepareTls(): void {
  if (isTlsReady) return;
  isTlsReady = true;
  const nowhere = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const to = { host: "", socket: nowhere as Socket };
  secureSocket({ rejectUnauthorized: true }, to, () => {}).on("error", () => {}).destroy();
}

/** Where connections lead; requests with the same key share them. */
export interface ConnectionTarget {
  readonly key: string;
  readonly route: Route;
  readonly connection: ConnectionSettings;
  /** The name of the server for TLS; undefined without TLS. */
  readonly serverName: string | undefined;
}

/** Finds the destination of the requests for a URL. */
export function targetOf(url: URL, connection: ConnectionSettings): ConnectionTarget {
  const route = routeOf(url, connection);
  const server = route.kind === "forward" ? "forward" : url.origin;
  const isSecure = url.protocol === "https:";
  return {
    key: `${connection.id} ${server}`,
    route,
    connection,
    // Whatever the header "Host" says, the server has to prove that it is the host of the URL.
    serverName: isSecure ? connection.tls.servername ?? hostOf(url) : undefined,
  };
}

export interface ConnectionUser {
  /** Bytes have come; they are valid during the call only. */
  receive(bytes: Packet, length: number): void;
  /** The server sends no more. */
  ended(): void;
  closed(error: unknown): void;
  drained(): void;
}

/**
 * All connections are read into one buffer: bytes are handled or copied at once. It saves an
 * allocation and the machinery of streams for each packet, a quarter of the CPU time of a request.
 */
const READ_BUFFER = Buffer.allocUnsafeSlow(256 * 1024);

/** The protocols of TLS connections for HTTP/1.1. */
const HTTP1: readonly string[] = ["http/1.1"];

/** The settings for opening a connection. */
interface OpeningOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** The protocols to offer by ALPN, of a socket that something else than HTTP/1.1 reads. */
  readonly protocols?: readonly string[];
}

export class HttpConnection {
  readonly target: ConnectionTarget;
  socket!: Socket;
  readonly parser = new ResponseParser();
  /** The details of the TLS session. */
  tls: Dict | undefined;
  /** The number of requests that it has carried. */
  uses = 0;
  /** When its last response was complete. */
  idleSince = 0;
  isOpen = true;
  /** How far it is while it is being opened. */
  stage: Phase = "connecting";
  /** Called once when it is closed: by the server, while nobody used it, or otherwise. */
  onClosed: ((isDropped: boolean) => void) | undefined;
  readonly #clock: Clock;
  /** When the parts of opening it were done. */
  #began: number;
  #looked: number | undefined;
  #connected: number | undefined;
  #secured: number | undefined;
  #user: ConnectionUser | undefined;
  #isPaused = false;
  #error: unknown;

  constructor(target: ConnectionTarget, clock: Clock) {
    this.target = target;
    this.#clock = clock;
    this.#began = clock.ticks();
  }

  /** Opens it, through a proxy where one is used. */
  async open({ signal, protocols }: Omit<OpeningOptions, "clock"> = {}): Promise<void> {
    const stop = () => this.destroy();
    signal?.addEventListener("abort", stop);
    try {
      signal?.throwIfAborted();
      await this.#connect(protocols);
      signal?.throwIfAborted();
      // With TLS 1.3 a client certificate is refused right after the handshake.
      if (this.socket.destroyed) throw this.#error ?? new ClosedEarly();
      this.stage = "waiting";
    } catch (error) {
      this.destroy();
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  /** Gives it to a request, or to nobody. */
  use(user: ConnectionUser | undefined): void {
    this.#user = user;
    // The last packet of a body may have paused it.
    if (this.#isPaused) this.resume();
    if (user) this.uses++;
    else this.idleSince = this.#clock.ticks();
  }

  /** Writes a part of a body; false if the connection takes no more for now. */
  write(chunk: Uint8Array, isChunked: boolean): boolean {
    const { socket } = this;
    if (!isChunked) return socket.write(chunk);
    socket.cork();
    socket.write(`${chunk.length.toString(16)}\r\n`);
    socket.write(chunk);
    const isReady = socket.write("\r\n");
    socket.uncork();
    return isReady;
  }

  pause(): void {
    this.#isPaused = true;
    this.socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.isOpen) this.socket.resume();
  }

  /** Closes it now. */
  destroy(): void {
    this.socket?.destroy();
    this.#closed(false);
  }

  /** The times that opening it took after `from`, for the request that it was opened for. */
  opening(from: number): Opening {
    const began = Math.max(from, this.#began);
    const looked = Math.max(began, this.#looked ?? began);
    const connected = Math.max(looked, this.#connected ?? looked);
    const secured = Math.max(connected, this.#secured ?? connected);
    return { dns: looked - began, connect: connected - looked, tls: secured - connected };
  }

  async #connect(protocols: readonly string[] | undefined): Promise<void> {
    const { route, connection, serverName } = this.target;
    const server = serverName === undefined
      ? undefined
      : { ...connection.tls, servername: serverName, ALPNProtocols: [...protocols ?? HTTP1] };
    const isProxied = route.kind === "forward" || route.kind === "tunnel";
    const proxy = isProxied && route.proxy.kind === "https"
      // Its authorities are those of the step, and the client certificate is not for it.
      ? {
        servername: route.proxy.host,
        ca: connection.tls.ca,
        rejectUnauthorized: connection.tls.rejectUnauthorized,
      }
      : undefined;
    if (server ?? proxy) prepareTls();
    // Who reads a stream gets one.
    const onread = protocols ? {} : { onread: this.#onRead() };
    if (isProxied && (route.kind === "tunnel" || protocols)) {
      const lower = await this.#openSocket(this.#hop(), proxy, "connecting");
      await openTunnel(lower, route.proxy, route.to);
      // Asking the proxy is a part of connecting.
      this.#connected = this.#clock.ticks();
      if (server) await this.#openSocket({ socket: lower, ...onread }, server, "securing");
    } else {
      await this.#openSocket({ ...this.#hop(), ...onread }, server ?? proxy, "securing");
    }
    if (server ?? proxy) this.#secured = this.#clock.ticks();
    if (!protocols) this.#listen();
  }

  /** Where the first TCP connection leads, and how. */
  #hop(): object {
    const { route, connection: { family, localAddress } } = this.target;
    if (route.kind === "unix") return { path: route.path };
    const { host, port }: Endpoint = firstHop(route)!;
    return { host, port, noDelay: true, keepAlive: true, family, localAddress };
  }

  async #openSocket(
    to: object,
    options: (TlsOptions & ConnectionOptions) | undefined,
    handshake: Phase,
  ): Promise<Socket> {
    const opened = Promise.withResolvers<void>();
    const socket: Socket = options
      ? secureSocket(options, { host: "", ...to }, opened.resolve)
      : connect(to as TcpSocketConnectOpts, opened.resolve);
    this.socket = socket;
    // The first call takes longer, which is not the fault of a server.
    if (!("socket" in to)) this.#began = this.#clock.ticks();
    if (!this.isOpen) socket.destroy();
    // A server may refuse a certificate at any time after the handshake.
    socket.on("error", (error) => this.#error ??= error);
    socket.once("lookup", () => this.#looked ??= this.#clock.ticks());
    socket.once("connect", () => {
      this.#connected ??= this.#clock.ticks();
      if (options) this.stage = handshake;
    });
    if ("socket" in to) this.stage = handshake;
    // It stays: the user of the socket reports a later error, which must not crash the program.
    socket.on("error", opened.reject);
    socket.once("close", () => opened.reject(new ClosedEarly()));
    await opened.promise;
    if (options) this.tls = tlsRecord(socket as TLSSocket, this.#clock.now());
    return socket;
  }

  #onRead(): OnReadOpts {
    const callback = (length: number) => {
      this.#receive(READ_BUFFER, length);
      return true;
    };
    // The types want a plain array.
    return { buffer: READ_BUFFER, callback } as unknown as OnReadOpts;
  }

  #listen(): void {
    const { socket } = this;
    // A socket over another one is not read into our buffer.
    socket.on("data", (chunk: Packet) => this.#receive(chunk, chunk.length));
    socket.on("drain", () => this.#user?.drained());
    socket.on("end", () => {
      if (this.#isReset) this.#error ??= Object.assign(new ClosedEarly(), { code: "ECONNRESET" });
      // An error of TLS comes before the end that it causes.
      if (this.#user && this.#error === undefined) this.#user.ended();
      else this.#drop();
    });
    socket.on("close", () => this.#closed(true));
  }

  /** A socket of TLS ends in the same way when its connection is reset; it has no peer then. */
  get #isReset(): boolean {
    const isNamed = this.target.route.kind !== "unix";
    return this.tls !== undefined && isNamed && this.socket.remoteAddress === undefined;
  }

  #receive(bytes: Packet, length: number): void {
    if (this.#user) this.#user.receive(bytes, length);
    // No request is waiting for it, and the next response may be the rest of it.
    else this.destroy();
  }

  #drop(): void {
    this.#closed(true);
    this.socket.destroy();
  }

  #closed(isByServer: boolean): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    const user = this.#user;
    this.#user = undefined;
    this.onClosed?.(isByServer && !user);
    user?.closed(this.#error);
  }
}

/** A socket that something else than HTTP/1.1 is spoken over: HTTP/2, or a WebSocket. */
export interface OpenedSocket {
  readonly socket: Socket;
  readonly tls: Dict | undefined;
  readonly opening: Opening;
}

/**
 * Opens a dedicated socket to the server of a URL, through a proxy where one is used, and with
 * TLS for `https://`. Throws `OpeningFailure`.
 */
export async function openSocket(
  url: URL,
  connection: ConnectionSettings,
  { clock, ...options }: OpeningOptions,
): Promise<OpenedSocket> {
  const opened = new HttpConnection(targetOf(url, connection), clock);
  try {
    await opened.open(options);
  } catch (error) {
    throw new OpeningFailure(error, opened.stage);
  }
  const { socket, tls } = opened;
  return { socket, tls, opening: opened.opening(0) };
}

/** What a parser finds in the bytes of a response; the bytes are valid during the call only. */
export interface ResponseHandler {
  /** The head of a final response or of one of 1xx, after which one more comes except after 101. */
  onHead(head: RawHead): void;
  onBody(bytes: Packet, from: number, to: number): void;
  onEnd(trailers: readonly string[]): void;
}

/** What comes next. `sized` and `chunk` have a known length, `close` ends with the connection. */
type State =
  | "head"
  | "sized"
  | "close"
  | "size"
  | "extension"
  | "chunk"
  | "after"
  | "trailers"
  | "done";

const CR = 13, LF = 10, SPACE = 32, TAB = 9, SEMICOLON = 59;

/** The most bytes of a head, and of trailers. */
const MAX_HEAD = 16 * 1024;

/** The most bytes of the line before a chunk. */
const MAX_CHUNK_LINE = 4096;

/** More hexadecimal digits would not fit into a number. */
const MAX_SIZE_DIGITS = 13;

const NO_FIELDS: readonly string[] = [];

const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;

/**
 * Parses a response (RFC 9112). What it accepts beyond the standard: lines of the head that end
 * with LF alone, continued lines, and repeated equal lengths.
 */
export class ResponseParser {
  /** Whether the server lets the connection be used again. */
  keepAlive = false;
  /** Whether the request or the code allows no body. */
  isBodiless = false;
  /** Whether it announced a body nevertheless, which some servers send. */
  isDoubtful = false;
  #state: State = "done";
  /** Bytes that are missing of the body or the chunk. */
  #remaining = 0;
  #handler!: ResponseHandler;
  #isHeadRequest = false;
  /** The part of a head that came with earlier packets. */
  #unread: Packet | undefined;
  /** Bytes of the line before a chunk. */
  #lineLength = 0;
  #sawCr = false;

  /** Prepares for the response to a request. */
  start(handler: ResponseHandler, method: string): void {
    this.#handler = handler;
    this.#isHeadRequest = method === "HEAD";
    this.#unread = undefined;
    this.#state = "head";
  }

  /** Bytes of the body that are still to come, if it has a length. */
  get length(): number | undefined {
    return this.#state === "sized" ? this.#remaining : undefined;
  }

  get endsWithConnection(): boolean {
    return this.#state === "close";
  }

  /** Reads bytes, and returns how many of them belong to the response. */
  execute(bytes: Packet, length: number): number {
    let at = 0;
    while (at < length && this.#state !== "done") at = this.#step(bytes, at, length);
    return at;
  }

  /** The server has closed the connection. */
  finish(): void {
    if (this.#state === "close") this.#end();
    else if (this.#state !== "done") throw new ClosedEarly();
  }

  #step(bytes: Packet, at: number, length: number): number {
    switch (this.#state) {
      case "head":
      case "trailers":
        return this.#readFields(bytes, at, length);
      case "sized":
      case "chunk":
      case "close": {
        const to = this.#state === "close" ? length : Math.min(length, at + this.#remaining);
        this.#remaining -= to - at;
        this.#handler.onBody(bytes, at, to);
        if (this.#remaining === 0 && this.#state === "sized") this.#end();
        else if (this.#remaining === 0 && this.#state === "chunk") this.#state = "after";
        return to;
      }
      default:
        return this.#readChunkLine(bytes, at, length);
    }
  }

  /** Reads up to an empty line. */
  #readFields(bytes: Packet, from: number, length: number): number {
    let buffer = bytes, start = from, at = from, end = length;
    if (this.#unread) {
      start = 0;
      // The last unread bytes may begin the empty line.
      at = Math.max(0, this.#unread.length - 2);
      buffer = Buffer.concat([this.#unread, bytes.subarray(from, length)]);
      end = buffer.length;
    }
    const limit = Math.min(end, start + MAX_HEAD);
    let isEmpty = this.#state === "trailers" && at === start;
    for (; at < limit; at++) {
      const byte = buffer[at];
      if (byte !== LF) {
        if (byte !== CR) isEmpty = false;
        continue;
      }
      if (isEmpty) {
        const consumed = length - (end - at - 1);
        const text = buffer.toString("latin1", start, at + 1);
        this.#unread = undefined;
        if (this.#state === "head") this.#readHead(text);
        else this.#end(parseFields(text, 0));
        return consumed;
      }
      isEmpty = true;
    }
    if (this.#state === "head") {
      checkBeginning(buffer.toString("latin1", start, Math.min(end, start + 7)));
    }
    if (end - start >= MAX_HEAD) {
      throw new MalformedResponse("HPE_HEADER_OVERFLOW", "the headers are too large");
    }
    this.#unread = buffer === bytes ? Buffer.from(bytes.subarray(start, end)) : buffer;
    return length;
  }

  #readHead(text: string): void {
    checkBeginning(text.slice(0, 7));
    const [, minor, code, reason] = /^HTTP\/1\.([01]) (\d{3})(?: ([^\r\n\0]*))?\r?\n/.exec(text) ??
      [];
    if (code === undefined) throw malformed("INVALID_STATUS", "the status line is invalid");
    const status = Number(code);
    if (status < 100) throw new InvalidStatus(code);
    const rawHeaders = parseFields(text, text.indexOf("\n") + 1);
    const version = `1.${minor}`;
    const isFinal = status >= 200 || status === 101;
    if (isFinal) this.#frame(status, version, rawHeaders);
    this.#handler.onHead(new RawHead(status, reason ?? "", version, rawHeaders));
    if (isFinal && this.#state === "head") this.#end();
  }

  /** Finds out how the end of the body is known (RFC 9112, section 6.3). */
  #frame(status: number, version: string, rawHeaders: readonly string[]): void {
    let length: number | undefined;
    let codings: string | undefined;
    let isClosing = false, isKept = version === "1.1";
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]!, value = rawHeaders[at + 1]!;
      switch (name.length) {
        case 10:
          if (name.toLowerCase() === "connection") {
            isClosing ||= /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(value);
            isKept ||= /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i.test(value);
          } else if (name.toLowerCase() === "keep-alive") {
            // By the time that the next request comes, the server would be closing it.
            isClosing ||= /\btimeout=[01]\b/.test(value);
          }
          break;
        case 14:
          if (name.toLowerCase() === "content-length") length = parseLength(value, length);
          break;
        case 17:
          if (name.toLowerCase() === "transfer-encoding") {
            codings = codings === undefined ? value : `${codings}, ${value}`;
          }
          break;
      }
    }
    this.keepAlive = isKept && !isClosing;
    this.isBodiless = this.#isHeadRequest || status === 204 || status === 304 || status === 101;
    this.isDoubtful = this.isBodiless && (codings !== undefined || (length ?? 0) > 0);
    if (this.isBodiless) {
      // Some servers do send the body that they announce in a 204.
      if (status === 204 && (length || codings !== undefined)) this.keepAlive = false;
    } else if (codings !== undefined && codings.toLowerCase() !== "identity") {
      if (codings.toLowerCase() !== "chunked") {
        throw malformed("INVALID_TRANSFER_ENCODING", `the coding "${codings}" is not supported`);
      }
      // Two ways to find its end: the rest could be the response to another request.
      if (length !== undefined) {
        throw malformed("UNEXPECTED_CONTENT_LENGTH", "the body is chunked and has a length");
      }
      this.#startLine();
      if (version === "1.0") this.keepAlive = false;
    } else if (length === undefined) {
      this.#state = "close";
      this.keepAlive = false;
    } else if (length > 0) {
      this.#state = "sized";
      this.#remaining = length;
    }
  }

  #startLine(): void {
    this.#state = "size";
    this.#remaining = 0;
    this.#lineLength = 0;
    this.#sawCr = false;
  }

  /** Reads the line with the size of a chunk, or the end of the line after its data. */
  #readChunkLine(bytes: Packet, from: number, length: number): number {
    for (let at = from; at < length; at++) {
      const byte = bytes[at]!;
      if (this.#sawCr) {
        if (byte !== LF) throw malformed("LF_EXPECTED", "a line of a chunk has a CR without LF");
        this.#endLine();
        return at + 1;
      }
      if (byte === CR) {
        this.#sawCr = true;
      } else if (this.#state === "after") {
        throw malformed("STRICT", "a chunk is longer than its size");
      } else if (this.#state === "extension") {
        if (byte === LF || byte === 0) throw invalidSize();
      } else if (byte === SEMICOLON || byte === SPACE || byte === TAB) {
        this.#state = "extension";
        if (this.#lineLength === 0) throw invalidSize();
      } else {
        const digit = hexDigit(byte);
        if (digit < 0 || this.#lineLength >= MAX_SIZE_DIGITS) throw invalidSize();
        this.#remaining = this.#remaining * 16 + digit;
      }
      if (++this.#lineLength > MAX_CHUNK_LINE) throw invalidSize();
    }
    return length;
  }

  #endLine(): void {
    this.#sawCr = false;
    if (this.#state === "after") return this.#startLine();
    // The CR counts.
    if (this.#lineLength <= 1) throw invalidSize();
    this.#state = this.#remaining === 0 ? "trailers" : "chunk";
  }

  #end(trailers = NO_FIELDS): void {
    this.#state = "done";
    this.#handler.onEnd(trailers);
  }
}

/** Fails early if a server speaks another protocol and may send no more. */
function checkBeginning(start: string): void {
  if ("HTTP/1.".startsWith(start)) return;
  throw start.startsWith("HTTP/")
    ? malformed("INVALID_VERSION", "the version of HTTP is invalid")
    : malformed("INVALID_CONSTANT", "it does not begin with HTTP/");
}

/** Reads lines of fields, up to an empty one, into names and values in turn. */
function parseFields(text: string, from: number): string[] {
  if (/\0|\r(?!\n)/.test(text)) {
    throw malformed("INVALID_HEADER_TOKEN", "a header has a control character");
  }
  const fields = NO_FIELDS.slice();
  for (let at = from;;) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, text.charCodeAt(end - 1) === CR ? end - 1 : end);
    at = end + 1;
    if (line === "") return fields;
    const first = line.charCodeAt(0);
    if (first === SPACE || first === TAB) {
      // A continued line (obs-fold).
      if (fields.length === 0) throw invalidHeader();
      fields[fields.length - 1] = `${fields.at(-1)} ${line.trim()}`.trim();
      continue;
    }
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    if (colon < 1 || !TOKEN.test(name)) throw invalidHeader();
    fields.push(name, trimSpace(line, colon + 1));
  }
}

/** Without spaces and tabs around it; `trim` would take more, such as U+00A0, which is a byte. */
function trimSpace(line: string, from: number): string {
  let to = line.length;
  while (from < to && isSpace(line.charCodeAt(from))) from++;
  while (to > from && isSpace(line.charCodeAt(to - 1))) to--;
  return line.slice(from, to);
}

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB;
}

/** Reads `Content-Length`, which may be repeated if it is the same. */
function parseLength(value: string, before: number | undefined): number {
  let length = before;
  for (const part of value.split(",")) {
    const text = trimSpace(part, 0);
    const number = Number(text);
    const isRepeated = length === undefined || length === number;
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(number) || !isRepeated) {
      throw malformed("INVALID_CONTENT_LENGTH", `the length "${value}" is invalid`);
    }
    length = number;
  }
  return length!;
}

function hexDigit(byte: number): number {
  if (byte >= 48 && byte <= 57) return byte - 48;
  const letter = byte | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function malformed(code: string, message: string): MalformedResponse {
  return new MalformedResponse(`HPE_${code}`, message);
}

function invalidSize(): MalformedResponse {
  return malformed("INVALID_CHUNK_SIZE", "the size of a chunk is invalid");
}

function invalidHeader(): MalformedResponse {
  return malformed("INVALID_HEADER_TOKEN", "a header is invalid");
}
