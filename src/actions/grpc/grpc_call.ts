import type { ClientHttp2Stream } from "node:http2";
import type { ActionContext } from "../../action/action.ts";
import { namesAndValues } from "../http/request/http_syntax.ts";
import { authorityOf } from "../../action/net/endpoint.ts";
import { onAbort } from "../../action/on_abort.ts";
import { decompress, FrameReader, type GrpcFrame, makeFrame } from "./frames.ts";
import type { GrpcSession } from "./grpc_session.ts";
import { type CallStatus, makeStatus, readStatus, statusOfHttp, statusOfReset } from "./status.ts";

/** A call to make. */
export interface GrpcCall {
  /** `/demo.v1.UserService/GetUser` */
  readonly path: string;
  readonly metadata: Metadata;
  readonly messages: readonly Uint8Array[];
  /** Milliseconds after which the call is cancelled. */
  readonly timeout: number;
  /** Milliseconds after which the call ends with DEADLINE_EXCEEDED. */
  readonly deadline?: number | undefined;
  /** Ends the call after that many messages. */
  readonly maxMessages?: number | undefined;
}

/** Names in lower case with their values. */
export type Metadata = Readonly<Record<string, readonly string[]>>;

/** The result of a call. */
export interface GrpcResponse {
  readonly status: CallStatus;
  readonly metadata: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  readonly messages: readonly Uint8Array[];
}

/** The connection was lost before the call ended. */
export class ConnectionLost extends Error {
  constructor(
    override readonly cause: unknown,
    /** Whether the server did nothing for the call. */
    readonly isUnprocessed: boolean,
    readonly received: number,
  ) {
    super("connection lost");
  }
}

const CANCEL = 8;
const REFUSED_STREAM = 7;

/**
 * Makes a call and waits for its end. Throws the reason of the signal, after the call was cancelled
 * on the server, or `ConnectionLost`.
 */
export async function makeCall(
  session: GrpcSession,
  call: GrpcCall,
  context: ActionContext,
): Promise<GrpcResponse> {
  if (!session.isOpen) throw new ConnectionLost(session.error, true, 0);
  const stream = session.http2.request(headersOf(session, call), { endStream: false });
  const end = Promise.withResolvers<CallStatus | undefined>();
  // A call may fail before anybody waits for it.
  end.promise.catch(() => {});
  const received = new Receiver(stream, () => end.resolve(undefined), call.maxMessages);
  stream.on("error", () => {});
  stream.on("close", () => {
    const status = received.status(stream, session.isLost);
    if (status) return end.resolve(status);
    const isUnprocessed = !received.hasBegun &&
      (stream.rstCode === REFUSED_STREAM || stream.id === undefined);
    end.reject(new ConnectionLost(session.error, isUnprocessed, received.frames.length));
  });
  const forget = onAbort(context.signal, end.reject);
  const limit = call.deadline === undefined ? undefined : context.deadline.after(
    call.deadline,
    () => end.resolve(makeStatus("DEADLINE_EXCEEDED", `the deadline of the call has passed`)),
  );
  for (const message of call.messages) stream.write(makeFrame(message));
  stream.end();
  try {
    const status = await end.promise ?? makeStatus("OK", "");
    return await toResponse(received, status);
  } finally {
    forget();
    limit?.cancel();
    if (!stream.closed) stream.close(CANCEL);
  }
}

function headersOf(session: GrpcSession, { path, metadata, timeout, deadline }: GrpcCall) {
  const limit = Math.max(1, Math.ceil(Math.min(timeout, deadline ?? timeout)));
  return {
    ":method": "POST",
    ":scheme": session.isSecure ? "https" : "http",
    ":authority": authorityOf(session.endpoint),
    ":path": path,
    "te": "trailers",
    "content-type": "application/grpc",
    "grpc-accept-encoding": "identity,deflate,gzip",
    // At most eight digits.
    "grpc-timeout": limit < 1e8 ? `${limit}m` : `${Math.ceil(limit / 1000)}S`,
    "user-agent": "runner",
    ...Object.fromEntries(Object.entries(metadata).map(([name, values]) => [name, [...values]])),
  };
}

/** Collects what a stream receives. */
class Receiver {
  readonly frames: GrpcFrame[] = [];
  readonly metadata = new Map<string, string>();
  readonly trailers = new Map<string, string>();
  readonly #reader = new FrameReader();

  constructor(stream: ClientHttp2Stream, onEnough: () => void, maxMessages = Infinity) {
    stream.on("response", (headers, _flags, ...[raw]: string[][]) => {
      addHeaders(this.metadata, raw ?? namesAndValues(headers));
    });
    stream.on("trailers", (headers, _flags, ...[raw]: string[][]) => {
      addHeaders(this.trailers, raw ?? namesAndValues(headers));
    });
    stream.on("data", (chunk: Uint8Array) => {
      this.frames.push(...this.#reader.take(chunk));
      if (this.frames.length < maxMessages) return;
      this.frames.length = maxMessages;
      onEnough();
    });
  }

  get hasBegun(): boolean {
    return this.metadata.size > 0;
  }

  /** The status of a stream that has ended; undefined where the connection was lost. */
  status({ rstCode, readableEnded }: ClientHttp2Stream, isLost: boolean): CallStatus | undefined {
    const found = readStatus((name) => this.trailers.get(name) ?? this.metadata.get(name));
    if (found) return found;
    const code = Number(this.metadata.get(":status") ?? NaN);
    const type = this.metadata.get("content-type");
    const isGrpc = type?.startsWith("application/grpc") ?? false;
    if (this.hasBegun && (code !== 200 || !isGrpc)) return statusOfHttp(code, type);
    if (isLost || rstCode === REFUSED_STREAM && !this.hasBegun) return undefined;
    if (rstCode !== undefined && rstCode !== 0) return statusOfReset(rstCode);
    if (!this.hasBegun || !readableEnded || this.#reader.isWithin) return undefined;
    return makeStatus("INTERNAL", "the server ended the call without a status");
  }
}

async function toResponse(received: Receiver, status: CallStatus): Promise<GrpcResponse> {
  const encoding = received.metadata.get("grpc-encoding") ?? "identity";
  return {
    status,
    metadata: shown(received.metadata),
    trailers: shown(received.trailers),
    messages: await Promise.all(
      received.frames.map(({ isCompressed, bytes }) =>
        isCompressed ? decompress(bytes, encoding) : bytes
      ),
    ),
  };
}

/** Headers without those of the protocol itself, which are the status. */
function shown(headers: ReadonlyMap<string, string>): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) =>
      !name.startsWith(":") && !/^grpc-(status|message|status-details-bin)$/.test(name)
    ),
  );
}

/** Names and values in turn; those of a name that comes again are joined. */
function addHeaders(headers: Map<string, string>, raw: readonly string[]): void {
  for (let at = 0; at < raw.length; at += 2) {
    const [name, value] = [raw[at]!, raw[at + 1]!];
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
}
