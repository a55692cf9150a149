import type { Deadline } from "../../../host/deadlines.ts";
import { StepError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/value/duration.ts";
import type { ActionContext } from "../../../action/action.ts";
import { checkRoute } from "../connection/check_route.ts";
import type { Connection } from "../connection/connection.ts";
import type { BodySink } from "./model.ts";
import type { HttpRequest, RequestPlan } from "../request/read_request.ts";
import type { HttpClient } from "./client.ts";
import {
  addPhases,
  type Exchange,
  type Phases,
  type RawResponse,
  type SendOptions,
} from "./model.ts";

/** An action that is under way: it can be stopped, and knows how long it takes. */
export class Call {
  readonly #context: ActionContext;
  readonly #plan: RequestPlan;
  readonly #connection: Connection;
  readonly #client: HttpClient;
  readonly #sink: BodySink | undefined;
  readonly #forget: () => void;
  #exchange: Exchange | undefined;
  #reason: StepError | undefined;
  #deadline: Deadline | undefined;
  #began: number | undefined;
  #elapsed = 0;
  #phases: Phases | undefined;

  constructor(
    plan: RequestPlan,
    connection: Connection,
    client: HttpClient,
    context: ActionContext,
    sink?: BodySink,
  ) {
    this.#plan = plan;
    this.#connection = connection;
    this.#sink = sink;
    this.#client = client;
    this.#context = context;
    this.#forget = context.onStop((reason) => this.#stop(reason));
  }

  /** Milliseconds from when the first request got its socket to the end of the last response. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** The time that all responses took together. */
  get phases(): Phases | undefined {
    return this.#phases;
  }

  /** Sends a request. */
  send(request: HttpRequest): Promise<RawResponse> {
    if (this.#connection.version !== "1.1" || this.#context.permissions) {
      return this.#sendSlowly(request);
    }
    this.checkStopped();
    return this.#receive(this.#client.send(request, this.#options()));
  }

  /** Sends one that something is loaded or checked for before. */
  async #sendSlowly(request: HttpRequest): Promise<RawResponse> {
    const connection = this.#connection;
    const context = this.#context;
    if (context.permissions) await checkRoute(request, connection, context);
    const sendHttp2 = connection.version === "1.1" ? undefined : (await loadHttp2()).sendHttp2;
    this.checkStopped();
    const options = this.#options();
    return await this.#receive(
      sendHttp2 ? sendHttp2(this.#client, request, options) : this.#client.send(request, options),
    );
  }

  #options(): SendOptions {
    const context = this.#context;
    const { deadline } = context;
    return {
      connection: this.#connection,
      clock: context.host.clock,
      maxBody: this.#plan.maxBody,
      sink: this.#sink,
      onWait: () => deadline.pauseTimeout(),
      onDispatch: () => {
        deadline.resumeTimeout();
        this.#dispatched();
      },
      log: (text: string) => context.log(text),
    };
  }

  #receive(exchange: Exchange): Promise<RawResponse> {
    this.#exchange = exchange;
    // Sets that live long refer to the call, and their discarded tables go on doing so until
    // a full collection: everything that an exchange refers to would stay in memory until then.
    const forget = () => this.#exchange = undefined;
    return exchange.reply.then((reply) => {
      forget();
      this.#elapsed = this.#context.host.clock.ticks() - this.#began!;
      this.#phases = addPhases(this.#phases, reply.phases);
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

  /** Takes back what waits for the end of the call. */
  close(): void {
    this.#forget();
    this.#deadline?.cancel();
    this.#sink?.discard();
  }

  /** The time runs from when the first request has its connection, or one is opened for it. */
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

let http2: Promise<typeof import("./http2.ts")> | undefined;

/** Imports it once: a thousand requests at once would import it a thousand times, and the runtime panics. */
function loadHttp2(): Promise<typeof import("./http2.ts")> {
  return http2 ??= import("./http2.ts");
}
