import { StepError } from "../../base/errors.ts";
import type { Upgraded } from "../http/run_http.ts";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type ws from "ws";
import type { WebSocket } from "ws";
import { onAbort } from "../../action/on_abort.ts";
import { toByteString } from "../http/request/http_syntax.ts";
import type { HttpRequest } from "../http/request/read_request.ts";
import type { Bytes } from "../http/transport/model.ts";

export type { WebSocket };

type WebSocketClass = typeof ws;

/**
 * Loads the library for WebSockets. The one of the runtime shows no answer that refuses to open
 * one, and holds small messages back until the others are acknowledged (Nagle's algorithm).
 */
export async function loadWs(): Promise<WebSocketClass> {
  return (await import("ws")).default;
}

/** The binary messages of a WebSocket as one stream, for a protocol over it. */
export async function streamOf(socket: WebSocket): Promise<Duplex> {
  return (await import("ws")).createWebSocketStream(socket);
}

/** The most bytes that all messages together may have. */
export const MAX_BYTES = 64 * 1024 * 1024;

/** The most bytes that are kept of a response that refuses a WebSocket. */
const MAX_REFUSAL = 65_536;

interface Handshake {
  readonly WebSocket: WebSocketClass;
  readonly subprotocols: readonly string[];
  readonly signal: AbortSignal;
  /** Called before a message can arrive. */
  readonly onOpen: (socket: WebSocket) => void;
}

/** The bytes that are read before timers and signals get a turn. */
const TURN_BYTES = 65_536;

/** Sends the request that opens a WebSocket; it is open if the code of the response is 101. */
export async function openWebSocket(
  request: HttpRequest,
  socket: Socket,
  { WebSocket, subprotocols: listed, signal, onOpen }: Handshake,
): Promise<Upgraded> {
  const byHand = [request.headers["Sec-Websocket-Protocol"] ?? []].flat().join();
  const subprotocols = [...new Set([...listed, ...byHand.split(/[\s,]+/).filter(Boolean)])];
  const { promise, resolve, reject } = Promise.withResolvers<Upgraded>();
  const opening = new WebSocket(socketUrl(request.url.href), subprotocols, {
    createConnection: () => socket,
    headers: headersOf(request),
    maxPayload: MAX_BYTES,
  });
  const forget = onAbort(signal, (reason) => {
    reject(reason);
    opening.terminate();
  });
  const answer = async (response: IncomingMessage, chunks: readonly Bytes[] = []) => {
    const { statusCode: code = 0, statusMessage: reason = "", rawHeaders } = response;
    resolve({ code, reason, rawHeaders, body: await new Blob([...chunks]).bytes() });
  };
  let upgrade: IncomingMessage | undefined;
  opening.on("upgrade", (response: IncomingMessage) => upgrade = response);
  opening.on("open", () => {
    onOpen(opening);
    answer(upgrade!);
    let bytes = 0;
    // Pings, pongs and parts of messages can come without end, too.
    socket.on("data", ({ length }: Uint8Array) => {
      bytes += length;
      if (bytes < TURN_BYTES) return;
      bytes = 0;
      socket.pause();
      setTimeout(() => opening.isPaused || socket.resume());
    });
  });
  opening.on("unexpected-response", (_request: unknown, response: IncomingMessage) => {
    const chunks: Bytes[] = [];
    let size = 0;
    response.on("data", (chunk: Bytes) => {
      if (size < MAX_REFUSAL) chunks.push(chunk);
      size += chunk.length;
    });
    const end = () => {
      answer(response, chunks);
      socket.destroy();
    };
    response.on("end", end).on("error", end).on("close", end);
  });
  opening.on("error", (error: Error) => reject(explain(error, subprotocols)));
  // A server may close it before the library listens, which would then wait without end.
  const lost = () =>
    setTimeout(() => {
      const closed = new Error("the server closed the connection");
      reject(socket.errored ?? Object.assign(closed, { code: "ECONNRESET" }));
    });
  if (socket.destroyed) lost();
  else socket.once("close", lost);
  return await promise.finally(forget);
}

/** The URL of the WebSocket that a request opens. */
export function socketUrl(url: string): string {
  return url.replace(/^http(?=s?:)/, "ws");
}

function explain(error: Error, subprotocols: readonly string[]): Error {
  if (!/subprotocol/.test(error.message)) return error;
  if (subprotocols.length === 0) {
    const hint = '"subprotocols" offers them';
    return new StepError("the server chose a subprotocol, and none was offered", hint);
  }
  const names = subprotocols.map((name) => `"${name}"`).join(", ");
  return new StepError(`the server did not choose one of the subprotocols ${names}`);
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
