import type { ClientRequest, RequestOptions } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../../host/host.ts";
import type { ActionContext } from "../../../action/action.ts";
import { markSocket } from "./phases.ts";
import type { Connection } from "../connection/connection.ts";
import type { Route } from "../connection/route.ts";
import { isAllGranted } from "../../../host/deno_permissions.ts";
import { ConcurrencyLimiter } from "./concurrency_limiter.ts";

const { Agent } = await import("node:http");
const { Agent: SecureAgent } = await import("node:https");

/** The kind of socket that a request needs. */
export interface SocketOptions extends RequestOptions {
  readonly agent: Sockets;
  /** Requests share a socket only where this is the same. */
  readonly pool: string;
  /** Whether it speaks TLS. */
  readonly secure: boolean;
  readonly rejectUnauthorized: boolean;
  readonly servername: string;
  readonly route: Route;
  readonly connection: Connection;
}

/** A request that has no socket yet. */
interface Waiting {
  readonly request: ClientRequest;
  readonly options: SocketOptions;
}

/**
 * The sockets of a run: one pool with one limit for all hosts and both schemes.
 *
 * Node's agent has no such pool: with its `maxTotalSockets`, an idle connection to one host blocks
 * requests to every other, and it reuses a connection on which a server sent unrequested bytes.
 */
export class Sockets extends Agent {
  /** Has a slot for each socket. */
  readonly limiter: ConcurrencyLimiter;
  readonly #limit: number;
  readonly #clock: Clock;
  readonly #secure = new SecureAgent();
  readonly #open = new Set<Socket>();
  /** Ends tunnels that are being opened. */
  readonly #dialing = new Set<AbortController>();
  /** Other resources that are closed with them. */
  readonly others = new Set<{ destroy(): void }>();
  /** By pool; the socket that was used last is used first. */
  readonly #idle = new Map<string, Socket[]>();
  /** Each request has a slot, so only few wait here, until an idle connection is closed. */
  #waiting: Waiting[] = [];

  constructor(limit: number, clock: Clock) {
    super({ keepAlive: true });
    this.#limit = limit;
    this.#clock = clock;
    this.limiter = new ConcurrencyLimiter(limit, clock);
    // A request refuses an agent of another scheme; one that names none is for every scheme.
    Reflect.deleteProperty(this, "protocol");
  }

  /** Called by each request for its socket. */
  addRequest(request: ClientRequest, options: SocketOptions): void {
    const socket = this.#takeIdle(options.pool);
    if (socket) {
      request.reusedSocket = true;
      request.onSocket(socket);
    } else if (this.#open.size + this.#dialing.size < this.#limit) {
      this.#connect(request, options);
    } else {
      this.#waiting.push({ request, options });
      this.#closeIdle();
    }
  }

  override createConnection(options: SocketOptions): Socket {
    const socket = options.secure
      ? this.#secure.createConnection(options)
      : super.createConnection(options);
    return socket as Socket;
  }

  override destroy(): void {
    this.limiter.close();
    for (const abort of this.#dialing) abort.abort();
    for (const socket of this.#open) socket.destroy();
    for (const other of this.others) other.destroy();
  }

  #takeIdle(pool: string): Socket | undefined {
    const sockets = this.#idle.get(pool);
    if (!sockets) return undefined;
    for (let socket = sockets.pop(); socket; socket = sockets.pop()) {
      // The server may have closed it meanwhile, or have sent unrequested bytes: what comes
      // next over it may be the rest of that.
      const isQuiet = socket.bytesRead === (socket as InUse).bytesBeforeIdle;
      if (isQuiet && !socket.destroyed && socket.writable) return socket;
      socket.destroy();
    }
    return undefined;
  }

  #connect(request: ClientRequest, options: SocketOptions): void {
    if (options.route.kind === "tunnel") return void this.#dial(request, options, options.route);
    const { socketPath = null, pool } = options;
    // The session of an earlier connection is found by its key.
    const pooled = { ...KEPT, path: socketPath, _agentKey: pool };
    const began = this.#clock.ticks();
    const socket = this.createConnection({ ...options, ...pooled } as SocketOptions);
    markSocket(socket, this.#clock, began, socket);
    this.#use(request, socket, pool);
  }

  /** Opens a tunnel through a proxy, which takes some answers of the proxy. */
  async #dial(
    request: ClientRequest,
    options: SocketOptions,
    route: Extract<Route, { readonly kind: "tunnel" }>,
  ): Promise<void> {
    const abort = new AbortController();
    this.#dialing.add(abort);
    const began = this.#clock.ticks();
    try {
      const { dial } = await import("../connection/dial.ts");
      // By now the request is made. One without a socket does not say when it is given up.
      request.emit("dial", abort);
      const socket = await dial(route, options.connection, abort.signal);
      if (abort.signal.aborted) return void socket.destroy();
      const reused = { ...KEPT, path: null, host: null, socket };
      const used = options.secure
        ? this.#secure.createConnection({ ...options, ...reused } as SocketOptions) as Socket
        : socket;
      markSocket(used, this.#clock, began, undefined);
      this.#use(request, used, options.pool);
    } catch (error) {
      if (!abort.signal.aborted) request.emit("error", error);
    } finally {
      this.#dialing.delete(abort);
      this.#connectNext();
    }
  }

  #use(request: ClientRequest, socket: Socket, pool: string): void {
    this.#open.add(socket);
    socket.on("free", () => this.#free(socket, pool));
    // Between two requests there is no other listener, and an unhandled error ends the program.
    socket.on("error", () => {});
    const forget = () => this.#forget(socket, pool);
    socket.once("close", forget);
    // The request keeps it for another protocol.
    socket.once("agentRemove", forget);
    request.onSocket(socket);
  }

  /** A request has had its answer, or was given up before it was sent. */
  #free(socket: Socket, pool: string): void {
    if (socket.destroyed) return;
    const { _httpMessage: last } = socket as InUse;
    if (!last?.shouldKeepAlive || !socket.writable) return void socket.destroy();
    const next = this.#waiting.findIndex(({ options }) => options.pool === pool);
    if (next >= 0) {
      const [{ request }] = this.#waiting.splice(next, 1) as [Waiting];
      request.reusedSocket = true;
      return request.onSocket(socket);
    }
    // Nothing stays open for later while requests to other hosts wait for a socket.
    if (this.#waiting.length > 0) return void socket.destroy();
    (socket as InUse)._httpMessage = null;
    (socket as InUse).bytesBeforeIdle = socket.bytesRead;
    const sockets = this.#idle.get(pool);
    if (sockets) sockets.push(socket);
    else this.#idle.set(pool, [socket]);
  }

  #forget(socket: Socket, pool: string): void {
    if (!this.#open.delete(socket)) return;
    const sockets = this.#idle.get(pool);
    const at = sockets?.indexOf(socket) ?? -1;
    if (at >= 0) sockets!.splice(at, 1);
    this.#connectNext();
  }

  #connectNext(): void {
    if (this.#open.size + this.#dialing.size >= this.#limit) return;
    const next = this.#waiting.shift();
    if (next) this.#connect(next.request, next.options);
  }

  /** Closes an idle socket: no waiting request could use it. */
  #closeIdle(): void {
    for (const sockets of this.#idle.values()) {
      const socket = sockets.shift();
      if (socket) return void socket.destroy();
    }
  }
}

/** A socket as requests use it: they write themselves down in it. */
interface InUse extends Socket {
  _httpMessage?: ClientRequest | null;
  /** The number of bytes received when the last request was done with it. */
  bytesBeforeIdle?: number;
}

/** The options for opening sockets; `path` would be that of a socket in the file system. */
const KEPT = {
  path: null,
  encoding: null,
  noDelay: true,
  // A socket that is paused at each chunk of a body decrypts 2 MB meanwhile, which come as one.
  highWaterMark: 4 * 1024 * 1024,
  keepAlive: true,
  keepAliveInitialDelay: 1000,
};

/** The sockets of a run, which are closed when it ends. */
export function socketsOf({ host, scope }: ActionContext): Sockets {
  return scope.run.resource(
    "http sockets",
    () => new Sockets(socketLimit(), host.clock),
    (sockets) => sockets.destroy(),
  );
}

/** More sockets at once make a run slower and use more memory. */
const MAX_SOCKETS = 1024;

/** File descriptors for everything but requests. */
const RESERVED = 64;

/** The maximum number of open sockets: running out of file descriptors would end the program. */
export function socketLimit(limits: string | undefined = readLimits()): number {
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits ?? "")?.[1] ?? 1024);
  if (limits !== undefined && /^Max open files\s+unlimited/m.test(limits)) return MAX_SOCKETS;
  return Math.max(1, Math.min(MAX_SOCKETS, files - RESERVED));
}

function readLimits(): string | undefined {
  // Deno would prompt for the permission.
  if (!isAllGranted()) return undefined;
  try {
    return Deno.readTextFileSync("/proc/self/limits");
  } catch {
    return undefined;
  }
}
