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
import { ClosedEarly, type Opening, OpeningFailure, type Phase } from "./model.ts";
import { ResponseParser } from "./response_parser.ts";

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

/** What uses a connection. */
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
  /** Ends the opening. */
  readonly signal?: AbortSignal | undefined;
  /** The protocols to offer by ALPN, of a socket that something else than HTTP/1.1 reads. */
  readonly protocols?: readonly string[];
}

/** A connection to a server. */
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
