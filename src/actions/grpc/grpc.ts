import { action } from "../../action/make_action.ts";
import type { Param } from "../../action/rule.ts";
import { isGiven } from "../../action/parameter.ts";
import { dictOf, isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import { hideHeaders } from "../http/http_params.ts";
import type { Channel } from "./channel.ts";
import { type GrpcParams, PARAMS } from "./grpc_params.ts";
import { MASK } from "../../secrets/masker.ts";
import { isSecretHeader } from "../../secrets/secrets.ts";
import type { ActionExplainer, CommandLine, CommandWord } from "../../action/explainer.ts";
import type { Tls } from "../../action/tls/tls.ts";

/** Parameters that other tools have in place of the fields of `tls`. */
const TLS_FILES = ["insecure", "ca_file", "cert_file", "key_file"] as const;

/** What grpc sent and received, as reports show it. */
const describe: ActionExplainer["describe"] = (req, res) => ({
  request: {
    title: `${req.service}/${req.method} at ${req.addr}`,
    covered: ["addr", "service", "method"],
  },
  ...res && {
    response: {
      kept: withoutRepetition(res),
      title: `${res.status_code} (${res.code})`,
      covered: ["code", "status_code"],
      minor: MINOR.map((name) => ["metadata", name]),
    },
  },
});

export const testHint: ActionExplainer["testHint"] = (parts, { code, body }) =>
  !parts.includes("status")
    ? undefined
    : code === 0 && isDict(body) && UNHEALTHY.has(body.status)
    ? `the health of the service is ${body.status}; status is 0 for SERVING`
    : "status is the number of the gRPC status, 0 for OK; its name is res.status_code";

/** Responses to a health check for which `status` is not the code of the call. */
const UNHEALTHY = new Set<Value | undefined>(["NOT_SERVING", "UNKNOWN", "SERVICE_UNKNOWN"]);

/** Metadata that does not help to find out why a call failed. */
const MINOR = ["content-type", "grpc-accept-encoding", "grpc-encoding", "date", "server"];

/** A response without what is empty or repeats its body. */
function withoutRepetition(res: Dict): Dict {
  const count = Array.isArray(res.messages) ? res.messages.length : 0;
  const repeated = ["rawbody", count > 1 ? "body" : "messages"];
  const kept = Object.entries(res)
    .filter(([name, value]) => !repeated.includes(name) && !isEmpty(value));
  return Object.fromEntries(kept);
}

function isEmpty(value: Value): boolean {
  if (value === null || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** A grpcurl command that makes a call once more. */
function grpcurlCommand(req: Dict, params: Dict): CommandLine {
  const { body, metadata } = req;
  const isStream = Array.isArray(body);
  const isEmptyBody = isDict(body) && Object.keys(body).length === 0;
  const data = isStream ? body.map((one) => JSON.stringify(one)).join("\n") : JSON.stringify(body);
  const headers = Object.entries(dictOf(metadata)).flatMap(([name, value]) =>
    [value].flat().map((one) => headerWord(name, String(one)))
  );
  return {
    groups: [
      ["grpcurl", ...tlsWords(params)],
      ...fileWords(params),
      ...headers.map((header) => ["-H", header]),
      ...isEmptyBody ? [] : [["-d", data]],
      [String(req.addr), `${req.service}/${req.method}`],
    ],
  };
}

function headerWord(name: string, value: string): CommandWord {
  return isSecretHeader(name)
    ? { before: `${name}: `, secret: value, shown: MASK }
    : `${name}: ${value}`;
}

function tlsWords(params: Dict): string[] {
  const { tls } = params;
  const isOn = tls === true || tls === "true" || isDict(tls);
  if (!isOn) return ["-plaintext"];
  const map = dictOf(tls);
  const file = (option: string, value: Value | undefined) =>
    typeof value === "string" && !value.includes("-----BEGIN ") ? [option, value] : [];
  return [
    ...map.verify === false || String(params.insecure) === "true" ? ["-insecure"] : [],
    ...file("-cacert", map.ca ?? params.ca_file),
    ...file("-cert", map.cert ?? params.cert_file),
    ...file("-key", map.key ?? params.key_file),
    ...file("-servername", map.server_name),
  ];
}

function fileWords({ proto, import_paths: paths, descriptor_set: set }: Dict): string[][] {
  const each = (option: string, value: Value | undefined) =>
    value === undefined || value === null ? [] : [value].flat().map((one) => [option, String(one)]);
  return [...each("-import-path", paths), ...each("-proto", proto), ...each("-protoset", set)];
}

/** Calls a method of a gRPC server. Any status is a result; no connection is an error. */
export const grpc = action({
  name: "grpc",
  summary: "Calls methods of gRPC servers, by reflection or .proto files",
  params: PARAMS,
  atMostOne: ["proto", "descriptor_set"],
  check(_, param, raw) {
    checkMethod(param, raw);
    if (isGiven(raw, "import_paths") && !isGiven(raw, "proto")) {
      const message = '"import_paths" belongs to "proto", which is not there';
      param.of("import_paths").wrong(message, undefined, { at: "key" });
    }
    checkTlsFiles(param, raw);
  },
  res: {
    code: { type: "int", summary: "the number of the status: 0 for OK, 5 for NOT_FOUND" },
    status_code: {
      type: "string",
      summary: "the name of the status: `OK`, `NOT_FOUND`, `UNAVAILABLE`",
      hint: "it is the name of the status; the number is res.code",
    },
    status_message: { type: "string", summary: 'what the server says about the status, else `""`' },
    body: { type: "any", summary: "the last message, or nil" },
    rawbody: { type: "string", summary: "the last message as JSON text", repeats: "body" },
    messages: { type: "array", summary: "all messages" },
    metadata: {
      type: "map",
      summary: "what the server sent before the messages, by name in lower case",
      hide: hideHeaders,
    },
    trailers: {
      type: "map",
      summary: "what the server sent after the messages",
      hide: hideHeaders,
    },
    details: {
      type: "array",
      summary: "the details of the status: maps with `@type`, such as a `google.rpc.BadRequest`",
    },
  },
  usage: `with:
  addr: localhost:50051
  service: demo.v1.Users
  method: GetUser
  body: { id: "7" }`,
  example: 'res.body.name == "Ann"',
  target: ({ addr }) => addr,
  modules: () => Promise.all([import("./channel.ts"), import("./call_method.ts")]),
  connection: {
    by: ["addr", "tls", ...TLS_FILES],
    parallel: true,
    async open(params, attempt): Promise<Channel> {
      const { openChannel } = await import("./channel.ts");
      return await openChannel(tlsOf(params), attempt);
    },
    isLost: ({ isOpen }) => !isOpen,
    close: (channel) => channel.close(),
  },
  async run(channel, params, attempt, raw) {
    const { callMethod } = await import("./call_method.ts");
    return await callMethod(channel, params, attempt, raw);
  },
  describe,
  command: grpcurlCommand,
  testHint,
});

function checkMethod(param: Param, raw: Dict): void {
  const { service } = raw;
  if (isGiven(raw, "health") && raw.health !== false) {
    // A service may come from the defaults of the job.
    for (const name of ["method", "body"].filter((one) => isGiven(raw, one))) {
      const message = `"health" and "${name}" cannot be combined`;
      param.of(name).wrong(message, undefined, { at: "key" });
    }
  } else if (!isGiven(raw, "service")) {
    if (service === null && !param.isEarly) param.of("service").missing(service);
    else param.wrong('grpc needs "service" and "method", or "health"');
  } else if (!isGiven(raw, "method")) {
    const [, name, method] = /^([\w.]+)\/(\w+)$/.exec(String(service)) ?? [];
    param.wrong('grpc needs "method"', method && `write service: ${name}, method: ${method}`);
  }
}

/** The spellings of other tools say nothing where TLS is off, and nothing new beside a map. */
function checkTlsFiles(param: Param, raw: Dict): void {
  const { tls } = raw;
  const names = TLS_FILES.filter((name) => isGiven(raw, name) && raw[name] !== false);
  const [first] = names;
  if (first === undefined) return;
  const wrong = (name: string, message: string) =>
    param.of(name).wrong(message, undefined, { at: "key" });
  if (isDict(tls)) wrong(first, `"tls" as a map and "${first}" cannot be combined`);
  else if (!isGiven(raw, "tls") || tls === false) wrong(first, `"${first}" needs "tls: true"`);
  // A file may hold both the certificate and its key.
  else if (names.includes("key_file") && !names.includes("cert_file")) {
    wrong("key_file", '"key_file" needs "cert_file"');
  }
}

/** How to use TLS, in whatever way the step says it. */
function tlsOf(params: GrpcParams): Tls | false | undefined {
  const { tls, insecure, ca_file: ca, cert_file: cert, key_file: key } = params;
  return tls && { ca, cert, key, ...insecure && { verify: false }, ...tls };
}
