import { Chain } from "../../../host/chain.ts";
import type { Clock } from "../../../host/host.ts";
import { isAllGranted } from "../../../host/deno_permissions.ts";
import type { ActionContext } from "../../../action/action.ts";
import { onAbort } from "../../../action/on_abort.ts";
import type { HttpRequest } from "../request/read_request.ts";
import { Http1Exchange } from "./exchange.ts";
import type { Exchange, SendOptions } from "./model.ts";
import { Pool } from "./pool.ts";

/** The connections of a run. */
export class HttpClient {
  readonly pool: Pool;
  /** Steps whose requests are under way; each of them uses one connection at a time. */
  readonly limiter: Limiter;
  /** What else is closed with it: sessions of HTTP/2. */
  readonly others = new Set<{ destroy(): void }>();

  constructor(clock: Clock, maxConnections = connectionLimit()) {
    this.pool = new Pool(maxConnections, clock);
    this.limiter = new Limiter(maxConnections);
  }

  /** Sends a request; its response is complete, or its body was saved, when `reply` resolves. */
  send(request: HttpRequest, options: SendOptions): Exchange {
    return new Http1Exchange(request, this.pool, options);
  }

  close(): void {
    this.pool.close();
    for (const other of this.others) other.destroy();
  }
}

/** The client of a run, whose connections are closed when it ends. */
export function clientOf({ host, scope }: ActionContext): HttpClient {
  return scope.run.resource(
    "http client",
    () => new HttpClient(host.clock),
    (client) => client.close(),
  );
}

/** Limits how many steps are under way, and lets them start in the order in which they ask. */
export class Limiter {
  readonly #max: number;
  readonly #waiting = new Chain<() => void>();
  #running = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a slot if there is one. */
  tryAcquire(): boolean {
    if (this.#running >= this.#max) return false;
    this.#running++;
    return true;
  }

  /** Calls `start` when it has got a slot. The result takes the wish back. */
  enqueue(start: () => void): () => void {
    const link = this.#waiting.add(start);
    return () => link.remove();
  }

  /** Gives a slot to the next one. */
  release(): void {
    const next = this.#waiting.first;
    if (!next) return void this.#running--;
    next.remove();
    next.value();
  }
}

/**
 * Takes a slot for the requests of an action, at once if there is one; else it resolves once they may
 * begin, and rejects when the action has to stop before. The wait is not the fault of a server, so
 * the timeout of the action is paused.
 */
export function acquireSlot(limiter: Limiter, context: ActionContext): Promise<void> | undefined {
  return limiter.tryAcquire() ? undefined : waitForSlot(limiter, context);
}

async function waitForSlot(limiter: Limiter, { deadline, signal }: ActionContext): Promise<void> {
  signal.throwIfAborted();
  deadline.pauseTimeout();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = limiter.enqueue(resolve);
  const forget = onAbort(signal, (reason) => {
    cancel();
    reject(reason);
  });
  await promise.finally(forget);
  deadline.resumeTimeout();
}

/** More connections at once make a run slower and use more memory. */
const MAX_CONNECTIONS = 1024;

/** File descriptors for everything but requests. */
const RESERVED = 64;

/** The maximum number of connections: running out of file descriptors would end the program. */
export function connectionLimit(limits: string | undefined = readLimits()): number {
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits ?? "")?.[1] ?? 1024);
  if (limits !== undefined && /^Max open files\s+unlimited/m.test(limits)) return MAX_CONNECTIONS;
  return Math.max(1, Math.min(MAX_CONNECTIONS, files - RESERVED));
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
