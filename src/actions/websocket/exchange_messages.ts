import { loadMatching } from "../../expr/functions/matching.ts";
import { StepError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { formatJson } from "../../base/value/format_value.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import { pathText } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { excerpt, Intake } from "../../action/received.ts";
import { decodeText } from "../http/response/read_body.ts";
import { StreamRequest } from "../http/run_http.ts";
import {
  findOpenStep,
  type Message as OpenMessage,
  type OpenStep,
} from "../../action/open_step.ts";
import { closeText, type WebSocketParams } from "./websocket_params.ts";
import { dataIn } from "../../base/value/parse_json.ts";
import { loadWs, MAX_BYTES, openWebSocket, socketUrl, type WebSocket } from "./open_websocket.ts";

/** Codes of a closure that is not a failure; 1005 is that of a closure without a code. */
const FINE_CODES: readonly number[] = [1000, 1001, 1005];

/** Milliseconds that the other side may take to close: in the end, and after a failure. */
const PATIENCE = { end: 1000, failure: 200 };

/** The parameters of a step that opens a WebSocket. */
type OpeningParams = WebSocketParams & { readonly url: string };

/** The request of a step that opens a WebSocket: as reports show it, its sending, and its failures. */
function prepareOpening(params: OpeningParams, attempt: ActionAttempt, raw: Dict) {
  const { subprotocols = [] } = params;
  const { context, signal } = attempt;
  const headers = { "Accept-Encoding": undefined, ...params.headers };
  const request = new StreamRequest({ ...params, method: "GET", headers }, attempt);
  const url = socketUrl(request.plan.request.url.href);
  const req = (): Dict => ({
    url,
    headers: request.sent.headers,
    ...subprotocols.length > 0 && { subprotocols },
    ...raw.send !== undefined && { send: raw.send },
  });
  /** Opens it; `take` gets the socket before a message can arrive. */
  const open = async <T>(take: (socket: WebSocket) => T) => {
    const WebSocket = await loadWs();
    let taken: { readonly socket: WebSocket; readonly it: T } | undefined;
    const response = await request.upgrade((request, socket) =>
      openWebSocket(request, socket, {
        WebSocket,
        subprotocols,
        signal,
        onOpen: (socket) => taken = { socket, it: take(socket) },
      })
    );
    const { reply, head: { code, status, headers }, redirects, cookies } = response;
    const head = { code, headers, cookies, url: socketUrl(response.url), redirects };
    if (!taken) {
      const body = decodeText(reply.body, headers["Content-Type"] ?? "") ?? "";
      const shown = excerpt(body.trim().replace(/\s+/g, " "), context.secrets);
      throw refused(status, shown, { ...head, body });
    }
    const { socket, it } = taken;
    return { it, head: { ...head, subprotocol: socket.protocol, tls: reply.tls ?? null } };
  };
  const explain = async (error: unknown, res?: Dict): Promise<unknown> => {
    const failure = await request.explain(error, req(), `cannot open a WebSocket to "${url}"`);
    if (!(failure instanceof StepError)) return failure;
    const hint = failure.hint?.replace(/"http(s?):/g, '"ws$1:');
    return new StepError(failure.message, hint, { res, ...failure.details });
  };
  return { url, req, open, explain };
}

/** Opens a WebSocket, takes turns in sending and waiting, and closes it. */
export async function exchangeMessages(params: OpeningParams, attempt: ActionAttempt, raw: Dict) {
  const { until } = params;
  const { context } = attempt;
  const { url, req, open, explain } = prepareOpening(params, attempt, raw);
  let inbox: Inbox | undefined;
  try {
    const { head } = await open((socket) => inbox = new Inbox(socket, url, attempt));
    const condition = until && await context.readCondition("until", until);
    await converse(inbox!, params, condition || undefined, () => ({ ...head, ...inbox!.soFar }));
    const { code: closeCode, reason } = await inbox!.close(1000, PATIENCE.end);
    const isFine = FINE_CODES.includes(closeCode);
    return {
      req: req(),
      res: {
        ...head,
        ...inbox!.soFar,
        close_code: closeCode,
        close_reason: reason,
      },
      status: isFine ? 0 : 1,
      brief: isFine
        ? countOf(inbox!.taken.length, "message")
        : `closed by ${closeText(closeCode, reason)}`,
    };
  } catch (error) {
    // The code of a client that leaves.
    await inbox?.close(1001, PATIENCE.failure);
    throw await explain(error, inbox?.soFar);
  }
}

/** Opens a WebSocket that stays open, and keeps its messages. */
export async function keepMessages(
  params: OpeningParams,
  step: OpenStep,
  attempt: ActionAttempt,
  raw: Dict,
) {
  const { req, open, explain } = prepareOpening(params, attempt, raw);
  try {
    const { it: socket, head } = await open((socket) => keepIn(step, socket));
    step.peer = new OpenSocket(socket, head);
    for (const message of params.send ?? []) if (message !== undefined) socket.send(message);
    return { req: req(), res: head, brief: "open" };
  } catch (error) {
    throw await explain(error);
  }
}

/** A WebSocket that stays open, and the response that opened it. */
class OpenSocket {
  constructor(
    readonly socket: WebSocket,
    readonly head: Awaited<ReturnType<ReturnType<typeof prepareOpening>["open"]>>["head"],
  ) {}
}

function keepIn(step: OpenStep, socket: WebSocket): WebSocket {
  const closed = Promise.withResolvers<void>();
  socket.on("message", (data: Uint8Array, isBinary: boolean) => {
    const { value } = readMessage(data, isBinary);
    step.add({ data: value, type: isBinary ? "binary" : "text" }, data.length);
  });
  // The code of the closure says so.
  socket.on("error", () => {});
  socket.on("close", (code: number, reason: Uint8Array) => {
    closed.resolve();
    const text = closeText(code, new TextDecoder().decode(reason));
    step.end(`the WebSocket was closed (${text})`, !FINE_CODES.includes(code));
  });
  step.onClose(async () => {
    const limit = step.context.deadline.after(PATIENCE.end, () => socket.terminate());
    socket.close(1000);
    await closed.promise;
    limit.cancel();
  });
  return socket;
}

/** Sends messages on a WebSocket that a step has left open, and waits for those that it expects. */
export async function speakOn(params: WebSocketParams, attempt: ActionAttempt, raw: Dict) {
  const { on = "", until } = params;
  const { context } = attempt;
  const step = findOpenStep(on, context);
  if (!(step?.peer instanceof OpenSocket)) {
    const hint = 'a step with "uses: websocket" and "background: true" must have run before';
    throw new StepError(`no WebSocket "${on}" is open`, hint, { parameter: "on" });
  }
  const { socket, head } = step.peer;
  if (step.ending !== undefined) {
    throw new StepError(`cannot send on "${on}": ${step.ending}`, undefined, { parameter: "on" });
  }
  const inbox = new OpenInbox(step, socket, attempt);
  const condition = until && await context.readCondition("until", until);
  await converse(inbox, params, condition || undefined, () => ({ ...head, ...inbox.soFar }));
  return {
    req: { on, ...raw.send !== undefined && { send: raw.send } },
    res: { ...head, ...inbox.soFar },
    brief: inbox.taken.length === 0 ? "sent" : countOf(inbox.taken.length, "message"),
  };
}

function refused(status: string, body: string, res: Dict): StepError {
  const message = `cannot open a WebSocket to "${res.url}": the server answered ${status}`;
  const hint = res.code === 401 || res.code === 403
    ? 'does it want "auth", "headers" or a cookie?'
    : "is this the URL of a WebSocket?";
  return new StepError(body === "" ? message : `${message}: ${body}`, hint, { res });
}

/** Takes turns, then reads on until the condition is true. Throws `StepError` if it never is. */
async function converse(
  inbox: Inbox | OpenInbox,
  { send = [], expect = [], max_messages: maxMessages = Infinity }: WebSocketParams,
  condition: ((names: Dict) => boolean) | undefined,
  soFar: () => Dict,
): Promise<void> {
  const find = await loadMatching();
  const { taken, url } = inbox;
  let isTrue = false;
  const next = async (what: string, note = ""): Promise<Message> => {
    const waiting = () => `waiting for ${what} from "${url}": ${inbox.describe()}${note}`;
    const message = taken.length < maxMessages ? await inbox.next(waiting) : undefined;
    if (!message) {
      const details = { res: soFar(), decided: false };
      throw new StepError(missing(inbox, what) + note, undefined, details);
    }
    isTrue = condition?.({ message: message.value, res: soFar() }) ?? false;
    return message;
  };
  // The longer list decides how many turns there are.
  for (let turn = 0; turn < Math.max(send.length, expect.length); turn++) {
    const [sent, expected = null] = [send[turn], expect[turn]];
    if (sent !== undefined) inbox.socket.send(sent);
    if (expected === null) continue;
    let mismatches: readonly Mismatch[] = [];
    do {
      const note = mismatches.length === 0 ? "" : describeMismatches(mismatches);
      const { text, value } = await next(`a message like expect[${turn}]`, note);
      mismatches = find(typeof expected === "string" ? text ?? value : value, expected);
    } while (mismatches.length > 0);
  }
  if (condition) {
    while (!isTrue) await next('"until" to be true');
  } else if (maxMessages !== Infinity) {
    const waiting = () => `waiting for messages from "${url}": ${inbox.describe()}`;
    while (taken.length < maxMessages && await inbox.next(waiting));
  }
}

function missing(inbox: Inbox | OpenInbox, what: string): string {
  const { closed, url } = inbox;
  const ending = typeof closed === "string"
    ? `is over: ${closed},`
    : closed
    ? `was closed (${closeText(closed.code, closed.reason)})`
    : 'came to its "max_messages"';
  return `"${url}" ${ending} while waiting for ${what}: ${inbox.describe()}`;
}

/** The most differences that one line names. */
const MAX_MISMATCHES = 3;

function describeMismatches(mismatches: readonly Mismatch[]): string {
  const texts = mismatches.slice(0, MAX_MISMATCHES).map(({ path, expected, actual }) => {
    const prefix = path.length === 0 ? "" : `at ${pathText(path)}: `;
    const found = actual === undefined ? "nothing" : formatJson(actual);
    return `${prefix}expected ${expected ?? "nothing"}, received ${found}`;
  });
  return `; it differs: ${texts.join("; ")}`;
}

/** A message as it came, and as steps see it. */
interface Message {
  /** Its text; undefined if it is binary. */
  readonly text: string | undefined;
  /** Objects and lists of JSON are data, `{ base64: … }` are bytes, and anything else is text. */
  readonly value: Value;
}

/** The closure of a WebSocket. */
interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** When that many messages wait to be taken, the socket is not read on. */
const MAX_WAITING = 500;

/** The messages of an open WebSocket, in order. */
class Inbox {
  /** All messages that were taken, as steps see them. */
  readonly taken: Value[] = [];
  closed: Closed | undefined;
  readonly #intake: Intake;
  /** Received messages. The first `#position` were taken: `shift()` would move the rest. */
  #arrived: Message[] = [];
  #position = 0;
  #failure: StepError | undefined;
  #wake = () => {};

  constructor(readonly socket: WebSocket, readonly url: string, readonly attempt: ActionAttempt) {
    this.#intake = new Intake(MAX_BYTES, `"${url}" sent more than ${MAX_BYTES} bytes`);
    socket.on("message", (data: Uint8Array, isBinary: boolean) => {
      if (this.#failure) return;
      try {
        this.#intake.add(data.length);
      } catch (error) {
        this.#fail(error as StepError);
        return socket.terminate();
      }
      this.#arrived.push(readMessage(data, isBinary));
      if (this.#arrived.length >= MAX_WAITING) socket.pause();
      this.#wake();
    });
    socket.on("error", (error: Error) => {
      const code = "code" in error ? String(error.code) : "";
      // The connection is lost otherwise, which the code of the closure says.
      if (!code.startsWith("WS_ERR_")) return;
      this.#fail(new StepError(`"${url}" sent what is not valid: ${error.message} (${code})`));
    });
    socket.on("close", (code: number, reason: Uint8Array) => {
      this.closed = { code, reason: new TextDecoder().decode(reason) };
      this.#wake();
    });
  }

  /** The fields of `res` about messages. */
  get soFar() {
    return { messages: this.taken, message: this.taken.at(-1) ?? null };
  }

  /** The next message; undefined if the connection is closed. `waiting` says what it waits for. */
  async next(waiting: () => string): Promise<Message | undefined> {
    for (;;) {
      const message = this.#arrived[this.#position++];
      if (message) {
        this.taken.push(message.value);
        if (this.#intake.isDue) await this.attempt.during(waiting, this.#intake.rest());
        return message;
      }
      this.#arrived = [];
      this.#position = 0;
      if (this.#failure) throw this.#failure;
      if (this.closed) return undefined;
      this.socket.resume();
      await this.attempt.during(waiting, this.#changed());
    }
  }

  /** Closes the connection, for which the other side has some milliseconds. */
  async close(code: number, patience: number): Promise<Closed> {
    const { socket, attempt: { context: { deadline } } } = this;
    const limit = deadline.after(patience, () => socket.terminate());
    socket.resume();
    socket.close(code);
    while (!this.closed) await this.#changed();
    limit.cancel();
    return this.closed;
  }

  /** The received messages, for an error. */
  describe(): string {
    return describeTaken(this.taken, this.attempt);
  }

  #fail(error: StepError): void {
    this.#failure ??= error;
    this.#wake();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#wake = resolve);
  }
}

/** The messages that come to a WebSocket which an earlier step has left open, in order. */
class OpenInbox {
  /** All messages that were taken, as steps see them. */
  readonly taken: Value[] = [];

  constructor(
    readonly step: OpenStep,
    readonly socket: WebSocket,
    readonly attempt: ActionAttempt,
  ) {}

  /** What messages call it. */
  get url(): string {
    return this.step.name;
  }

  /** Why no more can come; undefined as long as they can. */
  get closed(): string | undefined {
    return this.step.ending;
  }

  get soFar() {
    return { messages: this.taken, message: this.taken.at(-1) ?? null };
  }

  /** The next message; undefined if the connection is closed. `waiting` says what it waits for. */
  async next(waiting: () => string): Promise<Message | undefined> {
    const { step } = this;
    let [message] = step.kept;
    if (message) step.take(message);
    else if (step.ending === undefined) {
      const came = Promise.withResolvers<OpenMessage | undefined>();
      const leave = step.receive({
        offer(message) {
          came.resolve(message);
          leave();
          return true;
        },
        ended: () => came.resolve(undefined),
      });
      message = await this.attempt.during(waiting, came.promise).finally(leave);
    }
    if (!message) return undefined;
    const { data = null } = message.value;
    this.taken.push(data);
    return { value: data, text: typeof data === "string" ? data : JSON.stringify(data) };
  }

  /** The received messages, for an error. */
  describe(): string {
    return describeTaken(this.taken, this.attempt);
  }
}

/** The messages that a step has taken, for an error. */
function describeTaken(taken: readonly Value[], { context: { secrets } }: ActionAttempt): string {
  const { length: count } = taken;
  if (count === 0) return "no message came";
  const last = taken.at(-1)!;
  const shown = typeof last === "string"
    ? JSON.stringify(excerpt(last, secrets))
    : excerpt(JSON.stringify(last), secrets);
  return `${countOf(count, "message")} came, the last is ${shown}`;
}

/** A message as it came, for steps. */
function readMessage(data: Uint8Array, isBinary: boolean): Message {
  if (isBinary) return { text: undefined, value: { base64: data.toBase64() } };
  const text = new TextDecoder().decode(data);
  return { text, value: dataIn(text) };
}
