import type { Clock } from "../../../host/host.ts";
import type { ConnectionSettings } from "../connection/connection.ts";
import { type ConnectionTarget, HttpConnection, targetOf } from "./http_connection.ts";
import type { Phase } from "./model.ts";

const { setImmediate } = await import("node:timers");

/** A request that wants a connection. */
export interface Waiter {
  readonly target: ConnectionTarget;
  /** Whether it can be sent again if the server is closing the connection just now. */
  readonly isRepeatable: boolean;
  /** Whether it wants a connection that nothing was sent over yet. */
  readonly isFresh: boolean;
  take(connection: HttpConnection): void;
  /** A connection is being opened for it. */
  dialing(): void;
  /** Too many connections to its server are being opened. */
  waiting(): void;
  /** The opening of a connection for it failed at that stage. */
  refuse(error: unknown, stage: Phase): void;
}

/** The most connections that are being opened to one server: its queue for them is short. */
const MAX_DIALS = 64;

/**
 * Milliseconds without a request after which a connection is not used for one that cannot be
 * repeated: the server may be closing it.
 */
const TRUSTED_IDLE = 1000;

/**
 * Milliseconds for which a connection is watched before its second request, where that cannot be
 * repeated: until one of the server has lasted as long. A server that does not say that it closes
 * a connection mostly does so right after its response.
 */
const PROBATION = 20;

/** Everything about the connections with one key. */
interface Origin {
  /** Requests after which the server closes a connection without saying so. */
  limit: number;
  /** Whether a connection has lasted after a response. */
  keeps?: boolean;
  /** The last one was used last, and is used first. */
  readonly idle: HttpConnection[];
  /** Requests for which connections are being opened, in the order in which they came. */
  readonly dialing: Set<Waiter>;
  /** Requests after them. */
  readonly queued: Set<Waiter>;
  readonly dials: Map<HttpConnection, AbortController>;
}

/**
 * The connections of a run. A request gets an idle connection, or the first that becomes free or is
 * opened: it is not bound to the one that is opened for it.
 */
export class Pool {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #targets = new Map<string, ConnectionTarget>();
  readonly #origins = new Map<string, Origin>();
  readonly #open = new Set<HttpConnection>();
  /** Keys of targets of which a warning has been given. */
  readonly warned = new Set<string>();
  #dials = 0;

  /** `max` bounds its connections, to all servers together. */
  constructor(max: number, clock: Clock) {
    this.#max = max;
    this.#clock = clock;
  }

  /** The number of connections that are open or opening, and the number of idle ones. */
  get counts(): { readonly open: number; readonly idle: number } {
    let idle = 0;
    for (const origin of this.#origins.values()) idle += origin.idle.length;
    return { open: this.#open.size + this.#dials, idle };
  }

  /** Where the requests for a URL have to be sent. */
  targetOf(url: URL, connection: ConnectionSettings): ConnectionTarget {
    const key = `${connection.id} ${url.origin}`;
    return this.#targets.getOrInsertComputed(key, () => targetOf(url, connection));
  }

  /** Has a connection given to a request, at once if one is idle. */
  acquire(waiter: Waiter): void {
    const origin = this.#originOf(waiter.target);
    const idle = this.#takeIdle(origin, waiter);
    if (idle) return waiter.take(idle);
    origin.queued.add(waiter);
    this.#dial(origin);
    if (origin.queued.has(waiter)) waiter.waiting();
  }

  /** Takes back the wish for a connection. */
  cancel(waiter: Waiter): void {
    const origin = this.#originOf(waiter.target);
    if (!origin.dialing.delete(waiter) && !origin.queued.delete(waiter)) return;
    this.#promote(origin);
    // Nothing is opened that nobody waits for.
    const [connection, dial] = [...origin.dials].at(-1) ?? [];
    if (!connection || origin.dials.size <= origin.dialing.size) return;
    origin.dials.delete(connection);
    dial?.abort();
  }

  /** How far the opening of a connection for a request is. */
  stageOf({ target }: Waiter): Phase {
    const { dials } = this.#originOf(target);
    for (const { stage } of dials.keys()) if (stage === "securing") return stage;
    return "connecting";
  }

  /** Takes back a connection that can be used again. */
  release(connection: HttpConnection): void {
    connection.use(undefined);
    if (!connection.isOpen) return;
    const { limit } = this.#originOf(connection.target);
    // A body that HEAD announces may come nevertheless, and would be taken for the next response.
    if (connection.uses >= limit || connection.parser.isDoubtful) connection.destroy();
    else this.#offer(connection);
  }

  /** Calls `next` when the end of a used connection would have been seen. */
  whenSettled(connection: HttpConnection, next: () => void): void {
    const origin = this.#originOf(connection.target);
    if (origin.keeps) return void setImmediate(next);
    const idle = this.#clock.ticks() - connection.idleSince;
    setTimeout(() => {
      if (connection.isOpen) origin.keeps = true;
      next();
    }, Math.max(0, PROBATION - idle));
  }

  /** Remembers when the server closed a connection, and after how many requests. */
  distrust(connection: HttpConnection, uses: number, time: number): void {
    const origin = this.#originOf(connection.target);
    if (uses > 0 && time - connection.idleSince < PROBATION) {
      origin.limit = Math.min(origin.limit, uses);
    }
  }

  close(): void {
    for (const { dials } of this.#origins.values()) {
      for (const dial of dials.values()) dial.abort();
    }
    for (const connection of this.#open) connection.destroy();
  }

  get #isFull(): boolean {
    return this.#open.size + this.#dials >= this.#max;
  }

  #originOf({ key }: ConnectionTarget): Origin {
    let origin = this.#origins.get(key);
    if (!origin) {
      origin = {
        limit: Infinity,
        idle: [],
        dialing: new Set(),
        queued: new Set(),
        dials: new Map(),
      };
      this.#origins.set(key, origin);
    }
    return origin;
  }

  #takeIdle({ idle }: Origin, { isFresh, isRepeatable }: Waiter): HttpConnection | undefined {
    const connection = idle.at(-1);
    if (!connection || isFresh) return undefined;
    const isTrusted = this.#clock.ticks() - connection.idleSince <= TRUSTED_IDLE;
    return isRepeatable || isTrusted ? idle.pop() : undefined;
  }

  /** Gives a connection that is free to a request that waits for it, or keeps it. */
  #offer(connection: HttpConnection): void {
    const origin = this.#originOf(connection.target);
    const isUsed = connection.uses > 0;
    const next = first(origin.dialing, isUsed) ?? first(origin.queued, isUsed);
    if (!next) {
      origin.idle.push(connection);
      // It is closed if a request for another server needs its slot.
      if (this.#isFull) this.#next();
      return;
    }
    origin.dialing.delete(next);
    origin.queued.delete(next);
    this.#promote(origin);
    next.take(connection);
  }

  /** The connections that are being opened are for the first requests. */
  #promote({ dialing, queued, dials }: Origin): void {
    for (const waiter of queued) {
      if (dialing.size >= dials.size) return;
      queued.delete(waiter);
      dialing.add(waiter);
      waiter.dialing();
    }
  }

  /** Opens connections for waiting requests. */
  #dial(origin: Origin): void {
    this.#promote(origin);
    for (const waiter of origin.queued) {
      if (origin.dials.size >= MAX_DIALS) return;
      if (this.#isFull && !this.#closeIdle()) return;
      this.#openFor(origin, waiter);
    }
  }

  async #openFor(origin: Origin, waiter: Waiter): Promise<void> {
    const dial = new AbortController();
    const connection = new HttpConnection(waiter.target, this.#clock);
    origin.dials.set(connection, dial);
    this.#dials++;
    this.#promote(origin);
    let failure: unknown;
    try {
      await connection.open({ signal: dial.signal });
      this.#open.add(connection);
      connection.onClosed = (isDropped) => {
        if (isDropped) this.distrust(connection, connection.uses, this.#clock.ticks());
        this.#forget(connection);
      };
    } catch (error) {
      failure = error;
    }
    this.#dials--;
    origin.dials.delete(connection);
    if (failure === undefined) {
      this.#offer(connection);
    } else if (!dial.signal.aborted) {
      const next = first(origin.dialing, false);
      if (next) origin.dialing.delete(next);
      next?.refuse(failure, connection.stage);
    }
    this.#next();
  }

  #forget(connection: HttpConnection): void {
    this.#open.delete(connection);
    const { idle } = this.#originOf(connection.target);
    const at = idle.indexOf(connection);
    if (at >= 0) idle.splice(at, 1);
    this.#next();
  }

  /** There may be room for one more. */
  #next(): void {
    for (const origin of this.#origins.values()) if (origin.queued.size > 0) this.#dial(origin);
  }

  #closeIdle(): boolean {
    for (const { idle } of this.#origins.values()) {
      const connection = idle[0];
      if (!connection) continue;
      // The caller takes its place.
      connection.onClosed = undefined;
      this.#open.delete(connection);
      idle.shift();
      connection.destroy();
      return true;
    }
    return false;
  }
}

/** The first request that takes such a connection. */
function first(waiters: ReadonlySet<Waiter>, isUsed: boolean): Waiter | undefined {
  for (const waiter of waiters) if (!isUsed || !waiter.isFresh) return waiter;
  return undefined;
}
