import { Agent, type RequestOptions } from "node:http";
import { Agent as SecureAgent } from "node:https";
import type { Duplex } from "node:stream";
import { Places } from "./places.ts";
import { socketLimit } from "./socket_limit.ts";

/** What a request says about the socket that it wants. */
export interface SocketOptions extends RequestOptions {
  readonly agent: Sockets;
  /** Whether it speaks TLS. */
  readonly secure: boolean;
  /** Whether it must be a new one. */
  readonly fresh: boolean;
  readonly rejectUnauthorized: boolean;
  readonly servername: string;
}

/**
 * The sockets of a run: one pool for all hosts and both schemes, so that one limit counts them
 * all.
 */
export class Sockets extends Agent {
  /** A place for each socket. Requests wait here rather than in the agent, which costs more. */
  readonly places: Places;
  readonly #secure = new SecureAgent();

  constructor(limit: number) {
    super({ keepAlive: true });
    // Options of the agent are copied into each request, so these are not given as options.
    this.maxTotalSockets = this.maxFreeSockets = limit;
    this.places = new Places(limit);
    // A request refuses an agent of another scheme; one that names none is for every scheme.
    Reflect.deleteProperty(this, "protocol");
  }

  /** Requests share a socket only where this name is the same. */
  override getName(options: SocketOptions): string {
    const { secure, host, port, rejectUnauthorized, fresh } = options;
    const scheme = !secure ? "http" : rejectUnauthorized ? "https" : "insecure https";
    return `${fresh ? "fresh " : ""}${scheme} ${host} ${port}`;
  }

  override createConnection(
    options: SocketOptions,
    done?: (error: Error | null, stream: Duplex) => void,
  ): Duplex {
    return options.secure
      ? this.#secure.createConnection(options, done)!
      : super.createConnection(options, done)!;
  }

  /** Nothing stays open for later while requests to other hosts wait for a socket. */
  override keepSocketAlive(socket: Duplex): boolean {
    if (!isEmpty(this.requests)) return false;
    // The types do not know of the result: false where the server will close at once.
    return (super.keepSocketAlive(socket) as unknown) !== false;
  }

  /** Closes an idle socket if a request waits for one: it cannot be one that it could use. */
  makeRoom(): void {
    if (isEmpty(this.requests)) return;
    for (const name in this.freeSockets) {
      this.freeSockets[name]?.[0]?.destroy();
      return;
    }
  }
}

const pools = new WeakMap<object, Sockets>();

/** The sockets of a run, which are closed when it ends. */
export function socketsOf(run: object, onRunEnd: (end: () => void) => void): Sockets {
  let sockets = pools.get(run);
  if (!sockets) {
    const made = sockets = new Sockets(socketLimit());
    pools.set(run, made);
    onRunEnd(() => {
      pools.delete(run);
      made.destroy();
    });
  }
  return sockets;
}

function isEmpty(queues: object): boolean {
  for (const _ in queues) return false;
  return true;
}
