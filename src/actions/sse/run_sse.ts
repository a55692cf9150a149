import { StepError } from "../../base/errors.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { connectionOf } from "../http/connection/read_connection.ts";
import { readRequest } from "../http/request/read_request.ts";
import { readBody } from "../http/response/read_body.ts";
import { readHead } from "../http/response/response.ts";
import { asSent, openStep, performRequest } from "../http/session/perform_request.ts";
import type { StepSession } from "../http/session/step_session.ts";
import { Call } from "../http/transport/call.ts";
import { acquireSlot } from "../http/transport/concurrency_limiter.ts";
import { explainFailure } from "../http/transport/explain_http_failure.ts";
import { socketsOf } from "../http/transport/sockets.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { readParameters, required } from "../../action/read_parameters.ts";
import { openEventSink } from "./event_sink.ts";

/** Receives events until the goal is reached or the server ends the stream. */
export async function runSse(params: Dict, context: ActionContext): Promise<ActionResult> {
  const { limiter } = socketsOf(context);
  await acquireSlot(limiter, context);
  try {
    return await receive(params, context);
  } finally {
    limiter.release();
  }
}

async function receive(params: Dict, actionContext: ActionContext): Promise<ActionResult> {
  const read = readParameters("sse", params);
  const { timeout: _, ...others } = params;
  const url = required("sse", "url", read.string("url"));
  const method = read.string("method") ?? "GET";
  const headers = { accept: "text/event-stream", ...read.map("headers") };
  const plan = readRequest({ ...others, url, method, headers });
  const { request } = plan;
  const until = read.string("until");
  const condition = until === undefined
    ? undefined
    : await actionContext.readCondition("until", until);
  const maxEvents = read.integer("max_events") ?? Infinity;
  // An expression that cannot be evaluated ends the step, and is not a failure of the connection.
  const faults: unknown[] = [];
  const sink = await openEventSink({
    maxEvents,
    isMet(message) {
      try {
        return condition?.({ message, res: soFar() }) ?? false;
      } catch (error) {
        faults.push(error);
        return true;
      }
    },
  });
  const soFar = (): Dict => ({ events: sink.events, event: sink.events.at(-1) ?? null });
  let session: StepSession | undefined;
  const req = () =>
    asSent({
      method: request.method,
      url: request.url.href,
      headers: request.headers,
      body: typeof request.body === "string" ? request.body : "",
    }, session);
  const { context, release } = limitAction(actionContext, read.duration("timeout"));
  const sockets = socketsOf(context);
  let call: Call | undefined;
  try {
    const connection = await connectionOf(params, context);
    call = new Call(plan, connection, sockets, context, sink);
    session = await openStep(plan, connection, sockets, call, context);
    const { reply, url, redirects, cookies } = await performRequest(plan, session, context);
    if (faults.length > 0) throw faults[0];
    const head = readHead(reply);
    const { code, status } = head;
    const res = {
      ...{ code, status, headers: head.headers, cookies },
      ...soFar(),
      ...sink.retry === undefined ? {} : { retry: sink.retry },
      ...{ url, redirects, tls: reply.tls ?? null },
    };
    if (!sink.isStream) {
      const { fields: { body = "" } } = await readBody(reply, head, plan.maxBody, context);
      const other = { ...res, body };
      const isFine = code >= 200 && code <= 299;
      if (!isFine && !condition) {
        return { req: req(), res: other, status: 1, brief: `HTTP ${code}` };
      }
      const type = isFine ? head.headers["Content-Type"] ?? "no content type" : status;
      throw new StepError(
        `${request.method} "${request.url}" was answered with ${type}, not with text/event-stream`,
        "is this the URL of a stream of events?",
        { res: other },
      );
    }
    if (condition && !sink.isMet) {
      const ending = sink.events.length >= maxEvents
        ? 'the events came to "max_events"'
        : "the server ended the stream";
      const message = `${request.method} "${request.url}": ${ending} before "until" was true: `;
      throw new StepError(message + receivedText(sink.events, context), undefined, { res });
    }
    return { req: req(), res, status: 0, brief: countText(sink.events) };
  } catch (error) {
    if (faults.length > 0) throw faults[0];
    const failure = await explainFailure(error, request, req(), context.host.clock);
    if (!(failure instanceof StepError) || !sink.isStream || failure.details.res) throw failure;
    const [, time] = / timed out after (\S+) while/.exec(failure.message) ?? [];
    const message = time === undefined
      ? failure.message
      : `${request.method} "${request.url}": ${
        timeoutText(sink.events, until, maxEvents)
      } within ${time}`;
    const came = time !== undefined && sink.events.length === 0
      ? ""
      : `: ${receivedText(sink.events, context)}`;
    throw new StepError(message + came, failure.hint, { ...failure.details, res: soFar() });
  } finally {
    call?.close();
    release();
  }
}

function countText({ length }: readonly Dict[]): string {
  return length === 1 ? "1 event" : `${length} events`;
}

/** Names what did not arrive in time. */
function timeoutText(
  { length }: readonly Dict[],
  until: string | undefined,
  maxEvents: number,
): string {
  if (length === 0) return "no event";
  if (until !== undefined) return '"until" was not true';
  return maxEvents === Infinity
    ? "the server did not end the stream"
    : `fewer than ${maxEvents} events`;
}

/** Describes the received events, for an error. */
function receivedText(events: readonly Dict[], { secrets }: ActionContext): string {
  const last = events.at(-1);
  if (!last) return "no event came";
  const shown = excerpt(JSON.stringify(last), secrets);
  return `${countText(events)} came, the last is ${shown}`;
}
