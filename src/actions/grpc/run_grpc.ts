import { StepError } from "../../base/errors.ts";
import { describeValue } from "../../base/value/value.ts";
import type { ActionContext, ActionResult, Dict, Value } from "../../action/action.ts";
import { checkNet } from "../../action/net/open_socket.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { readParameters } from "../../action/read_parameters.ts";
import { shareConnection } from "../../action/shared_connection.ts";
import type { GrpcResponse } from "./grpc_call.ts";
import { findMethod } from "./find_method.ts";
import { decodeMessage, encodeMessage } from "./json_message.ts";
import { knownType, knownTypes } from "./known_types.ts";
import { callOver, closeLink, type GrpcLink, makeLink } from "./link.ts";
import {
  create,
  createRegistry,
  type DescMethod,
  fromBinary,
  type Message,
  type Registry,
  toBinary,
} from "./protobuf.ts";
import { type GrpcRequest, type MethodCall, readGrpcRequest } from "./read_grpc_request.ts";
import { nameOfStatus } from "./status.ts";

/** Calls a method. Any status is a result; no connection and a timeout are errors. */
export async function runGrpc(params: Dict, outerContext: ActionContext): Promise<ActionResult> {
  const read = readParameters("grpc", params);
  const ownTimeout = read.duration("timeout");
  const { context, release } = limitAction(outerContext, ownTimeout);
  const timeout = Math.min(ownTimeout || Infinity, context.deadline.timeout);
  const began = context.host.clock.ticks();
  const left = () => Math.max(1, timeout - (context.host.clock.ticks() - began));
  try {
    const request = await readGrpcRequest(params, context);
    await checkNet(request.endpoint, context);
    const link = openLink(params, request, context);
    const { target } = request;
    return await ("health" in target
      ? checkHealth(link, target.health, request, params, left, context)
      : callMethod(link, target, request, params, left, context));
  } finally {
    release();
  }
}

function openLink(params: Dict, { endpoint, tls }: GrpcRequest, context: ActionContext): GrpcLink {
  const key = `${endpoint.host}:${endpoint.port}:${JSON.stringify(tls ?? null)}`;
  const open = () => makeLink(endpoint, tls);
  return shareConnection("grpc", params, context.scope, key, open, closeLink);
}

/** The options of a call: the milliseconds that are left for it when it begins. */
type Left = () => number;

async function callMethod(
  link: GrpcLink,
  target: MethodCall,
  { metadata, files, deadline, maxMessages }: GrpcRequest,
  params: Dict,
  left: Left,
  context: ActionContext,
): Promise<ActionResult> {
  const send = (path: string, messages: readonly Uint8Array[]) =>
    callOver(
      link,
      { path, messages, metadata, timeout: left() },
      "the answer of server reflection",
      context,
    );
  const { method, types } = await findMethod(link, target, files, send, context);
  const name = `${method.parent.typeName}/${method.name}`;
  const bodies = bodiesOf(method, name, target.body);
  const messages = bodies.map((body, at) => {
    const path = takesStream(method) ? `body[${at}]` : "body";
    return encodeMessage(method.input, body, types, `cannot call ${name}`, path);
  });
  const answer = await callOver(
    link,
    { path: `/${name}`, messages, metadata, timeout: left(), deadline, maxMessages },
    `the answer of ${name}`,
    context,
  );
  const received = answer.messages.map((bytes) => decodeMessage(method.output, bytes, types, name));
  return {
    req: {
      addr: String(params.addr),
      service: method.parent.typeName,
      method: method.name,
      body: takesStream(method) ? bodies : bodies[0]!,
      ...params.metadata ? { metadata: params.metadata } : {},
    },
    res: toRes(answer, received, types),
    status: answer.status.code,
    brief: nameOfStatus(answer.status.code),
  };
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

function toRes(answer: GrpcResponse, messages: readonly Value[], types: Registry): Dict {
  const { status, metadata, trailers } = answer;
  const body = messages.at(-1) ?? null;
  return {
    code: status.code,
    status_code: nameOfStatus(status.code),
    status_message: status.message,
    body,
    rawbody: body === null ? "" : JSON.stringify(body),
    messages,
    metadata,
    trailers,
    details: detailsOf(status.details, types),
  };
}

/** The details of a status as JSON; of an unknown type, its bytes. */
function detailsOf(bytes: Uint8Array | undefined, types: Registry): Value {
  if (bytes === undefined) return [];
  const known = createRegistry(types, knownTypes());
  const any = knownTypes().getMessage("google.protobuf.Any")!;
  try {
    const { details } = fromBinary(knownType("google.rpc.Status"), bytes) as unknown as Status;
    return details.map((detail) => {
      try {
        return decodeMessage(any, toBinary(any, detail), known, "the details");
      } catch {
        return { "@type": detail.typeUrl, value: detail.value.toBase64() };
      }
    });
  } catch {
    return [];
  }
}

interface Status {
  readonly details: readonly (Message & { readonly typeUrl: string; readonly value: Uint8Array })[];
}

/** The meanings of the status numbers in the response to a health check. */
const HEALTH = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/** Asks the standard service for health. Anything but SERVING is a failure. */
async function checkHealth(
  link: GrpcLink,
  service: string,
  { metadata, deadline }: GrpcRequest,
  params: Dict,
  left: Left,
  context: ActionContext,
): Promise<ActionResult> {
  const type = knownType("grpc.health.v1.HealthCheckRequest");
  const answer = await callOver(
    link,
    {
      path: "/grpc.health.v1.Health/Check",
      messages: [toBinary(type, create(type, { service }))],
      ...{ metadata, deadline, timeout: left() },
    },
    "the health check",
    context,
  );
  const reply = knownType("grpc.health.v1.HealthCheckResponse");
  const messages = answer.messages.map((bytes) => {
    const { status = 0 } = decodeMessage(reply, bytes, knownTypes(), "the health check") as {
      status?: number;
    };
    return { status: HEALTH[status] ?? String(status) };
  });
  const { code } = answer.status;
  const health = messages[0]?.status;
  return {
    req: {
      addr: String(params.addr),
      service: "grpc.health.v1.Health",
      method: "Check",
      body: { service },
      ...params.metadata ? { metadata: params.metadata } : {},
    },
    res: toRes(answer, messages, knownTypes()),
    status: code !== 0 ? code : health === "SERVING" ? 0 : 1,
    brief: code === 0 && health !== undefined ? health : nameOfStatus(code),
  };
}
