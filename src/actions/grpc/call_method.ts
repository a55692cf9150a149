import { StepError } from "../../base/errors.ts";
import { describeValue, isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { Channel, ServiceTypes } from "./channel.ts";
import type { GrpcParams, Metadata } from "./grpc_params.ts";
import { decodeMessage, decodeProblem, encodeMessage } from "./json_message.ts";
import { joinNames, KNOWN_TYPES, linkFiles, undefinedTypes } from "./link_files.ts";
import {
  AnySchema,
  create,
  createRegistry,
  type DescMessage,
  type DescMethod,
  type DescMethodStreaming,
  type DescService,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  fromBinary,
  type Message,
  type Registry,
} from "./protobuf.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { countOf } from "../../base/text/count_of.ts";
import type { ClientHttp2Stream, IncomingHttpHeaders } from "node:http2";
import { decodePercents } from "../../secrets/secrets.ts";
import { Unprocessed } from "../../action/connection.ts";
import { Intake } from "../../action/received.ts";
import { authorityOf, codeOf } from "../../action/net/endpoint.ts";

/** Calls the method that a step names, or the one that tells the health of a service. */
export async function callMethod(
  channel: Channel,
  params: GrpcParams,
  attempt: ActionAttempt,
  raw: Dict,
): Promise<ReturnType<typeof toResult>> {
  const { health, metadata = {}, deadline, max_messages: maxMessages } = params;
  const stepTimeout = attempt.context.deadline.timeout;
  const common = { metadata, timeout: Math.min(params.timeout || Infinity, stepTimeout) };
  const isHealth = health !== undefined && health !== false;
  const { method, types }: ServiceMethod = isHealth
    ? { method: KNOWN_TYPES.getService("grpc.health.v1.Health")!.method.check!, types: KNOWN_TYPES }
    : await findMethod(channel, params, common, attempt);
  const name = `${method.parent.typeName}/${method.name}`;
  const body = isHealth ? { service: health === true ? "" : health } : params.body;
  const bodies = bodiesOf(method, name, body);
  const messages = bodies.map((body, at) => {
    const path = takesStream(method) ? `body[${at}]` : "body";
    return encodeMessage(method.input, body, types, `cannot call ${name}`, path);
  });
  const awaited = isHealth ? "the health check" : `the answer of ${name}`;
  const call = { ...common, method, types, messages, awaited, deadline, maxMessages };
  const response = await makeCall(channel, call, attempt);
  const req = {
    addr: String(raw.addr),
    service: method.parent.typeName,
    method: method.name,
    body: takesStream(method) ? bodies : bodies[0]!,
    ...raw.metadata ? { metadata: raw.metadata } : {},
  };
  return isHealth ? healthResult(req, response) : toResult(req, response);
}

function takesStream({ methodKind }: DescMethod): boolean {
  return methodKind === "client_streaming" || methodKind === "bidi_streaming";
}

function bodiesOf(method: DescMethod, name: string, body: Value | undefined): readonly Value[] {
  if (takesStream(method)) return Array.isArray(body) ? body : body === undefined ? [] : [body];
  if (!Array.isArray(body)) return [body ?? {}];
  throw new StepError(
    `cannot call ${name}: it takes one message, and "body" is ${describeValue(body)}`,
    "a list is for methods that take a stream",
    { parameter: "body" },
  );
}

function toResult(req: Dict, response: GrpcResponse) {
  const { code, message, messages, metadata, trailers, details } = response;
  const body = messages.at(-1) ?? null;
  const name = nameOfStatus(code);
  const rawbody = body === null ? "" : JSON.stringify(body);
  const status = { code, status_code: name, status_message: message };
  const res = { ...status, body, rawbody, messages, metadata, trailers, details };
  return { req, res, status: code, brief: name };
}

/** The meanings of the status numbers in the response to a health check. */
const HEALTH = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/** Anything but SERVING is a failure. */
function healthResult(req: Dict, response: GrpcResponse): ReturnType<typeof toResult> {
  const messages = response.messages.map((message) => {
    const { status = 0 } = isDict(message) ? message : {};
    return { status: HEALTH[Number(status)] ?? String(status) };
  });
  const result = toResult(req, { ...response, messages });
  const health = messages[0]?.status;
  if (result.status !== 0 || health === undefined) return result;
  return { ...result, status: health === "SERVING" ? 0 : 1, brief: health };
}

/** A method with the types of its messages, and of all that they refer to. */
interface ServiceMethod {
  readonly method: DescMethod;
  readonly types: Registry;
}

/** Finds a method by the names that a step gives, in files or by asking the server. */
async function findMethod(
  channel: Channel,
  params: GrpcParams,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<ServiceMethod> {
  const { types, service } = params.descriptor_set !== undefined || params.proto?.length
    ? await findInFiles(params, attempt)
    : await findByReflection(channel, params.service!, options, attempt);
  return { types, method: methodOf(types.getService(service)!, params.method!) };
}

async function findInFiles(
  { service: name = "", proto = [], import_paths: directories = [], descriptor_set: set }:
    GrpcParams,
  { context }: ActionAttempt,
): Promise<ServiceTypes> {
  // Steps may be in different files, to which the paths are relative.
  const paths = set === undefined ? [...proto, ...directories] : [set];
  const locations = await Promise.all(paths.map((path) => context.resolvePath(path)));
  const { types, services } = await context.scope.run.resource(
    `grpc:types:${JSON.stringify([locations, set === undefined && proto.length])}`,
    async () => {
      const { readDescriptorSet, readProtoFiles } = await import("./proto_files.ts");
      const files = set === undefined
        ? await readProtoFiles(proto, directories, context)
        : await readDescriptorSet(set, context);
      return {
        types: withKnownTypes(files),
        services: files.flatMap(({ package: pkg, service }) =>
          service.map(({ name }) => joinNames(pkg, name))
        ),
      };
    },
  );
  const matches = services.filter((one) => one === name || one.endsWith(`.${name}`));
  if (matches.length === 1) return { types, service: matches[0]! };
  const parameter = set === undefined ? "proto" : "descriptor_set";
  throw unknownService(name, services, `in "${parameter}"`);
}

/** The details of a status may be of types that no file of the service defines. */
function withKnownTypes(files: Parameters<typeof linkFiles>[0]): Registry {
  return createRegistry(KNOWN_TYPES, linkFiles(files));
}

/** Asks once for each service and channel; other steps wait for that answer. */
async function findByReflection(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<ServiceTypes> {
  const { services } = channel;
  for (;;) {
    const other = services.get(name);
    const answer = other ?? askServer(channel, name, options, attempt);
    services.set(name, answer);
    try {
      const waiting = `asking ${attempt.address} for its services by reflection`;
      return await (other ? attempt.during(waiting, other) : answer);
    } catch (error) {
      if (other && attempt.signal.aborted) throw error;
      if (services.get(name) === answer) services.delete(name);
      // The step that asked may have ended before this one.
      if (!other) throw error;
    }
  }
}

async function askServer(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<ServiceTypes> {
  const { address } = attempt;
  const found = await reflect(channel, name, options, attempt);
  if ("services" in found) throw unknownService(name, found.services, `at ${address}`);
  try {
    const types = withKnownTypes(found.files);
    if (types.getService(found.service)) return { types, service: found.service };
    throw new Error(`${found.service} is not in the files that were sent`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StepError(
      `cannot use the descriptors that ${address} sent by reflection: ${message}`,
      "name the files instead: proto: service.proto",
    );
  }
}

function unknownService(name: string, services: readonly string[], where: string): StepError {
  const offered = services.filter((one) => !one.startsWith("grpc.reflection."));
  const doubles = services.filter((one) => one.endsWith(`.${name}`));
  const short = offered.map((one) => one.slice(one.lastIndexOf(".") + 1));
  const message = doubles.length > 1
    ? `"${name}" is the name of several services ${where}`
    : `unknown service "${name}" ${where}`;
  const hint = doubles.length > 1
    ? `write one of ${doubles.join(", ")}`
    : didYouMean(name, offered) ?? didYouMean(name, short) ??
      (offered.length === 0 ? "there are no services" : `there are ${offered.join(", ")}`);
  return new StepError(`cannot run grpc: ${message}`, hint, { parameter: "service" });
}

function methodOf(service: DescService, name: string): DescMethod {
  const found = service.methods.find((one) => one.name === name) ??
    service.methods.find((one) => one.localName === name);
  if (found) return found;
  const names = service.methods.map((one) => one.name);
  throw new StepError(
    `cannot run grpc: unknown method "${name}" of ${service.typeName}`,
    didYouMean(name, names) ?? `it has ${names.join(", ")}`,
    { parameter: "method" },
  );
}

/** The result of reflection: the files of a service, or the services that exist instead. */
type Reflected =
  | { readonly files: readonly FileDescriptorProto[]; readonly service: string }
  | { readonly services: readonly string[] };

const UNIMPLEMENTED = 12;

interface Question {
  readonly fileByFilename?: string;
  readonly fileContainingSymbol?: string;
  readonly listServices?: string;
}

/** A response in JSON. */
interface Answer {
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto?: readonly string[] };
  readonly listServicesResponse?: { readonly service?: readonly { readonly name?: string }[] };
}

type Ask = (questions: readonly Question[]) => Promise<readonly Answer[]>;

/**
 * Asks a server for the files that define a service, and all that these refer to. The package of
 * the service may be left out where only one service has the name.
 */
async function reflect(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<Reflected> {
  const { ask, services } = await openReflection(channel, options, attempt);
  const matches = services.filter((one) => one === name || one.endsWith(`.${name}`));
  const service = matches.length === 1 ? matches[0]! : name;
  const files = new Map<string, FileDescriptorProto>();
  const sent = new Set<string>();
  for (let questions: Question[] = [{ fileContainingSymbol: service }]; questions.length > 0;) {
    for (const question of questions) sent.add(JSON.stringify(question));
    for (const { fileDescriptorResponse } of await ask(questions)) {
      for (const bytes of fileDescriptorResponse?.fileDescriptorProto ?? []) {
        const file = fromBinary(FileDescriptorProtoSchema, Uint8Array.fromBase64(bytes));
        if (!files.has(file.name)) files.set(file.name, file);
      }
    }
    if (files.size === 0) return { services };
    const all = [...files.values()];
    questions = [
      ...all.flatMap(({ dependency }) => dependency).filter((one) => !files.has(one))
        .map((one) => ({ fileByFilename: one })),
      // Some servers name no dependencies.
      ...undefinedTypes(all).map((one) => ({ fileContainingSymbol: one })),
    ].filter((question) => !sent.has(JSON.stringify(question)));
  }
  return { files: [...files.values()], service };
}

/** Finds out which version of reflection the server speaks, and its services. */
async function openReflection(
  channel: Channel,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<{ readonly ask: Ask; readonly services: readonly string[] }> {
  let refused: StepError | undefined;
  // A server that knows only the old one, or a proxy before it, may refuse the other by any code.
  for (const version of ["v1", "v1alpha"]) {
    const service = KNOWN_TYPES.getService(`grpc.reflection.${version}.ServerReflection`)!;
    const method = service.method.serverReflectionInfo!;
    const send = (questions: readonly Question[]) => {
      const messages = questions.map((question) => create(method.input, { ...question }));
      const awaited = "the answer of server reflection";
      const call = { ...options, method, types: KNOWN_TYPES, messages, awaited };
      return makeCall(channel, call, attempt);
    };
    const refusal = (code: number, message: string) =>
      new StepError(
        `cannot read the services of ${attempt.address} by reflection: ${message} (${
          nameOfStatus(code)
        })`,
        message.startsWith(NOT_GRPC)
          ? "does a gRPC server listen there?"
          : "files say the same: proto: service.proto",
      );
    const ask: Ask = async (questions) => {
      const { code, message, messages } = await send(questions);
      if (code !== 0) throw refusal(code, message);
      return messages as readonly Answer[];
    };
    const { code, message, messages } = await send([{ listServices: "*" }]);
    if (code !== 0) {
      if (code !== UNIMPLEMENTED) refused ??= refusal(code, message);
      continue;
    }
    const [list] = messages as readonly Answer[];
    const services = list?.listServicesResponse?.service ?? [];
    return { ask, services: services.map(({ name = "" }) => name) };
  }
  throw refused ?? new StepError(
    `${attempt.address} does not offer server reflection (UNIMPLEMENTED)`,
    "switch it on in the server, or name the files: proto: service.proto",
  );
}

// Its version 2.3.0 keeps 400 bytes of each message until the call ends.
const { createGrpcTransport } = await import("@connectrpc/connect-node");
const { Code, ConnectError } = await import("@connectrpc/connect");

type Failure = InstanceType<typeof ConnectError>;

/** What all calls of a step have in common. */
interface CallOptions {
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

interface GrpcResponse {
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
async function makeCall(
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
function nameOfStatus(code: number): string {
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

const NOT_GRPC = "the response is not one of gRPC";

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
