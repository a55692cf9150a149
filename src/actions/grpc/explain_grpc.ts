import { MASK } from "../../secrets/masker.ts";
import { isSecretHeader } from "../../secrets/secrets.ts";
import { isDict } from "../../base/value/value.ts";
import type {
  ActionExplainer,
  CommandLine,
  CommandWord,
  Dict,
  Value,
} from "../../action/action.ts";
import { readParameters } from "../../action/read_parameters.ts";

/** Shows what grpc sent and received in reports. */
export const grpcExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: {
      title: `${req.service}/${req.method} at ${req.addr}`,
      covered: ["addr", "service", "method"],
    },
    ...res
      ? {
        response: {
          kept: withoutRepetition(res),
          title: `${res.status_code} (${res.code})`,
          covered: ["code", "status_code"],
          minor: MINOR.map((name) => ["metadata", name]),
        },
      }
      : {},
  }),
  command: grpcurlCommand,
  testHint: (parts, { code, body }) =>
    !parts.includes("status")
      ? undefined
      : code === 0 && isDict(body) && UNHEALTHY.has(body.status)
      ? `the health of the service is ${body.status}; status is 0 for SERVING`
      : "status is the number of the gRPC status, 0 for OK; its name is res.status_code",
};

/** Responses to a health check for which `status` is not the code of the call. */
const UNHEALTHY = new Set<Value | undefined>(["NOT_SERVING", "UNKNOWN", "SERVICE_UNKNOWN"]);

/** Metadata that does not help to find out why a call failed. */
const MINOR = ["content-type", "grpc-accept-encoding", "grpc-encoding", "date", "server"];

/** A response without what is empty or repeats its body. */
function withoutRepetition(res: Dict): Dict {
  const { rawbody: _, messages, ...rest } = res;
  const count = Array.isArray(messages) ? messages.length : 0;
  const kept = count > 1 ? { ...without(rest, "body"), messages: messages! } : rest;
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => !isEmpty(value)));
}

function without(map: Dict, name: string): Dict {
  return Object.fromEntries(Object.entries(map).filter(([key]) => key !== name));
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
  const headers = Object.entries(isDict(metadata) ? metadata : {}).flatMap(([name, value]) =>
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
  const read = readParameters("grpc", params);
  const { tls } = params;
  const isOn = tls === true || tls === "true" || isDict(tls);
  if (!isOn) return ["-plaintext"];
  const map = isDict(tls) ? tls : {};
  const file = (option: string, value: Value | undefined) =>
    typeof value === "string" && !value.includes("-----BEGIN ") ? [option, value] : [];
  return [
    ...map.verify === false || read.boolean("insecure") ? ["-insecure"] : [],
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
