import { hideHeaders } from "../http/http_params.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import { describeValue, type Value } from "../../base/value/value.ts";
import type { Endpoint } from "../../action/net/endpoint.ts";
import {
  duration,
  flag,
  integer,
  mapOf,
  type Param,
  sharing,
  text,
  timeout,
  value,
  type Values,
} from "../../action/rule.ts";
import { tlsSwitch } from "../../action/tls/tls.ts";

/** Names in lower case with their values. */
export type Metadata = Readonly<Record<string, readonly string[]>>;

/** Reads `host:port`; an address of IPv6 has brackets. */
function readAddress(text: string, param: Param): Endpoint {
  const [, host, six, port] = /^(?:([^\s:/@[\]]+)|\[([\da-fA-F:.]+)\]):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  if (number >= 1 && number <= 65_535) return { host: (host ?? six)!, port: number };
  throw param.wrong(
    `invalid address ${JSON.stringify(text)}`,
    "write a host and a port: localhost:50051",
  );
}

/** Parses a message that is given as text; undefined if there is none. */
function readBody(body: Value, param: Param): Value | undefined {
  if (typeof body !== "string") return body;
  if (body.trim() === "") return undefined;
  try {
    return parseJson(body) as Value;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw param.wrong(`"body" is not JSON: ${message}`);
  }
}

/** A path, or a list of paths. */
const paths = (summary: string) =>
  value(["string", "list"], summary).as((given, param) =>
    [given].flat().map((path) => {
      if (typeof path === "string" && path !== "") return path;
      throw param.wrong(`${param.name} must be paths, not ${describeValue(path)}`);
    })
  );

/** Names that belong to the protocol. */
const RESERVED = /^(?:grpc-|:)|^(?:te|content-type|connection|host|transfer-encoding)$/;

const metadata = (summary: string) =>
  mapOf(value(["string", "list"], "").as(readValues), summary, checkName)
    .as((map): Metadata =>
      Object.fromEntries(
        Object.entries(map).flatMap(([name, texts]) => texts ? [[name.toLowerCase(), texts]] : []),
      )
    ).with({ hide: hideHeaders });

function checkName(written: string, param: Param): void {
  const name = written.toLowerCase();
  if (!/^:?[\w.-]+$/.test(name)) param.wrong(`invalid name "${written}" in "metadata"`);
  else if (RESERVED.test(name)) {
    param.wrong(`"${written}" in "metadata" is a name of the protocol itself`);
  }
}

function readValues(given: string | readonly Value[], param: Param): readonly string[] {
  const name = String(param.path.at(-1));
  return [given].flat().map((one) => {
    if (one === null || typeof one === "object") {
      throw param.wrong(`"${name}" in "metadata" must be text, not ${describeValue(one)}`);
    }
    const text = String(one);
    if (name.toLowerCase().endsWith("-bin")) {
      if (/^[\w+/-]*={0,2}$/.test(text)) return text;
      throw param.wrong(`"${name}" in "metadata" must be base64, as its name ends in "-bin"`);
    }
    if (/^[ -~]*$/.test(text)) return text.trim();
    throw param.wrong(
      `"${name}" in "metadata" has a character that cannot be sent`,
      'write its bytes as base64 under a name that ends in "-bin"',
    );
  });
}

/** The parameters of grpc. */
export const PARAMS = {
  addr: text("The server: `host:port`").as(readAddress).required(),
  service: text(
    "The service, `demo.v1.Users`; the package may be left out if that is unambiguous",
  ),
  method: text("The method: `GetUser`"),
  health: value(
    ["boolean", "string"],
    "Asks for the health of this service, instead of a method; `true` for the server",
  ),
  body: value(
    ["map", "list", "string"],
    "The message as a map or as JSON text; for a method that takes a stream, a list",
  ).as(readBody).with({ default: "an empty message" }),
  metadata: metadata(
    "Names and values to send; a list repeats its name, `-bin` takes base64",
  ),
  proto: paths("Paths of .proto files that define the service")
    .with({ default: "server reflection" }),
  import_paths: paths("Directories of the files that .proto files import"),
  descriptor_set: text(
    "The path of a descriptor set that defines the service, instead of .proto files",
  ).with({ namesFile: "any" }),
  deadline: duration("How long the call may take; then its status is `DEADLINE_EXCEEDED`"),
  max_messages: integer("Ends a stream after that many messages of the server", { min: 1 }),
  tls: tlsSwitch(),
  insecure: flag("With TLS: the same as `tls: { verify: false }`"),
  ca_file: text("With TLS: the same as `tls: { ca: … }`"),
  cert_file: text("With TLS: the same as `tls: { cert: … }`"),
  key_file: text("With TLS: the same as `tls: { key: … }`"),
  ...sharing("connection", "job and address"),
  ...timeout("How long everything may take; then the step fails"),
};

export type GrpcParams = Values<typeof PARAMS>;
