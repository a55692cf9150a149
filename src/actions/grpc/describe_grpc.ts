import { MASK } from "../../secrets/masker.ts";
import { isSecretHeader } from "../../secrets/secrets.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { ActionExplainer, CommandLine, CommandWord } from "../../action/explainer.ts";

/** What grpc sent and received, as reports show it. */
export const describe: ActionExplainer["describe"] = (req, res) => ({
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
export function grpcurlCommand(req: Dict, params: Dict): CommandLine {
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
  const { tls } = params;
  const isOn = tls === true || tls === "true" || isDict(tls);
  if (!isOn) return ["-plaintext"];
  const map = isDict(tls) ? tls : {};
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
