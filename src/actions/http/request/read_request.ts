import { StepError } from "../../../base/errors.ts";
import { BODY_LIMIT } from "../../../base/value/byte_size.ts";
import { isTraceparent } from "../../../base/trace.ts";
import { ignoreCase } from "../../../base/value/value.ts";
import { decodePercents, withoutPassword } from "../../../secrets/secrets.ts";
import { type Auth, CookieUse, type HttpParams, type StepHeaders } from "../http_params.ts";
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
  basicHeader,
  BODIES,
  canonicalName,
  EncodingError,
  joinUrl,
  SHORTHANDS,
  toByteString,
} from "./http_syntax.ts";

/** The largest body that is written to a file: an endless one must not fill the disk. */
const SAVE_LIMIT = 4 * 1024 ** 3;

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
  /** Without its body if that is an upload. */
  readonly request: HttpRequest;
  readonly upload?: PlannedUpload;
  /** Whether a response with `errors` is a failure. */
  readonly isGraphql: boolean;
  /** The file that the body of the response goes into, from the current directory. */
  readonly save?: { readonly path: string; readonly limit: number };
  /** The largest body of a response that is kept in memory, in bytes. */
  readonly maxBody: number;
  /** Milliseconds; undefined if only the step has a timeout. */
  readonly timeout: number | undefined;
  /** The number of redirects to follow; undefined to take the first response as it is. */
  readonly maxRedirects: number | undefined;
  /** Undefined if the step neither sends nor keeps cookies. */
  readonly cookies: CookieUse | undefined;
  readonly auth: Auth | undefined;
  /** Whether its headers say nothing about the trace that it belongs to. */
  readonly isTraced: boolean;
}

/** A body that is opened for each attempt, and the request that it makes. */
interface PlannedUpload {
  readonly upload: Upload;
  /** The type that the headers of the step give. */
  readonly contentType: string | undefined;
  readonly attach: (body: RequestBody) => HttpRequest;
}

/** Makes the request of a step. Throws `StepError` if it cannot express a value. */
export function planRequest(params: HttpParams): RequestPlan {
  const shorthand = SHORTHANDS.find((name) => params[name] !== undefined);
  const method = shorthand?.toUpperCase() ?? params.method!;
  const text = shorthand ? joinUrl(params.url ?? "", params[shorthand]!) : params.url!;
  const target = new URL(text);
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
  const stepHeaders: StepHeaders = {
    ...isGraphql && { Accept: GRAPHQL_ACCEPT },
    ...params.user_agent !== undefined && { "User-Agent": params.user_agent },
    ...headers,
  };
  const contentType = findHeader(stepHeaders, "content-type");
  const key = BODIES.find((name) => params[name] !== undefined) ?? "body";
  const body = encoded(key, () => readUpload(params, contentType));
  const attach = (body: RequestBody) => makeRequest(method, url, stepHeaders, body);
  return {
    ...body && isUpload(body)
      ? {
        request: makeRequest(method, url, stepHeaders, undefined),
        upload: { upload: body, contentType, attach },
      }
      : { request: makeRequest(method, url, stepHeaders, body) },
    isGraphql,
    save: params.save === undefined
      ? undefined
      : { path: params.save, limit: params.max_body ?? SAVE_LIMIT },
    maxBody: params.max_body ?? BODY_LIMIT,
    timeout: params.timeout || undefined,
    maxRedirects: params.follow_redirects === false ? undefined : params.max_redirects ?? 10,
    cookies: readCookieUse(params.cookies, params.cookie_file, headers),
    auth: params.auth,
    isTraced: !Object.keys(headers).some(isTraceparent),
  };
}

function makeRequest(
  method: string,
  target: URL,
  stepHeaders: StepHeaders,
  body: RequestBody | undefined,
): HttpRequest {
  const headers = requestHeaders(method, target, stepHeaders, body);
  return new HttpRequest(method, bareUrl(target), headers, body?.content);
}

export function bareUrl(target: URL): URL {
  if (target.username === "" && target.password === "" && target.hash === "") return target;
  const url = new URL(target);
  url.username = url.password = url.hash = "";
  return url;
}

function findHeader(headers: StepHeaders, lowerName: string): string | undefined {
  let text: string | undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === lowerName && value !== undefined) text = String(value);
  }
  return text;
}

/** The headers of a request by canonical name; a list repeats its header. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

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

/** All headers of a request: those of the step override the default ones. */
export function requestHeaders(
  method: string,
  url: URL,
  stepHeaders: StepHeaders,
  body: RequestBody | undefined,
): Headers {
  const headers: Record<string, string | readonly string[]> = ignoreCase(Object.create(null));
  headers.Host = url.host;
  for (const name in ALWAYS) headers[name] = ALWAYS[name]!;
  if (url.username !== "" || url.password !== "") {
    headers.Authorization = basicHeader(
      decodePercents(url.username),
      decodePercents(url.password),
    );
  }
  if (body?.contentType !== undefined) headers["Content-Type"] = body.contentType;
  for (const [name, value] of Object.entries(stepHeaders)) {
    const canonical = canonicalName(name);
    if (FRAMING.has(canonical) || canonical === "Expect") continue;
    if (canonical === "Content-Type" && body?.ownType) continue;
    const texts = [value ?? []].flat().map((text) => headerText(canonical, text));
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

/** The value of a header as it is sent. Throws `StepError` if it would end the header. */
export function wireValue(name: string, value: string): string {
  checkCharacters(name, value);
  return toByteString(value);
}

function headerText(name: string, value: string): string {
  // Texts from files and block scalars end in a line break that is not part of the value.
  const text = value.trim();
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

/** A request with more headers. They replace headers of the same name; undefined removes one. */
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

/** Reads which cookies a step uses; undefined if none. */
function readCookieUse(
  cookies: boolean | string | undefined,
  file: string | undefined,
  headers: StepHeaders,
): CookieUse | undefined {
  if (cookies === false) return undefined;
  const isSent = !Object.keys(headers)
    .some((name) => name.toLowerCase() === "cookie" && headers[name] === undefined);
  return new CookieUse(typeof cookies === "string" ? cookies : undefined, isSent, file);
}
