import { StepError } from "../../base/errors.ts";
import { describeValue, dictOf, isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { Channel } from "./channel.ts";
import type { GrpcParams } from "./grpc_params.ts";
import { encodeMessage } from "./json_message.ts";
import { KNOWN_TYPES } from "./link_files.ts";
import type { DescMethod } from "./protobuf.ts";
import { type GrpcResponse, makeCall, nameOfStatus } from "./make_call.ts";
import { findMethod, type ServiceMethod } from "./find_method.ts";

/** Calls the method that a step names, or the one that tells the health of a service. */
export async function callMethod(
  channel: Channel,
  params: GrpcParams,
  attempt: ActionAttempt,
  raw: Dict,
): Promise<ReturnType<typeof toResult>> {
  const { health, deadline, max_messages: maxMessages } = params;
  const { trace, deadline: { timeout: stepTimeout } } = attempt.context;
  const traced = trace?.header(dictOf(raw.metadata));
  const metadata = { ...params.metadata, ...traced && { traceparent: [traced.traceparent] } };
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
    ...raw.metadata || traced ? { metadata: { ...dictOf(raw.metadata), ...traced } } : {},
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
