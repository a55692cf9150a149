import type { Socket } from "node:net";
import type { ActionContext, Dict } from "../../action/action.ts";
import type { Attempt } from "../../action/attempt.ts";
import { checkRoute } from "./connection/check_route.ts";
import type { Connection } from "./connection/connection.ts";
import { connectionOf } from "./connection/read_connection.ts";
import { type HttpRequest, readRequest, type RequestPlan } from "./request/read_request.ts";
import { readHead, type ResponseHead } from "./response/response.ts";
import type { BodySink } from "./transport/model.ts";
import { type Followed, openStep, performRequest } from "./session/perform_request.ts";
import type { Sender, StepSession } from "./session/step_session.ts";
import { Call } from "./transport/call.ts";
import { acquireSlot, clientOf } from "./transport/client.ts";
import { demandAccess } from "./transport/request_bytes.ts";
import { explainFailure } from "./transport/explain_http_failure.ts";
import { openSocket } from "./transport/http_connection.ts";
import { type Phase, type RawResponse, SendFailure } from "./transport/model.ts";

/** Waits for a slot among the requests of the run; the result gives it back. */
export async function acquireRequest(context: ActionContext): Promise<() => void> {
  const { limiter } = clientOf(context);
  await acquireSlot(limiter, context);
  return () => limiter.release();
}

/** The last response, after redirects. */
export interface StreamResponse extends Followed {
  readonly head: ResponseHead;
}

/** What came over a socket of its own in answer to a request. */
export type Upgraded = Pick<RawResponse, "code" | "reason" | "rawHeaders" | "body">;

/** A request of HTTP by which a stream begins. Redirects, cookies and sign-in are those of http. */
export class StreamRequest {
  readonly plan: RequestPlan;
  readonly #params: Dict;
  readonly #context: ActionContext;
  #session: StepSession | undefined;

  constructor(params: Dict, { context }: Attempt) {
    // The time is that of the attempt.
    const { timeout: _, ...others } = params;
    this.#params = others;
    this.#context = context;
    this.plan = readRequest(others);
  }

  /** The request as it was sent last, before any redirect. */
  get sent(): HttpRequest {
    return this.#session?.sent ?? this.plan.request;
  }

  /** Sends it, and gives the body to a sink that takes such a response. */
  async receive(sink: BodySink): Promise<StreamResponse> {
    let call: Call | undefined;
    try {
      return await this.#send((connection) =>
        call = new Call(this.plan, connection, clientOf(this.#context), this.#context, sink)
      );
    } finally {
      call?.close();
    }
  }

  /** Has `exchange` send it over a socket of its own, which then belongs to that. */
  async upgrade(
    exchange: (request: HttpRequest, socket: Socket) => Promise<Upgraded>,
  ): Promise<StreamResponse> {
    const { signal, host: { clock } } = this.#context;
    return await this.#send((connection) => ({
      send: async (request) => {
        await checkRoute(request, connection, this.#context);
        let phase: Phase = "connecting";
        try {
          demandAccess(request, connection);
          const options = { clock, protocols: ["http/1.1"], signal };
          const { socket, tls, opening } = await openSocket(request.url, connection, options);
          phase = "waiting";
          const sent = clock.ticks();
          const response = await exchange(request, socket);
          const phases = { ...opening, first_byte: clock.ticks() - sent, download: 0 };
          return { ...response, rawTrailers: [], version: "1.1", phases, tls };
        } catch (error) {
          const cause = signal.aborted ? signal.reason : error;
          throw new SendFailure(cause, request, phase, 0, connection);
        }
      },
    }));
  }

  /** An error as users see it, with the request for reports; `failing` begins another message. */
  async explain(error: unknown, req: Dict, failing?: string): Promise<unknown> {
    const { host: { clock } } = this.#context;
    return await explainFailure(error, this.plan.request, req, clock, failing);
  }

  async #send(senderOf: (connection: Connection) => Sender): Promise<StreamResponse> {
    const connection = await connectionOf(this.#params, this.#context);
    const client = clientOf(this.#context);
    const sender = senderOf(connection);
    this.#session = await openStep(this.plan, connection, client, sender, this.#context);
    const followed = await performRequest(this.plan, this.#session, this.#context);
    return { ...followed, head: readHead(followed.reply) };
  }
}
