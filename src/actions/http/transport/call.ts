import type { Deadline } from "../../../host/deadlines.ts";
import { StepError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/value/duration.ts";
import type { ActionContext } from "../../../action/action.ts";
import { onAbort } from "../../../action/on_abort.ts";
import { checkRoute } from "../connection/check_route.ts";
import type { Connection } from "../connection/connection.ts";
import { isSafe } from "../request/http_syntax.ts";
import type { BodySink } from "../response/save_body.ts";
import type { HttpRequest, RequestPlan } from "../request/read_request.ts";
import { type HttpExchange, type RawResponse, send, SendFailure } from "./send.ts";
import { addPhases, type Phases } from "./phases.ts";
import type { Sockets } from "./sockets.ts";

/** An action that is under way: it can be stopped, and knows how long it takes. */
export class Call {
  readonly #context: ActionContext;
  readonly #plan: RequestPlan;
  readonly #connection: Connection;
  readonly #sockets: Sockets;
  readonly #sink: BodySink | undefined;
  readonly #forget: () => void;
  #exchange: Pick<HttpExchange, "reply" | "abort"> | undefined;
  #reason: StepError | undefined;
  #deadline: Deadline | undefined;
  #began: number | undefined;
  #elapsed = 0;
  #phases: Phases | undefined;

  constructor(
    plan: RequestPlan,
    connection: Connection,
    sockets: Sockets,
    context: ActionContext,
    sink?: BodySink,
  ) {
    this.#plan = plan;
    this.#connection = connection;
    this.#sink = sink;
    this.#sockets = sockets;
    this.#context = context;
    this.#forget = onAbort(context.signal, (reason) => this.#stop(reason));
  }

  /** Milliseconds from when the first request got its socket to the end of the last response. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** The time that all responses took together. */
  get phases(): Phases | undefined {
    return this.#phases;
  }

  /**
   * Sends a request. Where the server had closed the connection by the time the request came, it
   * is sent once more over a new one.
   */
  async send(request: HttpRequest): Promise<RawResponse> {
    const connection = this.#connection;
    const { maxBody } = this.#plan;
    const sink = this.#sink;
    const sockets = this.#sockets;
    const { clock } = this.#context.host;
    const onDispatch = () => this.#dispatched();
    for (let fresh = false;; fresh = true) {
      this.checkStopped();
      if (this.#context.permissions) await checkRoute(request, connection, this.#context);
      const start = connection.version === "1.1" ? send : (await import("./http2.ts")).sendHttp2;
      this.#exchange = start(request, {
        sockets,
        connection,
        clock,
        maxBody,
        sink,
        fresh,
        onDispatch,
      });
      try {
        const reply = await this.#exchange.reply;
        this.#elapsed = clock.ticks() - this.#began!;
        this.#phases = addPhases(this.#phases, reply.phases);
        return reply;
      } catch (error) {
        if (fresh || this.#reason || !isStale(error) || !isSafe(request.method)) throw error;
        this.#context.log(
          `${request.method} ${request.url} is sent again: the server closed the connection without an answer`,
        );
      } finally {
        // Sets that live long refer to the call, and their discarded tables go on doing so until
        // a full collection: everything that an exchange refers to would stay in memory until then.
        this.#exchange = undefined;
      }
    }
  }

  /** Throws the reason if the action has to stop. */
  checkStopped(): void {
    if (this.#reason) throw this.#reason;
  }

  /** Takes back what waits for the end of the call. */
  close(): void {
    this.#forget();
    this.#deadline?.cancel();
    this.#sink?.discard();
  }

  /** The time runs from when the first request has its socket. */
  #dispatched(): void {
    if (this.#began !== undefined) return;
    this.#began = this.#context.host.clock.ticks();
    const { timeout } = this.#plan;
    if (timeout === undefined) return;
    this.#deadline = this.#context.deadline.after(timeout, () => {
      this.#stop(new StepError(`the request timed out after ${formatDuration(timeout)}`));
    });
  }

  #stop(reason: StepError): void {
    this.#reason = reason;
    this.#exchange?.abort(reason);
  }
}

function isStale(error: unknown): boolean {
  return error instanceof SendFailure && error.isStale;
}
