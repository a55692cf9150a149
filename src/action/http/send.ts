import { type ClientRequest, type IncomingMessage, request as requestPlainly } from "node:http";
import { request as requestSecurely } from "node:https";
import { isIP, type Socket } from "node:net";
import { mayRepeat } from "./method.ts";
import type { Request } from "./read_request.ts";
import { wireHeaders } from "./request_headers.ts";
import type { SocketOptions, Sockets } from "./sockets.ts";

/** A response as it came, its body not decoded. */
export interface Reply {
  readonly code: number;
  /** The text of the status line after the code, a character for each byte. */
  readonly reason: string;
  /** Names and values in turn, a character for each byte. */
  readonly rawHeaders: readonly string[];
  readonly chunks: readonly Uint8Array[];
}

/** How far an exchange has come. */
export type Phase = "connecting" | "waiting" | "receiving";

/** Why there is no reply, and what had happened until then. */
export class SendFailure extends Error {
  constructor(
    override readonly cause: unknown,
    readonly request: Request,
    readonly phase: Phase,
    /** Bytes of the body that had come. */
    readonly received: number,
    /** Whether the socket had served a request before and was closed without a byte of answer. */
    readonly isStale: boolean,
  ) {
    super("no reply", { cause });
  }
}

/** The most of a body that is kept in memory, encoded and decoded. */
export const BODY_LIMIT = 64 * 1024 * 1024;

/** A body that is larger than what is kept in memory. */
export class BodyTooLarge extends Error {}

/** The connection was closed, and nothing else is known. */
export class ClosedEarly extends Error {}

/** The server agreed to go on in another protocol. */
export class ProtocolChanged extends Error {}

/** A request under way. */
export interface Exchange {
  /** Rejects with `SendFailure` alone. */
  readonly reply: Promise<Reply>;
  /** Ends it now, socket and all. */
  abort(reason: unknown): void;
}

/** What there is to know for sending a request beside the request. */
export interface SendOptions {
  readonly sockets: Sockets;
  readonly verify: boolean;
  /** Whether it must go over a new connection. */
  readonly fresh: boolean;
  /** Called when the request has got its socket. */
  readonly onDispatch: () => void;
}

/** Sends a request and collects the response. */
export function send(request: Request, options: SendOptions): Exchange {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  let outgoing: ClientRequest | undefined;
  let incoming: IncomingMessage | undefined;
  let socket: Socket | undefined;
  let bytesBefore = 0;
  let isOver = false;
  const chunks: Uint8Array[] = [];
  let size = 0;

  const phase = (): Phase => {
    if (incoming) return "receiving";
    return !socket || socket.connecting ? "connecting" : "waiting";
  };
  const abort = (reason: unknown) => {
    if (isOver) return;
    isOver = true;
    const isStale = outgoing?.reusedSocket === true && !incoming && socket !== undefined &&
      socket.bytesRead === bytesBefore;
    reject(new SendFailure(reason, request, phase(), size, isStale));
    outgoing?.destroy();
  };
  const receive = (response: IncomingMessage) => {
    incoming = response;
    if (Number(response.headers["content-length"]) > BODY_LIMIT && request.method !== "HEAD") {
      abort(new BodyTooLarge());
      return;
    }
    response.on("error", abort);
    response.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > BODY_LIMIT) abort(new BodyTooLarge());
      else chunks.push(chunk);
    });
    response.on("end", () => {
      isOver = true;
      const { statusCode = 0, statusMessage = "", rawHeaders } = response;
      resolve({ code: statusCode, reason: statusMessage, rawHeaders, chunks });
      // A server that answers early wants no more of the body, and may never read it.
      if (!outgoing?.writableFinished) outgoing?.destroy();
    });
  };

  try {
    outgoing = open(request, options);
  } catch (error) {
    abort(error);
    return { reply: promise, abort };
  }
  outgoing.on("socket", (given: Socket) => {
    socket = given;
    bytesBefore = given.bytesRead;
    options.onDispatch();
  });
  outgoing.on("response", receive);
  outgoing.on("error", abort);
  outgoing.on("close", () => isOver || abort(new ClosedEarly()));
  outgoing.on("upgrade", () => abort(new ProtocolChanged()));
  outgoing.end(request.body);
  return { reply: promise, abort };
}

function open(request: Request, { sockets, verify, fresh }: SendOptions): ClientRequest {
  const { method, url } = request;
  const secure = url.protocol === "https:";
  // An IPv6 address stands in brackets in URLs only.
  const { hostname } = url;
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  const port = url.port || (secure ? "443" : "80");
  // A request that may not be sent twice needs a socket that the server cannot be closing.
  const isNew = fresh || !mayRepeat(method);
  const headers = wireHeaders(request.headers, isNew ? "close" : undefined);
  const options: SocketOptions = {
    agent: sockets,
    host,
    port,
    method,
    path: url.pathname + url.search,
    headers,
    pool: `${isNew ? "new" : "kept"} ${
      !secure ? "http" : verify ? "https" : "insecure https"
    } ${host} ${port}`,
    secure,
    // Whatever the header "Host" says, the server has to prove that it is the host of the URL.
    servername: isIP(host) ? "" : host,
    rejectUnauthorized: verify,
  };
  const outgoing = secure ? requestSecurely(options) : requestPlainly(options);
  // Deno would send a request again by itself when a socket that was used before fails, even
  // after the request was destroyed. This mark of its own tells it that it has done so already.
  (outgoing as { _retrying?: boolean })._retrying = true;
  // Without this the socket would be kept unless the server, too, said that it closes it.
  if (isNew) outgoing.shouldKeepAlive = false;
  return outgoing;
}
