import { isTemplate } from "../../expr/template/template_data.ts";
import { isDict } from "../../base/value/value.ts";
import type { Action, Dict, ParameterProblem } from "../../action/action.ts";
import { isGiven } from "../../action/parameters.ts";
import { sharingParameters } from "../../action/shared_connection.ts";
import { hideHeaders } from "../http/hide_headers.ts";
import { TLS_SWITCH } from "../../action/net/tls_switch.ts";
import { checkTls } from "../../action/tls/tls_parameter.ts";
import { readGrpcAddress } from "./read_address.ts";

/** Calls a method of a gRPC server. */
export const grpc: Action = {
  name: "grpc",
  summary: "Calls methods of gRPC servers, by reflection or .proto files",
  parameters: [
    { name: "addr", type: "string", summary: "The server: `host:port`", required: true },
    {
      name: "service",
      type: "string",
      summary: "The service, `demo.v1.Users`; the package may be left out if that is unambiguous",
    },
    { name: "method", type: "string", summary: "The method: `GetUser`" },
    {
      name: "health",
      type: ["string", "boolean"],
      summary: "Asks for the health of this service, in place of a method; `true` for the server",
    },
    {
      name: "body",
      type: ["map", "list", "string"],
      summary: "The message as a map or as JSON text; of a method that takes a stream, a list",
      default: "an empty message",
    },
    {
      name: "metadata",
      type: "map",
      summary: "Names and values to send along; a list repeats its name, `-bin` takes base64",
      hide: hideHeaders,
    },
    {
      name: "proto",
      type: ["string", "list"],
      summary: "Paths of .proto files that define the service",
      default: "server reflection",
    },
    {
      name: "import_paths",
      type: ["string", "list"],
      summary: "Directories of the files that .proto files import",
    },
    {
      name: "descriptor_set",
      type: "string",
      summary: "The path of a descriptor set that defines the service, in place of .proto files",
      namesFile: "any",
    },
    {
      name: "deadline",
      type: "duration",
      summary: "How long the call may take; then its status is `DEADLINE_EXCEEDED`",
    },
    {
      name: "max_messages",
      type: "integer",
      summary: "Ends a stream after that many messages of the server",
    },
    TLS_SWITCH,
    {
      name: "insecure",
      type: "boolean",
      summary: "With TLS: the same as `tls: { verify: false }`",
    },
    { name: "ca_file", type: "string", summary: "With TLS: the same as `tls: { ca: … }`" },
    { name: "cert_file", type: "string", summary: "With TLS: the same as `tls: { cert: … }`" },
    { name: "key_file", type: "string", summary: "With TLS: the same as `tls: { key: … }`" },
    ...sharingParameters("connection", "job and address"),
    {
      name: "timeout",
      type: "duration",
      summary: "How long everything may take; then the step fails",
      default: "the timeout of the step",
    },
  ],
  alternatives: [{ names: ["proto", "descriptor_set"] }],
  responseFields: [
    { name: "code", type: "int" },
    {
      name: "status_code",
      type: "string",
      hint: "it is the name of the status; the number is res.code",
    },
    { name: "status_message", type: "string" },
    { name: "body" },
    { name: "rawbody", type: "string", repeats: "body" },
    { name: "messages", type: "array" },
    { name: "metadata", type: "map", hide: hideHeaders },
    { name: "trailers", type: "map", hide: hideHeaders },
    { name: "details", type: "array" },
  ],
  check: (params) => [
    ...checkTarget(params),
    ...checkFiles(params),
    ...checkTls(params),
    ...checkTlsFiles(params),
  ],
  exampleTest: 'res.body.name == "Ann"',
  explainer: async () => (await import("./explain_grpc.ts")).grpcExplainer,
  load: async () => (await import("./run_grpc.ts")).runGrpc,
};

function checkTarget(params: Dict): readonly ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  const { addr, service, max_messages: maxMessages } = params;
  if (typeof addr === "string" && !isTemplate(addr) && !readGrpcAddress(addr)) {
    const hint = "write a host and a port: localhost:50051";
    problems.push({ path: ["addr"], message: `invalid address "${addr}"`, hint });
  }
  const isHealth = isGiven(params, "health");
  if (!isGiven(params, "service") && !isHealth) {
    problems.push({ path: [], message: 'grpc needs "service" and "method", or "health"' });
  } else if (isHealth) {
    // A service may come from the defaults of the job.
    for (const name of ["method", "body"].filter((one) => isGiven(params, one))) {
      const message = `"health" and "${name}" cannot be combined`;
      problems.push({ path: [name], at: "key", message });
    }
  } else if (!isGiven(params, "method")) {
    const [, name, method] = /^([\w.]+)\/(\w+)$/.exec(String(service)) ?? [];
    const hint = method === undefined ? undefined : `write service: ${name}, method: ${method}`;
    problems.push({ path: [], message: 'grpc needs "method"', ...hint ? { hint } : {} });
  }
  if (typeof maxMessages === "number" && maxMessages < 1) {
    problems.push({ path: ["max_messages"], message: '"max_messages" must be at least 1' });
  }
  return problems;
}

function checkFiles(params: Dict): readonly ParameterProblem[] {
  if (isGiven(params, "proto") && isGiven(params, "descriptor_set")) {
    const message = '"proto" and "descriptor_set" cannot be combined';
    return [{ path: ["descriptor_set"], at: "key", message }];
  }
  if (!isGiven(params, "import_paths") || isGiven(params, "proto")) return [];
  const message = '"import_paths" belongs to "proto", which is not there';
  return [{ path: ["import_paths"], at: "key", message }];
}

const TLS_FILES = ["insecure", "ca_file", "cert_file", "key_file"];

/** The spellings of other tools say nothing where TLS is off, and nothing new beside a map. */
function checkTlsFiles(params: Dict): readonly ParameterProblem[] {
  const { tls } = params;
  const names = TLS_FILES.filter((name) => isGiven(params, name) && params[name] !== false);
  const [first] = names;
  if (first === undefined) return [];
  if (isDict(tls)) {
    const message = `"tls" as a map and "${first}" cannot be combined`;
    return [{ path: [first], at: "key", message }];
  }
  const problems: ParameterProblem[] = [];
  if (!isGiven(params, "tls") || tls === false) {
    const message = `"${first}" needs "tls: true"`;
    problems.push({ path: [first], at: "key", message });
  }
  // A file may hold both the certificate and its key.
  if (names.includes("key_file") && !names.includes("cert_file")) {
    problems.push({ path: ["key_file"], at: "key", message: '"key_file" needs "cert_file"' });
  }
  return problems;
}
