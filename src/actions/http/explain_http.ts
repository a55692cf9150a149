import { isDict } from "../../base/value/value.ts";
import type { Dict } from "../../action/action.ts";
import type { ActionExplainer, MessageDescription } from "../../action/explainer.ts";
import { curlCommand } from "./request/curl_command.ts";

/** Shows what http sent and received in reports. */
export const httpExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: describeRequest(req),
    ...res ? { response: describeResponse(req, res) } : {},
  }),
  command: curlCommand,
  testHint: (parts, { errors }) => {
    if (!parts.includes("status")) return undefined;
    return Array.isArray(errors) && errors.length > 0
      ? "status is 1 if a GraphQL response has errors, whatever its code; res.errors has them"
      : "status is 0 for a code from 200 to 299, otherwise 1; the code is res.code";
  },
};

function describeRequest(req: Dict): MessageDescription {
  const { method, url, body } = req;
  return {
    title: `${method} ${url}`,
    covered: ["method", "url", ...body === "" ? ["body"] : []],
    asJson: ["body"],
    minor: minorHeaders(req),
  };
}

function describeResponse(req: Dict, res: Dict): MessageDescription {
  const { code, status } = res;
  const kept = withoutRepetition(req, res);
  if (typeof code !== "number" || typeof status !== "string") return { kept, asJson: ["body"] };
  return {
    kept,
    title: status.includes(String(code)) ? status : `${code} ${status}`,
    covered: ["code", "status"],
    asJson: ["body"],
    minor: [
      ...minorHeaders(res),
      ...CONNECTION.filter((name) => Object.hasOwn(res, name)).map((name) => [name]),
    ],
  };
}

/**
 * A response without what repeats its body: the unparsed text, the size and the digest. Of a
 * binary body these are shown instead. Its URL is shown where it is not the one of the request.
 */
function withoutRepetition(req: Dict, res: Dict): Dict {
  const { rawbody, body, size, filepath, url, redirects, cookies, data, errors } = res;
  const isBinary = filepath !== undefined;
  const hidden = [
    ...["size", "sha1", "md5"],
    ...isBinary ? [] : ["sha256"],
    ...url === req.url ? ["url"] : [],
    ...Array.isArray(redirects) && redirects.length === 0 ? ["redirects"] : [],
    ...Array.isArray(cookies) && cookies.length === 0 ? ["cookies"] : [],
    // Of GraphQL.
    ...isDict(body) && body.data === data ? ["data"] : [],
    ...isDict(body) && body.errors === errors ? ["errors"] : [],
    ...rawbody !== undefined && typeof body === "object" ? ["rawbody"] : [],
  ];
  const kept = Object.fromEntries(Object.entries(res).filter(([name]) => !hidden.includes(name)));
  return isBinary ? { ...kept, body: `${size} bytes${typeOf(res)}, not shown` } : kept;
}

function typeOf({ headers }: Dict): string {
  const type = isDict(headers) ? headers["Content-Type"] : undefined;
  return typeof type === "string" ? ` of ${type}` : "";
}

/** Fields about the connection, which seldom help to find out why a request failed. */
const CONNECTION: readonly string[] = ["version", "tls", "timing"];

/** Headers that do not help to find out why a request failed, in lower case. */
const MINOR_HEADERS: ReadonlySet<string> = new Set([
  "host",
  "user-agent",
  "accept-encoding",
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "server",
  "transfer-encoding",
  "vary",
]);

function minorHeaders({ headers }: Dict): string[][] {
  if (!isDict(headers)) return [];
  return Object.entries(headers).flatMap(([name, value]) => {
    const lower = name.toLowerCase();
    const isMinor = MINOR_HEADERS.has(lower) || lower === "accept" && value === "*/*";
    return isMinor ? [["headers", name]] : [];
  });
}
