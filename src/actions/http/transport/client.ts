import type { ActionContext, Traffic } from "../../../action/action.ts";
import { onAbort } from "../../../action/on_abort.ts";
import { StepError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/value/duration.ts";
import { connectionLimit } from "../../../host/machine.ts";
import { Chain, type Deadline } from "../../../host/deadlines.ts";
import type { Clock } from "../../../host/host.ts";
import { checkRoute, type ConnectionSettings } from "../connection/connection.ts";
import type { HttpRequest, RequestPlan } from "../request/read_request.ts";
import { Http1Exchange } from "./exchange.ts";
import type { BodySink, Client, HttpExchange, Phases, RawResponse, SendOptions } from "./model.ts";
import { Pool } from "./pool.ts";

/** The connections of a run. */
export class HttpClient implements Client {
  readonly pool: Pool;
  /** Steps whose requests are under way; each of them uses one connection at a time. */
  readonly limiter: Limiter;
  readonly others = new Set<{ destroy(): void }>();

  constructor(clock: Clock, maxConnections: number) {
    this.pool = new Pool(maxConnections, clock);
    this.limiter = new Limiter(maxConnections);
  }

  /** Sends a request; its response is complete, or its body was saved, when `reply` resolves. */
  send(request: HttpRequest, options: SendOptions): HttpExchange {
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
    () => new HttpClient(host.clock, connectionLimit(host.env)),
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

  /** Calls `start` when there is a slot. The result withdraws the request for one. */
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

/** An action that is under way: it can be stopped, and knows how long it takes. */
export class Call implements SendOptions {
  readonly #context: ActionContext;
  readonly #plan: RequestPlan;
  readonly connection: ConnectionSettings;
  readonly sink: BodySink | undefined;
  readonly #client: HttpClient;
  readonly #forget: () => void;
  #exchange: HttpExchange | undefined;
  #reason: StepError | undefined;
  #deadline: Deadline | undefined;
  #began: number | undefined;
  #elapsed = 0;
  #phases: Phases | undefined;
  #sent = 0;
  #received = 0;
  #code: number | undefined;
  #resent = 0;

  constructor(
    plan: RequestPlan,
    connection: ConnectionSettings,
    client: HttpClient,
    context: ActionContext,
    sink?: BodySink,
  ) {
    this.#plan = plan;
    this.connection = connection;
    this.sink = sink;
    this.#client = client;
    this.#context = context;
    this.#forget = context.onStop((reason) => this.#stop(reason));
  }

  /** Milliseconds from when the first request got its socket to the end of the last response. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** When the first request got its connection, or one was opened for it. */
  get began(): number | undefined {
    return this.#began;
  }

  /** The time that all responses took together. */
  get phases(): Phases | undefined {
    return this.#phases;
  }

  /** The bytes of all requests and responses, if known; `queued` is the wait before. */
  traffic(queued?: number): Traffic {
    return new CallTraffic(
      this.#sent,
      this.#received,
      this.#code,
      this.#resent || undefined,
      queued,
    );
  }

  /** Sends a request. */
  send(request: HttpRequest): Promise<RawResponse> {
    if (this.connection.version !== "1.1" || this.#context.permissions) {
      return this.#sendSlowly(request);
    }
    this.checkStopped();
    return this.#receive(this.#client.send(request, this));
  }

  /** Sends one that something is loaded or checked for before. */
  async #sendSlowly(request: HttpRequest): Promise<RawResponse> {
    const { connection } = this;
    const context = this.#context;
    if (context.permissions) await checkRoute(request, connection, context);
    const sendHttp2 = connection.version === "1.1" ? undefined : (await loadHttp2()).sendHttp2;
    this.checkStopped();
    return await this.#receive(
      sendHttp2 ? sendHttp2(this.#client, request, this) : this.#client.send(request, this),
    );
  }

  get clock(): Clock {
    return this.#context.host.clock;
  }

  get maxBody(): number {
    return this.#plan.maxBody;
  }

  get hold(): SendOptions["hold"] {
    return this.#context.hold;
  }

  onWait(): void {
    this.#context.deadline.pauseTimeout();
  }

  /** The time runs from when the first request has its connection, or one is opened for it. */
  onDispatch(): void {
    this.#context.deadline.resumeTimeout();
    if (this.#began !== undefined) return;
    this.#began = this.clock.ticks();
    const { timeout } = this.#plan;
    if (timeout === undefined) return;
    this.#deadline = this.#context.deadline.after(timeout, () => {
      this.#stop(new StepError(`the request timed out after ${formatDuration(timeout)}`));
    });
  }

  log(text: string): void {
    this.#context.log(text);
  }

  warn(text: string): void {
    this.#context.warn(text);
  }

  #receive(exchange: HttpExchange): Promise<RawResponse> {
    this.#exchange = exchange;
    // Sets that live long refer to the call, and their discarded tables go on doing so until
    // a full collection: everything that an exchange refers to would stay in memory until then.
    const forget = () => this.#exchange = undefined;
    return exchange.reply.then((reply) => {
      forget();
      this.#elapsed = this.clock.ticks() - this.#began!;
      this.#phases = addPhases(this.#phases, reply.phases);
      this.#sent += reply.sent ?? 0;
      this.#received += reply.received ?? 0;
      this.#code = reply.code;
      if (reply.isResent) this.#resent++;
      return reply;
    }, (error) => {
      forget();
      throw error;
    });
  }

  /** Throws the reason if the action has to stop. */
  checkStopped(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Cancels everything that waits for the end of the call. */
  close(): void {
    this.#forget();
    this.#deadline?.cancel();
    this.sink?.discard();
  }

  #stop(reason: StepError): void {
    this.#reason = reason;
    this.#exchange?.abort(reason);
  }
}

class CallTraffic implements Traffic {
  constructor(
    readonly sent: number,
    readonly received: number,
    readonly code: number | undefined,
    readonly resent: number | undefined,
    readonly queued: number | undefined,
  ) {}
}

let http2: Promise<typeof import("./http2.ts")> | undefined;

/** Imports it once: a thousand requests at once would import it a thousand times, and the runtime panics. */
function loadHttp2(): Promise<typeof import("./http2.ts")> {
  return http2 ??= import("./http2.ts");
}

/** The parts of several exchanges together. */
function addPhases(one: Phases | undefined, other: Phases): Phases {
  if (!one) return other;
  return {
    dns: one.dns + other.dns,
    connect: one.connect + other.connect,
    tls: one.tls + other.tls,
    first_byte: one.first_byte + other.first_byte,
    download: one.download + other.download,
  };
}
