import { StepError } from "../../../base/errors.ts";
import type { Dict } from "../../../action/action.ts";
import type { Values } from "../../../action/schema.ts";
import { readRendered } from "../../../action/spec.ts";
import { AUTH, readAuth } from "../auth/auth_parameter.ts";
import { cookieParams, REQUEST_PARAMS } from "../http_params.ts";
import { BODIES, EncodingError, methodProblem, SHORTHANDS } from "./http_syntax.ts";
import { GRAPHQL_ACCEPT } from "./bodies/graphql.ts";
import { isUpload, readUpload, type Upload } from "./bodies/upload.ts";
import type { Content, RequestBody } from "./request_body.ts";
import { type Headers, requestHeaders } from "./request_headers.ts";
import { addQuery, isFullUrl, joinUrl, readUrl } from "./request_url.ts";
import { type CookieUse, readCookieUse } from "../session/cookie_use.ts";
import { BODY_LIMIT, maxBodyProblem, parseSize } from "../../../base/value/byte_size.ts";
import { withoutPassword } from "../../../secrets/secrets.ts";

/** A request that can be sent. */
export interface HttpRequest {
  readonly method: string;
  /** Without credentials and fragment, which are not sent as parts of it. */
  readonly url: URL;
  /** By canonical name. */
  readonly headers: Headers;
  readonly body?: Content;
}

/** A request, and how to carry it out. */
export interface RequestPlan {
  /** Without its body where that is an upload. */
  readonly request: HttpRequest;
  readonly upload?: PlannedUpload;
  /** Whether a response with `errors` is a failure. */
  readonly isGraphql: boolean;
  /** The file that the body of the response goes into, from the current directory. */
  readonly save: string | undefined;
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
  const contentType = headerText(asked, "content-type");
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
    save: params.save,
    maxBody: readMaxBody(params.max_body),
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
  const url = bareUrl(target);
  return body ? { method, url, headers, body: body.content } : { method, url, headers };
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

function readMaxBody(maxBody: string | undefined): number {
  if (maxBody === undefined) return BODY_LIMIT;
  const bytes = parseSize(maxBody);
  if (bytes !== undefined) return bytes;
  throw new StepError(`cannot run http: ${maxBodyProblem(maxBody)}`, undefined, {
    parameter: "max_body",
  });
}

function headerText(headers: Dict, lowerName: string): string | undefined {
  let text: string | undefined;
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === lowerName && value !== null) text = String(value);
  }
  return text;
}
