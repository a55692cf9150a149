import { StepError } from "../../base/errors.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import { describeValue, isDict } from "../../base/value/value.ts";
import type { ActionContext, Dict, Value } from "../../action/action.ts";
import type { Endpoint } from "../../action/net/endpoint.ts";
import { readTls } from "../../action/net/open_socket.ts";
import { type ParameterReader, readParameters, required } from "../../action/read_parameters.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";
import type { Metadata } from "./grpc_call.ts";
import { readGrpcAddress } from "./read_address.ts";

/** The request of a step. */
export interface GrpcRequest {
  readonly endpoint: Endpoint;
  readonly tls: TlsOptions | undefined;
  readonly target: GrpcTarget;
  readonly metadata: Metadata;
  readonly deadline: number | undefined;
  readonly maxMessages: number | undefined;
  readonly files: ProtoFiles | undefined;
}

/** A method with what to send, or a service whose health is asked for. */
export type GrpcTarget = MethodCall | { readonly health: string };

/** A method, as a step names it, and what to send. */
export interface MethodCall {
  readonly service: string;
  readonly method: string;
  readonly body: Value | undefined;
}

/** Files that define a service, in place of reflection. */
export type ProtoFiles =
  | { readonly proto: readonly string[]; readonly directories: readonly string[] }
  | { readonly descriptorSet: string };

/** Reads the parameters of a step. */
export async function readGrpcRequest(params: Dict, context: ActionContext): Promise<GrpcRequest> {
  const read = readParameters("grpc", params);
  const addr = required("grpc", "addr", read.string("addr"));
  const endpoint = readGrpcAddress(addr);
  if (!endpoint) {
    throw problem(
      `invalid address ${JSON.stringify(addr)}`,
      "addr",
      "write a host and a port: localhost:50051",
    );
  }
  const maxMessages = read.integer("max_messages");
  if (maxMessages !== undefined && maxMessages < 1) {
    throw problem('"max_messages" must be at least 1', "max_messages");
  }
  return {
    endpoint,
    tls: await readTls("grpc", tlsOf(params, read), context),
    target: readTarget(params, read),
    metadata: readMetadata(read.map("metadata") ?? {}),
    deadline: read.duration("deadline") || undefined,
    maxMessages,
    files: readFiles(params, read),
  };
}

function problem(message: string, parameter: string, hint?: string): StepError {
  return new StepError(`cannot run grpc: ${message}`, hint, { parameter });
}

/** `tls`, where the spellings of other tools say how. */
function tlsOf(params: Dict, read: ParameterReader): Value | undefined {
  const { tls } = params;
  const [ca, cert, key] = ["ca_file", "cert_file", "key_file"].map((name) => read.string(name));
  const options: Record<string, Value> = {
    ...ca === undefined ? {} : { ca },
    ...cert === undefined ? {} : { cert },
    ...key === undefined ? {} : { key },
    ...read.boolean("insecure") ? { verify: false } : {},
  };
  const isOn = tls === true || tls === "true";
  return isOn && Object.keys(options).length > 0 ? options : tls;
}

function readTarget(params: Dict, read: ParameterReader): GrpcTarget {
  const { health } = params;
  if (health !== undefined && health !== null && health !== false) {
    return { health: health === true ? "" : String(health) };
  }
  const service = required("grpc", "service", read.string("service"));
  const method = required("grpc", "method", read.string("method"));
  const { body } = params;
  return { service, method, body: typeof body === "string" ? parseBody(body) : body ?? undefined };
}

function parseBody(text: string): Value | undefined {
  if (text.trim() === "") return undefined;
  try {
    return parseJson(text) as Value;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw problem(`"body" is not JSON: ${message}`, "body");
  }
}

function readFiles(params: Dict, read: ParameterReader): ProtoFiles | undefined {
  const descriptorSet = read.string("descriptor_set");
  if (descriptorSet !== undefined) return { descriptorSet };
  const proto = textsOf(params, "proto");
  return proto.length === 0 ? undefined : { proto, directories: textsOf(params, "import_paths") };
}

function textsOf(params: Dict, name: string): string[] {
  const value = params[name];
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((one) => {
    if (typeof one === "string" && one !== "") return one;
    throw problem(`"${name}" must be paths, not ${describeValue(one)}`, name);
  });
}

/** Names that belong to the protocol. */
const RESERVED = /^(?:grpc-|:)|^(?:te|content-type|connection|host|transfer-encoding)$/;

function readMetadata(map: Dict): Metadata {
  const metadata: Record<string, string[]> = {};
  for (const [written, value] of Object.entries(map)) {
    const name = written.toLowerCase();
    if (!/^:?[\w.-]+$/.test(name)) throw metadataProblem(`invalid name "${written}" in "metadata"`);
    if (RESERVED.test(name)) {
      throw metadataProblem(`"${written}" in "metadata" is a name of the protocol itself`);
    }
    if (value === null) continue;
    const values = (Array.isArray(value) ? value : [value]).map((one) => textOf(one, written));
    metadata[name] = values.map((text) => checked(text, name));
  }
  return metadata;
}

function textOf(value: Value, name: string): string {
  if (value === null || typeof value === "object") {
    const what = isDict(value) ? "a map" : describeValue(value);
    throw metadataProblem(`"${name}" in "metadata" must be text, not ${what}`);
  }
  return String(value);
}

function checked(text: string, name: string): string {
  if (name.endsWith("-bin")) {
    if (/^[\w+/-]*={0,2}$/.test(text)) return text;
    throw metadataProblem(`"${name}" in "metadata" must be base64, as its name ends in "-bin"`);
  }
  if (/^[ -~]*$/.test(text)) return text.trim();
  throw metadataProblem(
    `"${name}" in "metadata" has a character that cannot be sent`,
    'write its bytes as base64 under a name that ends in "-bin"',
  );
}

function metadataProblem(message: string, hint?: string): StepError {
  return problem(message, "metadata", hint);
}
