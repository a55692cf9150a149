import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { checkRoute } from "../http/connection/check_route.ts";
import type { Connection } from "../http/connection/connection.ts";
import { openServerSocket } from "../http/connection/open_server_socket.ts";
import { toByteString } from "../http/request/http_syntax.ts";
import type { HttpRequest } from "../http/request/read_request.ts";
import type { Sender } from "../http/session/step_session.ts";
import { measure, takeMarks } from "../http/transport/phases.ts";
import {
  demandAccess,
  type Phase,
  type RawResponse,
  secureFacts,
  SendFailure,
} from "../http/transport/send.ts";
import { onAbort } from "../../action/on_abort.ts";
import { loadWs, type WebSocket, type WebSocketClass } from "../../action/net/load_ws.ts";
import { socketUrl } from "./read_websocket_url.ts";

export type { WebSocket };

/** The most bytes that all messages together may have. */
export const MAX_BYTES = 64 * 1024 * 1024;

/** The maximum bytes that are kept of a response that refuses a WebSocket. */
const LONGEST_REFUSAL = 65_536;

/** The options for opening a WebSocket. */
interface Opening {
  readonly connection: Connection;
  readonly subprotocols: readonly string[];
  readonly context: ActionContext;
  /** Given each socket before anything can come over it. */
  readonly onSocket: (socket: WebSocket) => void;
}

/** Sends the requests that open a WebSocket: a reply with the code 101 means that it is open. */
export function openingSender(opening: Opening): Sender {
  return {
    async send(request) {
      const { connection, context } = opening;
      const WebSocket = await loadWs();
      if (context.permissions) await checkRoute(request, connection, context);
      let phase: Phase = "connecting";
      try {
        demandAccess(request, connection);
        const { signal, host: { clock } } = context;
        const socket = await openServerSocket(request.url, connection, {
          clock,
          protocols: ["http/1.1"],
          signal,
        });
        phase = "waiting";
        const sent = clock.ticks();
        const { response, chunks } = await shakeHands(request, socket, WebSocket, opening);
        const tls = secureFacts(socket, clock);
        const answered = clock.ticks();
        const phases = measure(takeMarks(socket), {
          sent,
          answered,
          ended: answered,
        });
        const { statusCode: code = 0, statusMessage: reason = "", rawHeaders } = response;
        return {
          ...{ code, reason, rawHeaders, rawTrailers: [], chunks, version: "1.1", phases },
          ...tls ? { tls } : {},
        };
      } catch (error) {
        const { signal } = context;
        const cause = signal.aborted ? signal.reason : error;
        throw new SendFailure(cause, request, phase, 0, false, connection);
      }
    },
  };
}

interface Handshake extends Pick<RawResponse, "chunks"> {
  readonly response: IncomingMessage;
}

async function shakeHands(
  request: HttpRequest,
  socket: Socket,
  WebSocket: WebSocketClass,
  { subprotocols, context, onSocket }: Opening,
): Promise<Handshake> {
  const { promise, resolve, reject } = Promise.withResolvers<Handshake>();
  const opened = new WebSocket(socketUrl(request.url.href), [...subprotocols], {
    createConnection: () => socket,
    headers: headersOf(request),
    maxPayload: MAX_BYTES,
  });
  const forget = onAbort(context.signal, (reason) => {
    reject(reason);
    opened.terminate();
  });
  let response: IncomingMessage | undefined;
  opened.on("upgrade", (answer: IncomingMessage) => response = answer);
  opened.on("open", () => resolve({ response: response!, chunks: [] }));
  opened.on("unexpected-response", (_request: unknown, answer: IncomingMessage) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    answer.on("data", (chunk: Uint8Array) => {
      if (size < LONGEST_REFUSAL) chunks.push(chunk);
      size += chunk.length;
    });
    const end = () => {
      resolve({ response: answer, chunks });
      socket.destroy();
    };
    answer.on("end", end);
    answer.on("error", end);
    answer.on("close", end);
  });
  opened.on("error", (error: Error) => reject(explain(error, subprotocols)));
  // A server may close it before the library listens, which would then wait without end.
  const lost = () =>
    setTimeout(() => {
      const closed = new Error("the server closed the connection");
      reject(socket.errored ?? Object.assign(closed, { code: "ECONNRESET" }));
    });
  if (socket.destroyed) lost();
  else socket.once("close", lost);
  onSocket(opened);
  try {
    return await promise;
  } finally {
    forget();
  }
}

function explain(error: Error, subprotocols: readonly string[]): Error {
  if (!/subprotocol/.test(error.message)) return error;
  const names = subprotocols.map((name) => `"${name}"`).join(", ");
  return subprotocols.length === 0
    ? new StepError(
      "the server chose a subprotocol, and none was offered",
      '"subprotocols" offers them',
    )
    : new StepError(`the server did not choose one of the subprotocols ${names}`);
}

/** The headers of the request, without those that belong to the handshake. */
function headersOf({ headers }: HttpRequest): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !/^(?:Connection|Upgrade|Sec-Websocket-.*)$/i.test(name))
      .map(([name, value]) => [
        name,
        typeof value === "string" ? toByteString(value) : value.map(toByteString),
      ]),
  );
}
