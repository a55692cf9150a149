import { StepError } from "../../base/errors.ts";
import type { Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { Channel } from "./channel.ts";
import type { Metadata } from "./grpc_params.ts";
import { decodeMessage, decodeProblem } from "./json_message.ts";
import {
  AnySchema,
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type Message,
  type Registry,
} from "./protobuf.ts";
import { countOf } from "../../base/text/count_of.ts";
import type { ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { decodePercents } from "../../secrets/secrets.ts";
import { Unprocessed } from "../../action/connection.ts";
import { Intake } from "../../action/received.ts";
import { authorityOf, codeOf } from "../../action/net/endpoint.ts";

// Its version 2.3.0 keeps 400 bytes of each message until the call ends.
const { createGrpcTransport } = await import("@connectrpc/connect-node");
const { Code, ConnectError } = await import("@connectrpc/connect");

type Failure = InstanceType<typeof ConnectError>;

/** What all calls of a step have in common. */
export interface CallOptions {
  readonly metadata: Metadata;
  /** Milliseconds after which the step cancels them. */
  readonly timeout: number;
}

interface Call extends CallOptions {
  readonly method: DescMethod;
  /** The types of the messages in its messages and in the details of its status. */
  readonly types: Registry;
  readonly messages: readonly Message[];
  /** What it waits for: `the answer of demo.v1.Users/Get`. */
  readonly awaited: string;
  /** Milliseconds after which the call ends with DEADLINE_EXCEEDED. */
  readonly deadline?: number | undefined;
  /** Ends the call after that many messages. */
  readonly maxMessages?: number | undefined;
}

export interface GrpcResponse {
  readonly code: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  readonly messages: readonly Value[];
  /** The details of the status as JSON; of an unknown type, its bytes. */
  readonly details: readonly Value[];
}

/** Bytes of the messages of a call that are kept. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The memory that a message takes besides its text, as it is an object. */
const OBJECT_COST = 256;

/** Milliseconds by which the step ends before the server may end the call for the timeout. */
const AHEAD = 1000;

/** What arrives of a call. */
interface Received {
  stream?: ClientHttp2Stream;
  headers: IncomingHttpHeaders;
  trailers: IncomingHttpHeaders;
  readonly messages: Value[];
}

/** Makes a call and waits for its end; the end of the attempt cancels it on the server. */
export async function makeCall(
  channel: Channel,
  call: Call,
  attempt: ActionAttempt,
): Promise<GrpcResponse> {
  const { awaited, deadline } = call;
  const abort = new AbortController();
  // Any other error would reset the stream with INTERNAL_ERROR.
  const cancel = () => abort.abort(new ConnectError("cancelled", Code.Canceled));
  let isLate = false;
  const limit = deadline
    ? attempt.context.deadline.after(deadline, () => (isLate = true, cancel()))
    : undefined;
  const received: Received = { headers: {}, trailers: {}, messages: [] };
  const receiving = receive(channel, call, received, abort);
  try {
    const failure = await attempt.during(
      `waiting for ${awaited} from ${attempt.address}`,
      receiving,
    );
    const status = statusOf(received, failure, isLate, channel.isLost);
    if (!status) throw await lossOf(channel, received, awaited, attempt);
    channel.hasAnswered = true;
    return {
      ...status,
      metadata: shown(received.headers),
      trailers: shown(received.trailers),
      messages: received.messages,
      details: detailsOf(failure, call.types),
    };
  } finally {
    limit?.cancel();
    cancel();
  }
}

/** Sends and receives messages. Returns the error of the library that ended it. */
async function receive(
  channel: Channel,
  { method, types, messages, metadata, timeout, deadline, maxMessages, awaited }: Call,
  received: Received,
  abort: AbortController,
): Promise<Failure | undefined> {
  const tooMuch = `${awaited} is larger than ${MAX_BYTES} bytes`;
  const intake = new Intake(MAX_BYTES, tooMuch);
  const transport = createGrpcTransport({
    baseUrl: ORIGIN,
    readMaxBytes: MAX_BYTES,
    sessionManager: {
      authority: ORIGIN,
      notifyResponseByteRead() {},
      // deno-lint-ignore require-await -- A session that was lost throws.
      async request(_, path, headers) {
        const stream = channel.http2.request({
          ":method": "POST",
          ":scheme": channel.scheme,
          ":authority": authorityOf(channel.endpoint),
          ":path": path,
          ...headers,
          // The library joins values of the same name.
          ...metadata,
        });
        stream.on("response", (headers) => received.headers = headers);
        stream.on("trailers", (trailers) => received.trailers = trailers);
        stream.on("close", () => {
          // The library would wait on.
          if (!stream.rstCode && !received.headers[":status"]) abort.abort(NO_RESPONSE);
        });
        return received.stream = readToItsEnd(stream);
      },
    },
  });
  const headers = {
    "user-agent": "runner",
    "grpc-timeout": timeoutText(Math.min(timeout + AHEAD, deadline || Infinity)),
  };
  // The others are streams of one message, as far as the wire is concerned.
  const stream = method as DescMethodStreaming<DescMessage, DescMessage>;
  try {
    const response = await transport.stream(
      stream,
      abort.signal,
      undefined,
      headers,
      each(messages),
    );
    for await (const message of response.message) {
      const value = decodeMessage(method.output, message, types, awaited);
      intake.add(JSON.stringify(value).length + OBJECT_COST);
      received.messages.push(value);
      if (received.messages.length === maxMessages) break;
      if (intake.isDue) await intake.rest();
    }
    const { length } = received.messages;
    const isOne = method.methodKind === "unary" || method.methodKind === "client_streaming";
    if (!isOne || length === 1) return undefined;
    return new ConnectError(
      `the server sent ${length} messages instead of one`,
      Code.Unimplemented,
    );
  } catch (error) {
    if (error instanceof StepError) throw error;
    const failure = ConnectError.from(error);
    if (failure.rawMessage.includes("readMaxBytes")) throw new StepError(tooMuch);
    const [, mistake] = /^parse binary: (.*)/s.exec(failure.rawMessage) ?? [];
    if (mistake !== undefined) throw decodeProblem(method.output, awaited, mistake);
    return failure;
  }
}

/**
 * A stream whose iterator takes it for ended when it closes. That of the runtime sometimes sees it
 * close after the last byte and before its end.
 */
function readToItsEnd(stream: ClientHttp2Stream): ClientHttp2Stream {
  const chunks = stream[Symbol.asyncIterator].bind(stream);
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      yield* chunks();
    } catch (error) {
      if (codeOf(error) !== "ERR_STREAM_PREMATURE_CLOSE" || stream.readableLength > 0) throw error;
    }
  }
  return Object.defineProperty(stream, Symbol.asyncIterator, { value: read });
}

const NO_RESPONSE = new ConnectError("the server ended the call without a status", Code.Internal);

/** A server for the library, which leaves connecting to the channel. */
const ORIGIN = "http://server";

async function* each<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

/** Milliseconds in the form of the protocol, which has at most eight digits. */
function timeoutText(milliseconds: number): string {
  const limit = Math.ceil(milliseconds);
  return limit < 1e8 ? `${limit}m` : `${Math.ceil(limit / 1000)}S`;
}

/** The names of the status codes, by number. */
const NAMES = [
  ...["OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND"],
  ...["ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION"],
  ...["ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"],
  "UNAUTHENTICATED",
];

/** The name of a status code; of an unknown one, its number. */
export function nameOfStatus(code: number): string {
  return NAMES[code] ?? String(code);
}

/** Statuses of calls that the server reset, by the error code of HTTP/2. */
const RESETS: Readonly<Record<number, number>> = {
  7: Code.Unavailable,
  8: Code.Canceled,
  11: Code.ResourceExhausted,
  12: Code.PermissionDenied,
};

/** The status of a call that ended; undefined if the connection was lost. */
function statusOf(
  { stream, headers, trailers }: Received,
  failure: Failure | undefined,
  isLate: boolean,
  isLost: boolean,
): { readonly code: number; readonly message: string } | undefined {
  const last = "grpc-status" in trailers ? trailers : headers;
  const code = Number(last["grpc-status"] || NaN);
  // Read here, because the library refuses unknown numbers and texts that are encoded badly.
  if (Number.isInteger(code) && (code !== 0 || !failure)) {
    return { code, message: decodePercents(String(last["grpc-message"] ?? "")) };
  }
  if (isLate) {
    return { code: Code.DeadlineExceeded, message: "the deadline of the call has passed" };
  }
  if (!failure) return { code: 0, message: "" };
  const { ":status": http, "content-type": type } = headers;
  if (http && (Number(http) !== 200 || !type?.startsWith("application/grpc"))) {
    const what = type === undefined ? "no content type" : `the content type ${type}`;
    return { code: failure.code, message: `${NOT_GRPC}: HTTP ${http} with ${what}` };
  }
  if (isLost) return undefined;
  const reset = stream?.rstCode ?? 0;
  if (reset === 0 || !failure.rawMessage.includes("closed with error code")) {
    return { code: failure.code, message: failure.rawMessage };
  }
  const message = `the server reset the call (HTTP/2 error code ${reset}) without a status`;
  return { code: RESETS[reset] ?? Code.Internal, message };
}

export const NOT_GRPC = "the response is not one of gRPC";

async function lossOf(
  { error, hasAnswered, isSecure }: Channel,
  { stream, headers, messages: { length } }: Received,
  awaited: string,
  attempt: ActionAttempt,
): Promise<StepError> {
  const after = length === 0 ? "" : ` after ${countOf(length, "message")}`;
  const failing =
    `the connection to ${attempt.address} was lost while waiting for ${awaited}${after}`;
  const { message, hint, details } = error === undefined
    ? new StepError(`${failing}: the server closed it`, undefined, {
      cause: `${attempt.address} closed the connection`,
    })
    : await attempt.explain(failing, error);
  if (hasAnswered) {
    const isSent = stream?.id !== undefined && stream.rstCode !== 7;
    const Problem = isSent || headers[":status"] ? StepError : Unprocessed;
    return new Problem(message, hint, details);
  }
  const doubt = isSecure
    ? attempt.certificateHint
    : 'does a gRPC server listen there? if it expects TLS, write "tls: true"';
  return new StepError(message, hint ?? doubt, details);
}

/** Headers without those of the protocol itself, which are the status. */
function shown(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !/^:|^grpc-(status|message|status-details-bin)$/.test(name))
      .map(([name, value]) => [name, [value].flat().join(", ")]),
  );
}

function detailsOf(failure: Failure | undefined, types: Registry): Value[] {
  return (failure?.details ?? []).flatMap((detail) => {
    if (!("type" in detail)) return [];
    const typeUrl = `type.googleapis.com/${detail.type}`;
    try {
      const any = create(AnySchema, { typeUrl, value: detail.value });
      return [decodeMessage(AnySchema, any, types, "the details")];
    } catch {
      return [{ "@type": typeUrl, value: detail.value.toBase64() }];
    }
  });
}
