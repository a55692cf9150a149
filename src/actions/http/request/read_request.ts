import type { Dict } from "../../../action/action.ts";
import type { Values } from "../../../action/schema.ts";
import { readRendered } from "../../../action/spec.ts";
import { StepError } from "../../../base/errors.ts";
import {
  BODY_LIMIT,
  maxBodyProblem,
  parseSize,
  SAVE_LIMIT,
} from "../../../base/value/byte_size.ts";
import { ignoreCase } from "../../../base/value/value.ts";
import { decodePercents, withoutPassword } from "../../../secrets/secrets.ts";
import {
  AUTH,
  cookieParams,
  type CookieUse,
  readAuth,
  readCookieUse,
  REQUEST_PARAMS,
} from "../http_params.ts";
import {
  type Content,
  GRAPHQL_ACCEPT,
  isUpload,
  lengthOf,
  readUpload,
  type RequestBody,
  type Upload,
} from "./body.ts";
import {
  addQuery,
  BODIES,
  canonicalName,
  EncodingError,
  isFullUrl,
  isToken,
  joinUrl,
  methodProblem,
  readUrl,
  SHORTHANDS,
  toByteString,
} from "./http_syntax.ts";

/** A request that can be sent. */
export class HttpRequest {
  constructor(
    readonly method: string,
    /** Without credentials and fragment, which are not sent as parts of it. */
    readonly url: URL,
    /** By canonical name. */
    readonly headers: Headers,
    readonly body?: Content,
  ) {}
}

/** A request, and how to carry it out. */
export interface RequestPlan {
  /** Without its body where that is an upload. */
  readonly request: HttpRequest;
  readonly upload?: PlannedUpload;
  /** Whether a response with `errors` is a failure. */
  readonly isGraphql: boolean;
  /** The file that the body of the response goes into, from the current directory. */
  readonly save?: { readonly path: string; readonly limit: number };
  /** The largest body of a response that is kept in memory, in bytes. */
  readonly maxBody: number;
  /** Milliseconds; undefined where only the step has a timeout. */
  readonly timeout: number | undefined;
  /** The number of redirects to follow; undefined to take the first response as it is. */
  readonly maxRedirects: number | undefined;
  /** Undefined if the step neither sends nor keeps cookies. */
  readonly cookies: CookieUse | undefined;
  /** The parameter `auth`, which has been checked. */
  readonly auth: Dict | undefined;
}

/** A body that is opened for each attempt, and the request that it makes. */
export interface PlannedUpload {
  readonly upload: Upload;
  /** The type that the headers of the step give. */
  readonly contentType: string | undefined;
  readonly attach: (body: RequestBody) => HttpRequest;
}

const PARAMS = { ...REQUEST_PARAMS, auth: AUTH, ...cookieParams() };
type Params = Values<typeof PARAMS>;

/** Reads the rendered parameters of a step. Throws `StepError` where they make no request. */
export function readRequest(raw: Dict): RequestPlan {
  const params = readRendered("http", PARAMS, raw);
  const { method, text, parameter } = readTarget(params, raw);
  const target = readUrl(text);
  if (!(target instanceof URL)) {
    throw new StepError(`cannot send ${method}: ${target.message}`, target.hint, { parameter });
  }
  const encoded = <T>(what: string, encode: () => T): T => {
    try {
      return encode();
    } catch (error) {
      if (!(error instanceof EncodingError)) throw error;
      const request = `${method} "${withoutPassword(text)}"`;
      throw new StepError(`cannot send ${request}: ${error.message}`, undefined, {
        parameter: what,
      });
    }
  };
  const { query, headers = {} } = params;
  const url = query ? encoded("query", () => addQuery(target, query)) : target;
  const isGraphql = params.graphql !== undefined;
  const asked = {
    ...isGraphql ? { Accept: GRAPHQL_ACCEPT } : {},
    ...params.user_agent === undefined ? {} : { "User-Agent": params.user_agent },
    ...headers,
  };
  const contentType = findHeader(asked, "content-type");
  const key = BODIES.find((name) => params[name] !== undefined) ?? "body";
  const body = encoded(key, () => readUpload(params, contentType));
  const attach = (body: RequestBody) => makeRequest(method, url, asked, body);
  return {
    ...body && isUpload(body)
      ? {
        request: makeRequest(method, url, asked, undefined),
        upload: { upload: body, contentType, attach },
      }
      : { request: makeRequest(method, url, asked, body) },
    isGraphql,
    ...params.save !== undefined && {
      save: { path: params.save, limit: readMaxBody(params.max_body, SAVE_LIMIT) },
    },
    maxBody: readMaxBody(params.max_body, BODY_LIMIT),
    timeout: params.timeout || undefined,
    maxRedirects: params.follow_redirects === false
      ? undefined
      : readMaxRedirects(params.max_redirects),
    cookies: readCookieUse(params.cookies, params.cookie_file, headers),
    auth: readAuth(params.auth),
  };
}

function makeRequest(
  method: string,
  target: URL,
  asked: Dict,
  body: RequestBody | undefined,
): HttpRequest {
  const headers = requestHeaders(method, target, asked, body);
  return new HttpRequest(method, bareUrl(target), headers, body?.content);
}

/** The URL as it is sent. */
export function bareUrl(target: URL): URL {
  if (target.username === "" && target.password === "" && target.hash === "") return target;
  const url = new URL(target);
  url.username = url.password = url.hash = "";
  return url;
}

function readTarget(
  params: Params,
  raw: Dict,
): {
  readonly method: string;
  readonly text: string;
  /** The parameter with the URL. */
  readonly parameter: string;
} {
  const base = params.url;
  for (const name of SHORTHANDS) {
    const target = params[name];
    if (target === undefined) continue;
    const method = name.toUpperCase();
    if (base === undefined || isFullUrl(target)) return { method, text: target, parameter: name };
    return { method, text: joinUrl(base, target), parameter: "url" };
  }
  const { method } = params;
  if (method === undefined) {
    const key = [...SHORTHANDS, "method"].find((name) => Object.hasOwn(raw, name));
    throw key === undefined ? new StepError("http step has no method") : nilError(key);
  }
  const problem = methodProblem(method);
  if (problem !== undefined) throw new StepError(`cannot send a request: ${problem}`);
  if (base === undefined) throw nilError("url");
  return { method: method.toUpperCase(), text: base, parameter: "url" };
}

/** The error of a parameter that was given and is nil. */
function nilError(parameter: string): StepError {
  const hint = "what its template reads is not there";
  return new StepError(`cannot run http: "${parameter}" is nil`, hint, { parameter });
}

function readMaxRedirects(maxRedirects = 10): number {
  if (maxRedirects >= 0) return maxRedirects;
  throw new StepError(
    `cannot run http: "max_redirects" must not be negative, not ${maxRedirects}`,
    undefined,
    { parameter: "max_redirects" },
  );
}

function readMaxBody(maxBody: string | undefined, byDefault: number): number {
  if (maxBody === undefined) return byDefault;
  const bytes = parseSize(maxBody);
  if (bytes !== undefined) return bytes;
  throw new StepError(`cannot run http: ${maxBodyProblem(maxBody)}`, undefined, {
    parameter: "max_body",
  });
}

function findHeader(headers: Dict, lowerName: string): string | undefined {
  let text: string | undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === lowerName && value !== null) text = String(value);
  }
  return text;
}

/** The headers of a request by canonical name; a list repeats its header. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** The default headers. */
export const ALWAYS: Readonly<Record<string, string>> = {
  Accept: "*/*",
  "User-Agent": "runner",
  "Accept-Encoding": "gzip, deflate, br",
};

/** The body determines these, whatever a step gives. */
const FRAMING: ReadonlySet<string> = new Set(["Content-Length", "Transfer-Encoding"]);

/*
 * "Expect" is not sent: the body would have to wait for a response that many servers never send.
 */

/** Without a body, these methods need no "Content-Length". */
const BODILESS: ReadonlySet<string> = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]);

/** All headers of a request: those that the step asks for, over those that every request has. */
export function requestHeaders(
  method: string,
  url: URL,
  asked: Dict,
  body: RequestBody | undefined,
): Headers {
  const headers: Record<string, string | readonly string[]> = ignoreCase(Object.create(null));
  headers.Host = url.host;
  for (const name in ALWAYS) headers[name] = ALWAYS[name]!;
  if (url.username !== "" || url.password !== "") headers.Authorization = basic(url);
  if (body?.contentType !== undefined) headers["Content-Type"] = body.contentType;
  for (const [name, value] of Object.entries(asked)) {
    if (!isToken(name)) {
      throw new StepError(`cannot send the header "${name}": invalid header name`);
    }
    const canonical = canonicalName(name);
    if (FRAMING.has(canonical) || canonical === "Expect") continue;
    if (canonical === "Content-Type" && body?.ownType) continue;
    const texts = [value].flat().filter((item) => item !== null)
      .map((item) => headerText(canonical, item));
    if (texts.length === 0) delete headers[canonical];
    else headers[canonical] = Array.isArray(value) ? texts : texts[0]!;
  }
  if (body) {
    const { content, contentEncoding } = body;
    const length = lengthOf(content);
    if (length === undefined) headers["Transfer-Encoding"] = "chunked";
    else headers["Content-Length"] = String(length);
    if (contentEncoding !== undefined) headers["Content-Encoding"] = contentEncoding;
  } else if (!BODILESS.has(method)) headers["Content-Length"] = "0";
  return headers;
}

/** Names and values in turn, as they are sent: a character for each byte. */
export function wireHeaders(headers: Headers): string[] {
  const wire: string[] = [];
  for (const name in headers) {
    for (const value of [headers[name]!].flat()) wire.push(name, wireValue(name, value));
  }
  if (headers.Connection === undefined) wire.push("Connection", "keep-alive");
  return wire;
}

/** The value of a header as it is sent. Throws `StepError` where it would end the header. */
export function wireValue(name: string, value: string): string {
  checkCharacters(name, value);
  return toByteString(value);
}

function headerText(name: string, value: Dict[string]): string {
  if (typeof value === "object") {
    throw new StepError(`cannot send the header "${name}": it must be text or a list of texts`);
  }
  // Texts from files and block scalars end in a line break that is not part of the value.
  const text = String(value).trim();
  checkCharacters(name, text);
  return text;
}

function checkCharacters(name: string, text: string): void {
  // deno-lint-ignore no-control-regex
  if (!/[\0-\x08\x0a-\x1f\x7f]/.test(text)) return;
  throw new StepError(
    `cannot send the header "${name}": there is a line break or a control character in it`,
  );
}

function basic({ username, password }: URL): string {
  const credentials = toByteString(`${decodePercents(username)}:${decodePercents(password)}`);
  return `Basic ${btoa(credentials)}`;
}

/** A request with further headers, which replace those of the same name; undefined removes one. */
export function withHeaders(
  request: HttpRequest,
  headers: Readonly<Record<string, string | undefined>>,
): HttpRequest {
  const all: Record<string, string | readonly string[]> = ignoreCase(Object.create(null));
  Object.assign(all, request.headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) delete all[name];
    else all[name] = value;
  }
  return { ...request, headers: all };
}
