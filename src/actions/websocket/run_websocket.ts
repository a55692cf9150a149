import { loadMatching } from "../../expr/functions/matching.ts";
import { StepError } from "../../base/errors.ts";
import { formatJson } from "../../base/value/format_value.ts";
import { type Mismatch, pathText } from "../../base/value/mismatch.ts";
import type { ActionContext, ActionResult, Dict, Value } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { connectionOf } from "../http/connection/read_connection.ts";
import { readRequest } from "../http/request/read_request.ts";
import { decodeText } from "../http/response/decode_text.ts";
import { readHead } from "../http/response/response.ts";
import { asSent, openStep, performRequest } from "../http/session/perform_request.ts";
import type { StepSession } from "../http/session/step_session.ts";
import { joinChunks } from "../http/transport/body_chunks.ts";
import { explainFailure } from "../http/transport/explain_http_failure.ts";
import { socketsOf } from "../http/transport/sockets.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { readParameters, required } from "../../action/read_parameters.ts";
import { closeWords } from "./close_words.ts";
import { Inbox, receivedText } from "./inbox.ts";
import { type Message, writeMessage } from "./messages.ts";
import { openingSender, type WebSocket } from "./open_websocket.ts";
import { listSubprotocols, subprotocolProblem } from "./subprotocols.ts";
import { requestUrl, socketUrl, URL_HINT, urlProblem } from "./read_websocket_url.ts";

/** Opens a WebSocket, takes turns in sending and waiting, and closes it. */
export async function runWebsocket(
  params: Dict,
  outerContext: ActionContext,
): Promise<ActionResult> {
  const read = readParameters("websocket", params);
  const { context, release } = limitAction(outerContext, read.duration("timeout"));
  const { timeout: _, ...others } = params;
  const url = readUrl(required("websocket", "url", read.string("url")));
  const turns = readTurns(params);
  const headers = { "Accept-Encoding": null, ...read.map("headers") };
  const plan = readRequest({ ...others, method: "GET", url: requestUrl(url), headers });
  const shown = socketUrl(plan.request.url.href);
  const subprotocols = readSubprotocols(params);
  const until = read.string("until");
  const inbox = new Inbox(context, shown);
  let socket: WebSocket | undefined;
  let session: StepSession | undefined;
  const req = (): Dict => {
    const { headers } = asSent({ headers: plan.request.headers }, session);
    return {
      url: shown,
      headers: headers!,
      ...subprotocols.length === 0 ? {} : { subprotocols },
      ...params.send === undefined ? {} : { send: params.send },
    };
  };
  try {
    const connection = await connectionOf(params, context);
    const sender = openingSender({
      ...{ connection, subprotocols, context },
      onSocket(opened) {
        socket = opened;
        inbox.listen(opened);
      },
    });
    session = await openStep(plan, connection, socketsOf(context), sender, context);
    const { reply, url: last, redirects, cookies } = await performRequest(plan, session, context);
    const { code, status, headers } = readHead(reply);
    const head = { code, headers, cookies, url: socketUrl(last), redirects };
    if (code !== 101 || !socket) {
      const body = decodeText(joinChunks(reply.chunks), headers["Content-Type"] ?? "") ?? "";
      const shown = excerpt(body.trim().replace(/\s+/g, " "), context.secrets);
      throw refused(status, shown, { ...head, body });
    }
    const condition = until === undefined ? undefined : await context.readCondition("until", until);
    const soFar = (): Dict => ({ ...head, messages: inbox.values, message: inbox.last });
    const maxMessages = read.integer("max_messages");
    await converse(socket, inbox, turns, { condition, maxMessages, soFar });
    const { code: closeCode, reason } = await inbox.close(socket);
    const isFine = FINE_CODES.includes(closeCode);
    return {
      req: req(),
      res: {
        ...soFar(),
        subprotocol: socket.protocol,
        close_code: closeCode,
        close_reason: reason,
        tls: reply.tls ?? null,
      },
      status: isFine ? 0 : 1,
      brief: isFine ? countText(inbox.count) : `closed by ${closeWords(closeCode, reason)}`,
    };
  } catch (error) {
    if (socket) await inbox.leave(socket);
    const failure = `cannot open a WebSocket to "${shown}"`;
    throw withOwnSchemes(
      await explainFailure(error, plan.request, req(), context.host.clock, failure),
    );
  } finally {
    release();
  }
}

/** The hint of a failed request as it applies to the URL of a WebSocket. */
function withOwnSchemes(error: unknown): unknown {
  if (!(error instanceof StepError) || !error.hint?.includes('"http')) return error;
  const hint = error.hint.replace(/"http(s?):/g, '"ws$1:');
  return new StepError(error.message, hint, error.details);
}

function readUrl(text: string): string {
  const problem = urlProblem(text);
  if (problem === undefined) return text;
  throw new StepError(`cannot run websocket: ${problem}`, URL_HINT, { parameter: "url" });
}

function readSubprotocols({ subprotocols }: Dict): string[] {
  const problem = subprotocolProblem(subprotocols);
  if (problem === undefined) return listSubprotocols(subprotocols);
  const details = { parameter: "subprotocols" };
  throw new StepError(`cannot run websocket: ${problem}`, undefined, details);
}

function refused(status: string, shown: string, res: Dict): StepError {
  const message = `cannot open a WebSocket to "${res.url}": the server answered ${status}` +
    (shown === "" ? "" : `: ${shown}`);
  const hint = res.code === 401 || res.code === 403
    ? 'does it want "auth", "headers" or a cookie?'
    : "is this the URL of a WebSocket?";
  return new StepError(message, hint, { res });
}

/** Codes of a closure that is not a failure: one is that of a closure without a code. */
const FINE_CODES: readonly number[] = [1000, 1001, 1005];

function countText(count: number): string {
  return count === 1 ? "1 message" : `${count} messages`;
}

/** A message to send, and the expected reply. */
interface Turn {
  readonly send: string | Uint8Array | undefined;
  readonly expect: Value | undefined;
}

/** Sends and expectations in turn; the longer list decides how many turns there are. */
function readTurns({ send, expect }: Dict): Turn[] {
  const sends = listOf(send);
  const expects = listOf(expect);
  const count = Math.max(sends.length, expects.length);
  return Array.from({ length: count }, (_, i) => ({
    send: writeMessage(sends[i]),
    expect: expects[i] ?? undefined,
  }));
}

function listOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

interface Goal {
  /** The condition that ends the reading of messages. */
  readonly condition: ((names: Dict) => boolean) | undefined;
  readonly maxMessages: number | undefined;
  readonly soFar: () => Dict;
}

/** Takes the turns, then reads on to the goal. Throws `StepError` if that is not reached. */
async function converse(
  socket: WebSocket,
  inbox: Inbox,
  turns: readonly Turn[],
  { condition, maxMessages = Infinity, soFar }: Goal,
): Promise<void> {
  const find = await loadMatching();
  let isTrue = false;
  const next = async (what: string, notes = () => ""): Promise<Message> => {
    const message = inbox.count < maxMessages ? await inbox.next(what, notes) : undefined;
    if (!message) {
      const details = { res: soFar(), decided: false };
      throw new StepError(missing(inbox, what) + notes(), undefined, details);
    }
    isTrue = condition?.({ message: message.value, res: soFar() }) ?? false;
    return message;
  };
  for (const [index, { send, expect }] of turns.entries()) {
    if (send !== undefined) socket.send(send);
    if (expect === undefined) continue;
    const what = `a message like expect[${index}]`;
    let mismatches: readonly Mismatch[] = [];
    do {
      const before = mismatches;
      const message = await next(what, () => before.length === 0 ? "" : mismatchText(before));
      const actual = typeof expect === "string" ? message.text ?? message.value : message.value;
      mismatches = find(actual, expect);
    } while (mismatches.length > 0);
  }
  if (condition) {
    while (!isTrue) await next('"until" to be true');
  } else if (maxMessages !== Infinity) {
    while (inbox.count < maxMessages && await inbox.next("messages", () => ""));
  }
}

function missing(inbox: Inbox, what: string): string {
  const { closed, url } = inbox;
  const ending = closed
    ? `was closed (${closeWords(closed.code, closed.reason)})`
    : 'came to its "max_messages"';
  return `"${url}" ${ending} while waiting for ${what}: ${receivedText(inbox)}`;
}

/** The most places of a message that one line names. */
const MAX_MISMATCHES = 3;

function mismatchText(mismatches: readonly Mismatch[]): string {
  const places = mismatches.slice(0, MAX_MISMATCHES).map(({ path, expected, actual }) => {
    const prefix = path.length === 0 ? "" : `at ${pathText(path)}: `;
    const found = actual === undefined ? "nothing" : formatJson(actual);
    return `${prefix}expected ${expected ?? "nothing"}, received ${found}`;
  });
  return `; it differs: ${places.join("; ")}`;
}
