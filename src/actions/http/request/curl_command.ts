import { MASK } from "../../../secrets/masker.ts";
import { isSecretHeader } from "../../../secrets/secrets.ts";
import { isDict } from "../../../base/value/value.ts";
import type { Dict, Value } from "../../../action/action.ts";
import type { CommandLine, CommandWord } from "../../../action/explainer.ts";
import { readParameters } from "../../../action/read_parameters.ts";
import { isPem } from "../../../action/tls/tls_parameter.ts";
import { hideHeader } from "../hide_headers.ts";
import { curlBody } from "./bodies/curl_body.ts";
import { ALWAYS } from "./request_headers.ts";

/** A curl command that sends a request once more, with the headers that the server saw. */
export function curlCommand(req: Dict, params: Dict): CommandLine {
  const { method, url, headers } = req;
  const sent = isDict(headers) ? withoutSignature(headers, params) : {};
  const body = curlBody(req);
  const hasBody = body !== undefined;
  const groups = [
    [
      "curl",
      ...optionWords(String(url), params),
      ...authWords(params),
      ...methodWords(String(method), hasBody),
      String(url),
    ],
    ...headerWords(String(method), String(url), sent, hasBody).map((header) => [
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

function optionWords(url: string, params: Dict): CommandWord[] {
  const read = readParameters("http", params);
  const isVerified = read.boolean("verify_ssl") ?? !read.boolean("insecure");
  const follows = read.boolean("follow_redirects") ?? true;
  const maxRedirects = read.integer("max_redirects");
  const save = read.string("save");
  return [
    ...isVerified || !url.startsWith("https:") ? [] : ["-k"],
    ...connectionWords(url, params),
    ...follows ? ["-L"] : [],
    ...save === undefined ? [] : ["-o", save],
    ...follows && maxRedirects !== undefined ? ["--max-redirs", String(maxRedirects)] : [],
    // curl expands brackets and braces in a URL to several URLs.
    ...(/[[\]{}]/.test(url) ? ["-g"] : []),
  ];
}

/** The options by which curl signs in itself if a header is valid for one request only. */
function authWords({ auth }: Dict): string[] {
  if (!isDict(auth)) return [];
  const { digest, aws } = auth;
  if (isDict(digest)) return ["--digest", "-u", `${digest.username}:${digest.password}`];
  if (!isDict(aws)) return [];
  const signed = `aws:amz:${aws.region}:${aws.service}`;
  return ["--aws-sigv4", signed, "-u", `${aws.access_key_id}:${aws.secret_access_key}`];
}

function withoutSignature(headers: Dict, params: Dict): Dict {
  if (authWords(params).length === 0) return headers;
  const signature = ["Authorization", "X-Amz-Date", "X-Amz-Content-Sha256"];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !signature.includes(name)));
}

/** Options about certificates, about where to connect, and about the version of HTTP. */
function connectionWords(url: string, params: Dict): CommandWord[] {
  const read = readParameters("http", params);
  const tls = read.map("tls") ?? {};
  const file = (option: string, value: Value | undefined) =>
    typeof value === "string" && !isPem(value) ? [option, value] : [];
  const text = (option: string, value: string | undefined) =>
    value === undefined ? [] : [option, value];
  const secret = (option: string, value: Value | undefined): CommandWord[] =>
    value === undefined || value === null
      ? []
      : [option, { before: "", secret: String(value), shown: MASK }];
  const proxy = read.string("proxy");
  const ip = read.string("ip");
  const targets = Object.entries(read.map("resolve") ?? {});
  return [
    ...tls.verify === false ? ["-k"] : [],
    ...file("--cacert", tls.ca),
    ...file("--cert", tls.cert),
    ...file("--key", tls.key),
    ...typeof tls.pfx === "string" ? ["--cert", tls.pfx, "--cert-type", "P12"] : [],
    ...secret("--pass", tls.passphrase),
    ...String(tls.min_version) === "1.3" ? ["--tlsv1.3"] : [],
    ...proxy === "none" ? ["--noproxy", "*"] : text("--proxy", proxy),
    ...text("--unix-socket", read.string("unix_socket")),
    ...targets.flatMap(([from, to]) => ["--connect-to", `${from}:${to}`]),
    ...text("--interface", read.string("local_address")),
    ...ip === undefined ? [] : [`-${ip}`],
    ...versionWords(url, read.string("version")),
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
function headerWords(method: string, url: string, headers: Dict, hasBody: boolean): CommandWord[] {
  const words: CommandWord[] = [];
  for (const [name, value] of Object.entries(headers)) {
    for (const item of [value].flat()) {
      if (isImplied(name, String(item), url, hasBody)) continue;
      words.push(headerWord(name, String(item)));
    }
  }
  // A header without a value removes one that curl sends by itself.
  const missing = ["Accept", "User-Agent", ...hasBody ? ["Content-Type"] : []]
    .filter((name) => headers[name] === undefined);
  const closes = method === "HEAD" && hasBody ? ["Connection: close"] : [];
  return [...words, ...missing.map((name) => `${name}:`), ...closes];
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
  const asked = headers["Accept-Encoding"];
  return asked !== undefined && asked !== "identity";
}
