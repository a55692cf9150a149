import { loadMatching } from "../../expr/functions/matching.ts";
import { StepError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { formatJson } from "../../base/value/format_value.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import { pathText } from "../../base/value/value.ts";
import type { Dict } from "../../action/action.ts";
import type { Attempt } from "../../action/attempt.ts";
import { excerpt } from "../../action/excerpt.ts";
import { decodeText } from "../http/response/read_body.ts";
import { StreamRequest } from "../http/run_http.ts";
import { Inbox, loadWs, type Message, openWebSocket, socketUrl } from "./connection.ts";
import { closeText, type WebSocketParams } from "./websocket_params.ts";

/** Codes of a closure that is not a failure; 1005 is that of a closure without a code. */
const FINE_CODES: readonly number[] = [1000, 1001, 1005];

/** Milliseconds that the other side may take to close: in the end, and after a failure. */
const PATIENCE = { end: 1000, failure: 200 };

/** Opens a WebSocket, takes turns in sending and waiting, and closes it. */
export async function exchangeMessages(params: WebSocketParams, attempt: Attempt, raw: Dict) {
  const { subprotocols = [], until } = params;
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
  let inbox: Inbox | undefined;
  try {
    const WebSocket = await loadWs();
    const response = await request.upgrade((request, socket) =>
      openWebSocket(request, socket, {
        WebSocket,
        subprotocols,
        signal,
        onOpen: (opened) => inbox = new Inbox(opened, url, attempt),
      })
    );
    const { reply, head: { code, status, headers }, redirects, cookies } = response;
    const head = { code, headers, cookies, url: socketUrl(response.url), redirects };
    if (!inbox) {
      const body = decodeText(reply.body, headers["Content-Type"] ?? "") ?? "";
      const shown = excerpt(body.trim().replace(/\s+/g, " "), context.secrets);
      throw refused(status, shown, { ...head, body });
    }
    const condition = until && await context.readCondition("until", until);
    await converse(inbox, params, condition || undefined, () => ({ ...head, ...inbox!.soFar }));
    const { code: closeCode, reason } = await inbox.close(1000, PATIENCE.end);
    const isFine = FINE_CODES.includes(closeCode);
    return {
      req: req(),
      res: {
        ...head,
        ...inbox.soFar,
        subprotocol: inbox.socket.protocol,
        close_code: closeCode,
        close_reason: reason,
        tls: reply.tls ?? null,
      },
      status: isFine ? 0 : 1,
      brief: isFine
        ? countOf(inbox.taken.length, "message")
        : `closed by ${closeText(closeCode, reason)}`,
    };
  } catch (error) {
    // The code of a client that leaves.
    await inbox?.close(1001, PATIENCE.failure);
    const failure = await request.explain(error, req(), `cannot open a WebSocket to "${url}"`);
    if (!(failure instanceof StepError)) throw failure;
    const hint = failure.hint?.replace(/"http(s?):/g, '"ws$1:');
    throw new StepError(failure.message, hint, { res: inbox?.soFar, ...failure.details });
  }
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
  inbox: Inbox,
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

function missing(inbox: Inbox, what: string): string {
  const { closed, url } = inbox;
  const ending = closed
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
