import type { createParser, EventSourceMessage } from "eventsource-parser";
import { StepError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { dataIn } from "../../base/value/parse_json.ts";
import type { Dict } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { excerpt, Intake } from "../../action/received.ts";
import type { OpenStep } from "../../action/open_step.ts";
import { mediaType } from "../http/request/http_syntax.ts";
import { decodeStream } from "../http/response/decode_content.ts";
import { readBody, readFields, type ResponseHead } from "../http/response/read_body.ts";
import { type BodySink, type Bytes, findHeader } from "../http/transport/model.ts";
import type { HttpParams } from "../http/http_params.ts";
import { StreamRequest } from "../http/run_http.ts";
import { BODY_LIMIT } from "../../base/value/byte_size.ts";

/** The parameters of a step: its request, and until when it receives events. */
interface EventParams extends Omit<HttpParams, "url"> {
  readonly url: URL;
  readonly until?: string;
  readonly max_events?: number;
}

/** Receives events until the goal is reached or the server ends the stream. */
export async function receiveEvents(
  { url: target, until, max_events: maxEvents = Infinity, ...params }: EventParams,
  attempt: ActionAttempt,
) {
  const { context } = attempt;
  const { request, name, req } = requestEvents({ url: target, ...params }, attempt);
  const condition = until && await context.readCondition("until", until);
  const { createParser } = await import("eventsource-parser");
  const sink = new EventSink(createParser, condition || undefined, maxEvents);
  const { events } = sink;

  const received = () => {
    const last = events.at(-1);
    if (!last) return "no event came";
    const shown = excerpt(JSON.stringify(last), context.secrets);
    return `${countOf(events.length, "event")} came, the last is ${shown}`;
  };
  const explain = async (error: unknown): Promise<unknown> => {
    const failure = await request.explain(error, req());
    if (!(failure instanceof StepError) || !sink.isStream) return failure;
    const details = { ...failure.details, res: sink.soFar };
    const [, time] = attempt.signal.aborted
      ? /timed out after (\S+)$/.exec(attempt.signal.reason.message) ?? []
      : [];
    if (time === undefined) {
      return new StepError(`${failure.message}: ${received()}`, failure.hint, details);
    }
    const missing = events.length === 0
      ? `no event within ${time}`
      : `${missingText(until, maxEvents)} within ${time}: ${received()}`;
    return new StepError(`${name}: ${missing}`, failure.hint, details);
  };

  const response = await request.receive(sink).catch(async (error) => {
    throw sink.fault ?? await explain(error);
  });
  if (sink.fault) throw sink.fault;
  const { reply, head, url, redirects, cookies, traffic } = response;
  const { code, status } = head;
  const res = {
    ...{ code, status, headers: head.headers, cookies },
    ...sink.soFar,
    ...sink.retry !== undefined && { retry: sink.retry },
    ...{ url, redirects, tls: reply.tls ?? null },
  };
  if (!sink.isStream) {
    const { fields: { body = "" } } = await readBody(reply, head, request.plan.maxBody, context);
    const isFine = code >= 200 && code <= 299;
    if (!isFine && !condition) {
      return { req: req(), res: { ...res, body }, status: 1, brief: `HTTP ${code}`, traffic };
    }
    throw notEvents(name, head, { req: req(), res: { ...res, body } });
  }
  if (condition && !sink.isMet) {
    const ending = events.length >= maxEvents
      ? 'the events came to "max_events"'
      : "the server ended the stream";
    const message = `${name}: ${ending} before "until" was true: ${received()}`;
    throw new StepError(message, undefined, { req: req(), res });
  }
  return { req: req(), res, brief: countOf(events.length, "event"), traffic };
}

/** Keeps the events of a stream for later steps; it is open once the server has answered. */
export async function keepEvents(params: EventParams, open: OpenStep, attempt: ActionAttempt) {
  const { request, name, req } = requestEvents(params, attempt);
  const { createParser } = await import("eventsource-parser");
  const answered = Promise.withResolvers<Answer>();
  const sink = new EventSink(createParser, undefined, Infinity, {
    answered: answered.resolve,
    keep: (message, bytes) => open.add(message, bytes),
  });
  const ended = request.receive(sink);
  // Until then the failure is that of the step, and later that of those who wait for events.
  const opened = ended.then(async ({ reply, head }) => {
    if (sink.isStream) return open.end("the server ended the stream", false);
    const { fields } = await readBody(reply, head, request.plan.maxBody, attempt.context);
    answered.reject(notEvents(name, head, { req: req(), res: { ...head, ...fields } }));
  });
  opened.catch(async (error) => {
    const failure = await request.explain(error, req());
    answered.reject(failure);
    open.end(failure instanceof Error ? failure.message : String(failure));
  });
  const res = await answered.promise;
  return { req: req(), res: { ...res, url: request.sent.url.href }, brief: "open" };
}

/** The request of a step, and how messages name it. */
function requestEvents({ url: target, ...params }: EventParams, attempt: ActionAttempt) {
  const headers = { accept: "text/event-stream", ...params.headers };
  const request = new StreamRequest({ ...params, url: target.href, headers }, attempt);
  const name = `${request.plan.request.method} "${request.plan.request.url}"`;
  const req = (): Dict => {
    const { method, url, headers, body } = request.sent;
    return { method, url: url.href, headers, body: typeof body === "string" ? body : "" };
  };
  return { request, name, req };
}

/** Says that an answer is not a stream of events. */
function notEvents(
  name: string,
  { code, status, headers }: ResponseHead,
  details: StepError["details"],
): StepError {
  const isFine = code >= 200 && code <= 299;
  const type = isFine ? headers["Content-Type"] ?? "no content type" : status;
  return new StepError(
    `${name} was answered with ${type}, not with text/event-stream`,
    "is this the URL of a stream of events?",
    details,
  );
}

/** What did not happen in time. */
function missingText(until: string | undefined, maxEvents: number): string {
  if (until !== undefined) return '"until" was not true';
  return maxEvents === Infinity
    ? "the server did not end the stream"
    : `fewer than ${maxEvents} events`;
}

const TOO_LARGE = `the events are larger than ${BODY_LIMIT} bytes`;

/** The beginning of an answer that is a stream of events. */
type Answer = Pick<ResponseHead, "code" | "headers">;

/** The events of a body, taken while it is received. */
class EventSink implements BodySink {
  readonly events: Dict[] = [];
  /** The time to wait before connecting again, in milliseconds, if the server names one. */
  retry: number | undefined;
  isStream = false;
  isDone = false;
  isMet = false;
  /** Why the condition has no value, which is not a failure of the connection. */
  fault: unknown;
  readonly #intake = new Intake(BODY_LIMIT, TOO_LARGE);

  constructor(
    readonly openParser: typeof createParser,
    readonly condition: ((names: Dict) => boolean) | undefined,
    readonly maxEvents: number,
    /** Learns of the stream of a step that stays open, and of its events. */
    readonly open?: {
      readonly answered: (answer: Answer) => void;
      readonly keep: (message: Dict, bytes: number) => void;
    },
  ) {}

  get soFar() {
    return { events: this.events, event: this.events.at(-1) ?? null };
  }

  takes(code: number, rawHeaders: readonly string[]): boolean {
    const type = mediaType(findHeader(rawHeaders, "content-type") ?? "");
    this.isStream = code >= 200 && code <= 299 && type === "text/event-stream";
    if (this.isStream) this.open?.answered({ code, headers: readFields(rawHeaders) });
    return this.isStream;
  }

  async save(chunks: AsyncIterable<Bytes>, contentEncoding: string): Promise<undefined> {
    // Bytes that belong to no event yet; comments keep a stream open, and nobody keeps them.
    let pending = 0;
    const parser = this.openParser({
      onEvent: (event) => {
        if (!this.isDone) this.#take(event, pending);
        pending = 0;
      },
      onComment: ({ length }) => pending = Math.max(0, pending - length),
      onRetry: (milliseconds) => this.retry = milliseconds,
    });
    const decoder = new TextDecoder();
    for await (const chunk of decodeStream(chunks, contentEncoding)) {
      pending += chunk.length;
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (this.isDone) return undefined;
      if (pending > BODY_LIMIT) throw new StepError(TOO_LARGE);
      if (this.#intake.isDue) await this.#intake.rest();
    }
    this.isDone = true;
    return undefined;
  }

  /** There is nothing to remove. */
  discard(): void {}

  #take({ event, data, id }: EventSourceMessage, bytes: number): void {
    const message = { event: event ?? "message", data: dataIn(data), id: id ?? "" };
    if (this.open) return this.open.keep(message, bytes);
    this.#intake.add(bytes);
    this.events.push(message);
    try {
      this.isMet = this.condition?.({ message, res: this.soFar }) ?? false;
    } catch (error) {
      this.fault = error;
    }
    this.isDone = this.isMet || this.fault !== undefined || this.events.length >= this.maxEvents;
  }
}
