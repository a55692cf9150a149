import type { Socket } from "node:net";
import type {
  ActionContext,
  ActionResult,
  Demand,
  DemandedFields,
  Dict,
  Traffic,
} from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { compiledAction, EVERYTHING, readRun } from "../../action/make_action.ts";
import {
  checkRoute,
  connectionOf,
  type ConnectionSettings,
  demandAccess,
} from "./connection/connection.ts";
import { HTTP, type HttpParams } from "./http_params.ts";
import { type HttpRequest, planRequest, type RequestPlan } from "./request/read_request.ts";
import {
  connectionFacts,
  DIGESTS,
  digestsOf,
  readBody,
  readHead,
  type ResponseHead,
} from "./response/read_body.ts";
import {
  type Followed,
  openStep,
  performRequest,
  type Sender,
  type StepSender,
} from "./session/perform_request.ts";
import { acquireSlot, Call, clientOf } from "./transport/client.ts";
import { explainFailure } from "./transport/explain_http_failure.ts";
import { openSocket } from "./transport/http_connection.ts";
import {
  type BodySink,
  OpeningFailure,
  type Phase,
  type RawResponse,
  SendFailure,
} from "./transport/model.ts";
import { isDict } from "../../base/value/value.ts";

/**
 * Sends the request that `params` describe, follows redirects and reads the response. Where there
 * is an API description, both must match it.
 */
export function runHttp(
  params: Dict,
  context: ActionContext,
  { res: demanded }: Demand = EVERYTHING,
): Promise<ActionResult> {
  const needsDigests = DIGESTS.some((name) => isDemanded(demanded, name));
  return (params.openapi ?? context.openapi) === undefined
    ? exchange(params, context, needsDigests)
    : exchangeAsDescribed(params, context, needsDigests);
}

async function exchangeAsDescribed(
  params: Dict,
  context: ActionContext,
  needsDigests: boolean,
): Promise<ActionResult> {
  // Problems of the description are reported before anything is sent.
  const { openCheck } = await import("./check_contract.ts");
  const check = await openCheck(prepare(params, context).params.openapi, params, context);
  return await check(await exchange(params, context, needsDigests));
}

/** The action: it leaves out digests that nobody reads. */
export const httpRunner = compiledAction((params, demand) => (context) =>
  runHttp(params, context, demand)
);

async function exchange(
  params: Dict,
  context: ActionContext,
  needsDigests: boolean,
): Promise<ActionResult> {
  const { clock } = context.host;
  const began = clock.ticks();
  const client = clientOf(context);
  // Ten thousand actions may wait here. What they need later is made later, so that waiting
  // costs little memory, and keeps new data apart from old data for the garbage collector.
  try {
    const wait = acquireSlot(client.limiter, context);
    if (wait) await wait;
  } catch (reason) {
    const { plan, req } = prepare(params, context);
    throw await explainFailure(reason, plan.request, req, context.host.clock);
  }
  try {
    const prepared = prepare(params, context);
    const { plan, req } = prepared.plan.upload ? await openBody(prepared, context) : prepared;
    const reading = connectionOf(prepared.params, context);
    const connection = reading instanceof Promise ? await reading : reading;
    const saveFile = plan.save &&
      await (await import("./response/stream_body.ts")).openSaveFile(plan.save, context);
    const call = new Call(plan, connection, client, context, saveFile);
    let session: StepSender | undefined;
    try {
      const opening = openStep(plan, connection, client, call, context);
      session = opening instanceof Promise ? await opening : opening;
      const { reply, url, redirects, cookies } = await performRequest(plan, session, context);
      const { elapsed } = call;
      // What follows is work of this program, and not a part of the exchange.
      const facts = connectionFacts(reply, call.phases, clock.ticks() - began);
      const head = readHead(reply);
      const decoding = readBody(reply, head, plan.maxBody, context);
      const { fields: body, bytes, filepath } = decoding instanceof Promise
        ? await decoding
        : decoding;
      call.checkStopped();
      const graphql = plan.isGraphql ? graphqlFields(body.body) : {};
      const hasErrors = hasGraphqlErrors(graphql);
      const isSuccess = reply.code >= 200 && reply.code <= 299 && !hasErrors;
      const resWith = (digests: Dict) => ({
        ...head,
        cookies,
        ...body,
        ...digests,
        ...filepath === undefined ? {} : { filepath },
        ...graphql,
        url,
        redirects,
        ...facts,
      });
      const sent = asSent(req, session);
      return new HttpResult(
        sent,
        resWith(bytes && needsDigests ? digestsOf(bytes) : {}),
        isSuccess ? 0 : 1,
        `HTTP ${reply.code}${hasErrors ? " with errors" : ""}`,
        elapsed,
        call.phases && { ...call.phases },
        call.traffic((call.began ?? began) - began),
        retryAfterOf(head, context),
        bytes && !needsDigests ? () => ({ req: sent, res: resWith(digestsOf(bytes)) }) : undefined,
      );
    } catch (error) {
      throw await explainFailure(error, plan.request, asSent(req, session), context.host.clock);
    } finally {
      call.close();
    }
  } finally {
    client.limiter.release();
  }
}

class HttpResult implements ActionResult {
  constructor(
    readonly req: Dict,
    readonly res: Dict,
    readonly status: number,
    readonly brief: string,
    readonly elapsed: number,
    readonly phases: ActionResult["phases"],
    readonly traffic: Traffic,
    readonly retryAfter: number | undefined,
    readonly whole: ActionResult["whole"],
  ) {}
}

/** The time of a header `Retry-After`, which has seconds or a date. */
function retryAfterOf(
  { headers }: ResponseHead,
  { host: { clock } }: ActionContext,
): number | undefined {
  const value = headers["Retry-After"];
  if (value === undefined) return undefined;
  const time = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - clock.now();
  return Number.isNaN(time) ? undefined : Math.max(0, time);
}

/** A request that is ready to be sent, and how expressions and reports see it. */
class Prepared {
  constructor(
    readonly params: HttpParams,
    readonly plan: RequestPlan,
    readonly req: Dict,
  ) {}
}

/** Reads the parameters. */
function prepare(raw: Dict, { scope, secrets }: ActionContext): Prepared {
  // By `with`, which is the same object in every round if it has no template.
  const preparedRequests = scope.run.resource("http requests", () => new WeakMap<Dict, Prepared>());
  let made = preparedRequests.get(raw);
  if (made) return made;
  const params = readRun(HTTP, raw, secrets);
  const plan = planRequest(params);
  preparedRequests.set(raw, made = new Prepared(params, plan, describe(plan.request)));
  return made;
}

function describe({ method, url, headers, body }: HttpRequest): Dict {
  const text = typeof body === "string" ? body : "";
  return { ...NO_REQUEST, method, url: url.href, headers, body: text };
}

const NO_REQUEST = { method: "", url: "", headers: {}, body: "" };

/** Finds the files of the body, which may be others in each attempt. */
async function openBody({ params, plan }: Prepared, context: ActionContext): Promise<Prepared> {
  const { upload, attach, contentType } = plan.upload!;
  const { openUpload } = await import("./request/open_upload.ts");
  const { body, shown } = await openUpload(upload, contentType, context);
  const request = attach(body);
  return new Prepared(params, { ...plan, request }, { ...describe(request), ...shown });
}

/** Waits for a slot among the requests of the run; the result gives it back. */
export async function acquireRequest(context: ActionContext): Promise<() => void> {
  const { limiter } = clientOf(context);
  await acquireSlot(limiter, context);
  return () => limiter.release();
}

/** The last response, after redirects. */
interface StreamResponse extends Followed {
  readonly head: ResponseHead;
  readonly traffic?: ActionResult["traffic"];
}

/** The response to a request over a dedicated socket. */
export type Upgraded = Pick<RawResponse, "code" | "reason" | "rawHeaders" | "body">;

/** The HTTP request that begins a stream. Redirects, cookies and sign-in are those of http. */
export class StreamRequest {
  readonly plan: RequestPlan;
  readonly #params: HttpParams;
  readonly #context: ActionContext;
  #session: StepSender | undefined;

  constructor(params: HttpParams, { context }: ActionAttempt) {
    this.#params = params;
    this.#context = context;
    // The time is that of the attempt.
    this.plan = planRequest({ ...params, timeout: undefined });
  }

  /** The request as it was sent last, before any redirect. */
  get sent(): HttpRequest {
    return this.#session?.sent ?? this.plan.request;
  }

  /** Sends it, and gives the body to a sink that takes such a response. */
  async receive(sink: BodySink): Promise<StreamResponse> {
    let call: Call | undefined;
    try {
      const response = await this.#send((connection) =>
        call = new Call(this.plan, connection, clientOf(this.#context), this.#context, sink)
      );
      return { ...response, traffic: call?.traffic() };
    } finally {
      call?.close();
    }
  }

  /** Opens a dedicated socket, over which `exchange` sends the request. It then owns the socket. */
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
          const isOpening = error instanceof OpeningFailure;
          const cause = signal.aborted ? signal.reason : isOpening ? error.cause : error;
          throw new SendFailure(cause, request, isOpening ? error.stage : phase, 0, connection);
        }
      },
    }));
  }

  /** An error as users see it, with the request for reports; `failing` begins another message. */
  async explain(error: unknown, req: Dict, failing?: string): Promise<unknown> {
    const { host: { clock } } = this.#context;
    return await explainFailure(error, this.plan.request, req, clock, failing);
  }

  async #send(senderOf: (connection: ConnectionSettings) => Sender): Promise<StreamResponse> {
    const connection = await connectionOf(this.#params, this.#context);
    const client = clientOf(this.#context);
    const sender = senderOf(connection);
    this.#session = await openStep(this.plan, connection, client, sender, this.#context);
    const followed = await performRequest(this.plan, this.#session, this.#context);
    return { ...followed, head: readHead(followed.reply) };
  }
}

/** Whether a field is read. */
function isDemanded(fields: DemandedFields, name: string): boolean {
  return fields === "all" || fields.has(name);
}

/** `data` and `errors` of a GraphQL response. */
function graphqlFields(body: unknown): Dict {
  if (!isDict(body)) return {};
  const { data, errors } = body;
  return { ...data === undefined ? {} : { data }, ...errors === undefined ? {} : { errors } };
}

/** Whether the server says that something is wrong, even if it gives some data. */
function hasGraphqlErrors({ errors }: Dict): boolean {
  return Array.isArray(errors) ? errors.length > 0 : errors !== undefined && errors !== null;
}

/** A request after its session has added headers to it. */
function asSent(req: Dict, session: StepSender | undefined): Dict {
  if (!session?.added) return req;
  const { url, headers } = session.sent;
  return { ...req, url: url.href, headers };
}
