import { MASK } from "../../../secrets/masker.ts";
import { isSecretHeader } from "../../../secrets/secrets.ts";
import { isDict } from "../../../base/value/value.ts";
import type { Dict } from "../../../action/action.ts";
import type { CommandLine, CommandWord } from "../../../action/explainer.ts";
import { readRendered } from "../../../action/spec.ts";
import { isPem } from "../../../action/tls/tls_options.ts";
import {
  CONNECTION_PARAMS,
  REDIRECT_PARAMS,
  REQUEST_PARAMS,
  VERIFY_PARAMS,
  VERSION_PARAM,
} from "../http_params.ts";
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

const OPTIONS = { ...VERIFY_PARAMS, ...REDIRECT_PARAMS, save: REQUEST_PARAMS.save };

function optionWords(url: string, params: Dict): CommandWord[] {
  const { verify_ssl, insecure, follow_redirects: follows = true, max_redirects, save } =
    readRendered("http", OPTIONS, params);
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
  const { tls = {}, proxy, unix_socket, resolve = {}, ip, local_address, version } = readRendered(
    "http",
    { ...CONNECTION_PARAMS, ...VERSION_PARAM },
    params,
  );
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
