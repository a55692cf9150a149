import type { Dict, Value } from "../../action/action.ts";
import type {
  ActionExplainer,
  CommandLine,
  CommandWord,
  MessageDescription,
} from "../../action/explainer.ts";
import { Param, readFields } from "../../action/rule.ts";
import { isPem } from "../../action/tls/tls_options.ts";
import { isPrintable } from "../../base/text/printable.ts";
import { isDict } from "../../base/value/value.ts";
import { MASK } from "../../secrets/masker.ts";
import { isSecretHeader } from "../../secrets/secrets.ts";
import { hideHeader, HTTP, type HttpParams } from "./http_params.ts";
import { ALWAYS } from "./request/read_request.ts";

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
      ...MINOR_FIELDS.filter((name) => Object.hasOwn(res, name)).map((name) => [name]),
    ],
  };
}

/**
 * A response without fields that repeat its body: the unparsed text, the size and the digest. For a
 * binary body these are shown instead. The URL is shown if it differs from that of the request.
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

/** Fields about the connection, and those that say again what the headers say. */
const MINOR_FIELDS: readonly string[] = ["version", "tls", "timing", "repeated_headers", "cookies"];

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

/** A curl command that sends a request once more, with the headers that the server saw. */
function curlCommand(req: Dict, params: Dict): CommandLine {
  const { method, url, headers } = req;
  const param = new Param("http", { add() {} });
  const { values } = readFields(HTTP.params, params, param);
  const sent = isDict(headers) ? withoutSignature(headers, values) : {};
  const body = curlBody(req);
  const hasBody = body !== undefined;
  const isSigned = values.auth?.aws !== undefined;
  const words = headerWords(String(method), String(url), sent, hasBody, isSigned);
  const groups = [
    [
      "curl",
      ...optionWords(String(url), values),
      ...authWords(values),
      ...methodWords(String(method), hasBody),
      String(url),
    ],
    ...words.map((header) => [
      "-H",
      header,
      ...typeof header === "string" && header.startsWith("Accept-Encoding: ") && isPacked(sent)
        ? ["--compressed"]
        : [],
    ]),
  ];
  if (!body) return { groups };
  return { ...body, groups: [...groups, ...body.groups] };
}

function optionWords(url: string, params: HttpParams): CommandWord[] {
  const { verify_ssl, insecure, follow_redirects: follows = true, max_redirects, save } = params;
  const isVerified = verify_ssl ?? !insecure;
  return [
    ...isVerified || !url.startsWith("https:") ? [] : ["-k"],
    ...connectionWords(url, params),
    ...follows ? ["-L"] : [],
    ...save === undefined ? [] : ["-o", save],
    ...follows && max_redirects !== undefined ? ["--max-redirs", String(max_redirects)] : [],
    // curl expands brackets and braces in a URL to several URLs.
    ...(/[[\]{}]/.test(url) ? ["-g"] : []),
  ];
}

/** The options by which curl signs in itself if a header is valid for one request only. */
function authWords({ auth: { digest, aws } = {} }: HttpParams): string[] {
  if (digest) return ["--digest", "-u", `${digest.username}:${digest.password}`];
  if (!aws) return [];
  const signed = `aws:amz:${aws.region}:${aws.service}`;
  return ["--aws-sigv4", signed, "-u", `${aws.access_key_id}:${aws.secret_access_key}`];
}

function withoutSignature(headers: Dict, params: HttpParams): Dict {
  if (authWords(params).length === 0) return headers;
  // curl signs the digest of the body that it is given, and sends none by itself.
  const signature = ["Authorization", "X-Amz-Date"];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !signature.includes(name)));
}

/** Options about certificates, about where to connect, and about the version of HTTP. */
function connectionWords(url: string, params: HttpParams): CommandWord[] {
  const { tls = {}, proxy, unix_socket, resolve = {}, ip, local_address, version } = params;
  const file = (option: string, path: string | undefined) =>
    path === undefined || isPem(path) ? [] : [option, path];
  const text = (option: string, value: string | undefined) =>
    value === undefined ? [] : [option, value];
  const secret = (option: string, value: string | undefined): CommandWord[] =>
    value === undefined ? [] : [option, { before: "", secret: value, shown: MASK }];
  return [
    ...tls.verify === false ? ["-k"] : [],
    ...file("--cacert", tls.ca),
    ...file("--cert", tls.cert),
    ...file("--key", tls.key),
    ...tls.pfx !== undefined ? ["--cert", tls.pfx, "--cert-type", "P12"] : [],
    ...secret("--pass", tls.passphrase),
    ...tls.min_version === "1.3" ? ["--tlsv1.3"] : [],
    ...proxy === "none" ? ["--noproxy", "*"] : text("--proxy", proxy),
    ...text("--unix-socket", unix_socket),
    ...Object.entries(resolve).flatMap(([from, to]) => ["--connect-to", `${from}:${to}`]),
    ...text("--interface", local_address),
    ...ip === undefined ? [] : [`-${ip}`],
    ...versionWords(url, version),
  ];
}

function versionWords(url: string, version: string | undefined): string[] {
  const isSecure = url.startsWith("https:");
  if (version === "2") return [isSecure ? "--http2" : "--http2-prior-knowledge"];
  if (version === "auto") return isSecure ? ["--http2"] : [];
  return version === undefined ? [] : ["--http1.1"];
}

function methodWords(method: string, hasBody: boolean): string[] {
  if (method === "HEAD") {
    // With -I curl sends no body, and without it waits for one until the connection is closed.
    return !hasBody ? ["-I"] : ["-X", "HEAD", "--ignore-content-length"];
  }
  return method === (hasBody ? "POST" : "GET") ? [] : ["-X", method];
}

/** Headers that curl would not send, or would send with another value. */
function headerWords(
  method: string,
  url: string,
  headers: Dict,
  hasBody: boolean,
  isSigned: boolean,
): CommandWord[] {
  const words: CommandWord[] = [];
  for (const [name, value] of Object.entries(headers)) {
    for (const item of [value].flat()) {
      if (isImplied(name, String(item), url, hasBody)) continue;
      words.push(headerWord(name, String(item)));
    }
  }
  // A header without a value removes one that curl sends by itself, and that curl 7 would sign.
  const missing = ["Accept", "User-Agent", ...hasBody ? ["Content-Type"] : []]
    .filter((name) => headers[name] === undefined)
    .flatMap((name) =>
      !isSigned ? `${name}:` : name === "Content-Type" ? `${name}: application/octet-stream` : []
    );
  const closes = method === "HEAD" && hasBody ? ["Connection: close"] : [];
  return [...words, ...missing, ...closes];
}

function headerWord(name: string, value: string): CommandWord {
  if (value === "") return `${name};`;
  return isSecretHeader(name)
    ? { before: `${name}: `, secret: value, shown: hideHeader(name, value, MASK) }
    : `${name}: ${value}`;
}

/** Whether curl sends it, or something equivalent, by itself. */
function isImplied(name: string, value: string, url: string, hasBody: boolean): boolean {
  switch (name) {
    case "Connection":
      return true;
    case "Content-Length":
      return hasBody || value !== "0";
    case "Transfer-Encoding":
      return true;
    case "Content-Type":
      // curl makes a boundary of its own.
      return value.startsWith("multipart/form-data;");
    case "Host":
      return value === URL.parse(url)?.host;
    default:
      return name !== "Accept-Encoding" && value === ALWAYS[name];
  }
}

/** Whether the request asks for an encoding that curl has to undo. */
function isPacked(headers: Dict): boolean {
  const encodings = headers["Accept-Encoding"];
  return encodings !== undefined && encodings !== "identity";
}

/** The body of a request as curl is given it. */
interface CurlBody {
  readonly groups: readonly (readonly string[])[];
  readonly input?: string;
  /** The preparation that the command needs. */
  readonly note?: string;
}

/** A longer body is not worth pasting. */
const LONGEST_BODY = 8192;

/** The file that is to hold a longer body. */
const BODY_FILE = "body";

/** The options that send the same body; undefined without one. */
function curlBody({ body, file, multipart, compress }: Dict): CurlBody | undefined {
  if (compress !== undefined) return compressed(String(compress), file, multipart);
  if (typeof file === "string") return { groups: [["--data-binary", `@${file}`]] };
  if (isDict(multipart)) return { groups: formGroups(multipart) };
  const text = typeof body === "string" ? body : "";
  if (text === "") return undefined;
  if (text.length > LONGEST_BODY) {
    const note = `put the body, ${text.length} characters, into a file "${BODY_FILE}" first`;
    return { groups: [["--data-binary", `@${BODY_FILE}`]], note };
  }
  // In a word of the shell, line ends and invisible characters would have to be escaped.
  if (isPrintable(text) && !/[\n\t]/.test(text)) return { groups: [["--data-raw", text]] };
  return { groups: [["--data-binary", "@-"]], input: text };
}

/** curl does not compress what it sends. */
function compressed(how: string, file: Value | undefined, multipart: Value | undefined): CurlBody {
  const what = typeof file === "string"
    ? `"${file}"`
    : multipart === undefined
    ? "the body"
    : "the multipart body";
  return {
    groups: [["--data-binary", `@${BODY_FILE}`]],
    note: `put ${what}, compressed with ${how}, into a file "${BODY_FILE}" first`,
  };
}

function formGroups(multipart: Dict): string[][] {
  return Object.entries(multipart).flatMap(([name, value]) =>
    [value].flat().map((part: Value) => formWords(name, part))
  );
}

function formWords(name: string, part: Value): string[] {
  if (!isDict(part)) return ["--form-string", `${name}=${part}`];
  const { file, value, type, filename } = part;
  const content = file === undefined ? quoted(String(value)) : `@${quoted(String(file))}`;
  const options = [
    ...type === undefined ? [] : [`;type=${type}`],
    ...filename === undefined ? [] : [`;filename=${quoted(String(filename))}`],
  ];
  return ["--form", `${name}=${content}${options.join("")}`];
}

/** A value of `--form`; a quote, a comma or a semicolon would end it otherwise. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (mark) => `\\${mark}`)}"`;
}
