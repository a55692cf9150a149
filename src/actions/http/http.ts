import type { Action, ParameterProblem } from "../../action/action.ts";
import { declare } from "../../action/make_action.ts";
import { isGiven } from "../../action/parameters.ts";
import { timeout } from "../../action/params.ts";
import type { Param } from "../../action/schema.ts";
import { maxBodyProblem, parseSize } from "../../base/value/byte_size.ts";
import { type Dict, isDict, mergeDicts, type Value } from "../../base/value/value.ts";
import { isTemplate } from "../../expr/template/template_data.ts";
import {
  AUTH,
  checkAuth,
  checkCookies,
  checkOpenapi,
  CONNECTION_PARAMS,
  cookieParams,
  expectsContract,
  HEADERS_PARAM,
  hideCookies,
  hideHeaders,
  OPENAPI,
  REDIRECT_PARAMS,
  REQUEST_PARAMS,
  VERIFY_PARAMS,
  VERSION_PARAM,
} from "./http_params.ts";
import { compressionProblem, COMPRESSIONS, PART_HINT, partProblem } from "./request/body.ts";
import {
  BODIES,
  isFullUrl,
  isToken,
  joinUrl,
  mediaType,
  methodKeys,
  methodProblem,
  readUrl,
  RESOLVE_HINT,
  resolveProblem,
  SAME_MEANING,
  SHORTHANDS,
} from "./request/http_syntax.ts";

/** Sends an HTTP request. */
export const http: Action = {
  ...declare({
    name: "http",
    summary: "Sends an HTTP request and reads the response",
    params: {
      ...REQUEST_PARAMS,
      ...VERIFY_PARAMS,
      ...CONNECTION_PARAMS,
      ...VERSION_PARAM,
      auth: AUTH,
      ...cookieParams(),
      openapi: OPENAPI,
    },
    check: (_params, param, raw) => param.problems.push(...checkHttp(raw)),
    expectsResult: expectsContract,
    acceptsAnswers: true,
    omitsNilIn: (params) => [
      ...["headers", "query", "form", "multipart"],
      ...hasForm(params) ? ["body"] : [],
    ],
    merge: mergeHttpDefaults,
    res: {
      code: { type: "int", summary: "the status code" },
      status: {
        type: "string",
        summary: "the status line, such as `404 Not Found`",
        hint: "it is the status line; the number is res.code",
      },
      headers: {
        type: "map",
        summary:
          'the headers by canonical name: `res.headers["Content-Type"]`; repeated headers are joined by commas',
        hide: hideHeaders,
      },
      repeated_headers: {
        type: "map",
        summary: "the values, as lists, of headers that were sent more than once, if there are any",
        hide: hideHeaders,
      },
      cookies: {
        type: "array",
        summary: "a record for each cookie that was set",
        hide: hideCookies,
      },
      trailers: {
        type: "map",
        summary: "fields that follow a chunked body, by canonical name, if there are any",
        hide: hideHeaders,
      },
      url: { type: "string", summary: "the URL that answered, after redirects" },
      redirects: {
        type: "array",
        summary: "the redirects that were followed, each with `code`, `url` and `location`",
      },
      tls: { type: "map", summary: "how TLS was spoken; nil if it was not" },
      version: { type: "string", summary: 'the version of HTTP: `"1.1"` or `"2"`' },
      timing: { type: "map", summary: "the phases in seconds" },
      body: {
        type: "any",
        summary: "a map or list if the body is JSON, otherwise text; nil if it is binary or saved",
      },
      rawbody: {
        type: "string",
        summary: "the text of a body that was read as JSON",
        repeats: "body",
      },
      filepath: {
        type: "string",
        summary:
          "the file of `save`; or one with a binary body, which is removed when the run ends",
      },
      data: { type: "any", summary: "the data of the answer to `graphql`" },
      errors: { type: "array", summary: "the errors of the answer to `graphql`" },
      size: { type: "int", summary: "the number of bytes in the body, after decoding" },
      sha256: { type: "string", summary: "the SHA-256 of the bytes in the body, in hexadecimal" },
      sha1: { type: "string", summary: "the SHA-1 of these bytes" },
      md5: { type: "string", summary: "the MD5 of these bytes" },
    },
    usage: `with:
  get: https://example.com/
  headers: { accept: text/html }`,
    example: "res.code == 200",
  }),
  alternatives: SAME_MEANING,
  explainer: async () => (await import("./explain_http.ts")).httpExplainer,
  load: async () => (await import("./run_http.ts")).httpRunner,
};

/**
 * The parameters of a step laid over the defaults of its job: key by key, also in nested objects.
 * Names of headers ignore case, and a step's method in any form beats one from the defaults. How a
 * step signs in, by `auth` or by the header, replaces both in the defaults as a whole.
 */
export function mergeHttpDefaults(defaults: Dict, written: Dict): Dict {
  const params = written.auth === "none" ? { ...written, auth: null } : written;
  const hasAuth = Object.hasOwn(params, "auth");
  const isOtherAuth = hasAuth && !isSameWay(defaults.auth, params.auth) ||
    hasAuthorization(params.headers);
  const kept = Object.entries(defaults).filter(([key]) =>
    !(key === "auth" && isOtherAuth) &&
    !SAME_MEANING.some(({ names }) =>
      names.includes(key) && names.some((other) => isGiven(params, other))
    )
  );
  const base: Record<string, Value> = Object.create(null);
  for (const [key, value] of kept) base[key] = value;
  if (hasAuth && isDict(base.headers)) base.headers = withoutAuthorization(base.headers);
  // A step says what differs about the description of its job.
  if (isDict(params.openapi) && typeof base.openapi === "string") {
    base.openapi = { file: base.openapi };
  }
  const merged = mergeDicts(base, params);
  const inherited = base.headers;
  const headers = params.headers;
  if (!isDict(inherited) || !isDict(headers)) return merged;
  return { ...merged, headers: mergeHeaders(inherited, headers) };
}

/** Whether two values of `auth` sign in the same way, so that one adds to the other. */
function isSameWay(one: Value | undefined, other: Value | undefined): boolean {
  return isDict(one) && isDict(other) && Object.keys(other).every((way) => Object.hasOwn(one, way));
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === "authorization";
}

function hasAuthorization(headers: Value | undefined): boolean {
  return isDict(headers) && Object.keys(headers).some(isAuthorization);
}

function withoutAuthorization(headers: Dict): Dict {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isAuthorization(name)));
}

function mergeHeaders(inherited: Dict, params: Dict): Dict {
  const names = new Set(Object.keys(params).map((name) => name.toLowerCase()));
  const merged: Record<string, Value> = Object.create(null);
  for (const [name, value] of Object.entries(inherited)) {
    if (!names.has(name.toLowerCase())) merged[name] = value;
  }
  for (const [name, value] of Object.entries(params)) merged[name] = value;
  return merged;
}

/** Problems of the parameters of an http step beyond their types. */
export function checkHttp(params: Dict): ParameterProblem[] {
  return [
    ...checkMethod(params),
    ...checkUrl(params),
    ...checkConnection(params),
    ...checkRedirects(params),
    ...checkHeaders(params),
    ...checkCookies(params),
    ...checkBodies(params),
    ...checkAuth(params),
    ...checkDownload(params),
    ...checkOpenapi(params),
  ];
}

function checkMethod(params: Dict): ParameterProblem[] {
  const [key, ...others] = methodKeys(params);
  if (key === undefined) {
    const hint = 'give it one, like "get: /path" or "method: GET"';
    return [{ path: [], message: "http step has no method", hint }];
  }
  const problems: ParameterProblem[] = others.map((other) => ({
    path: [other],
    at: "key",
    message: `http step has two methods, "${key}" and "${other}"`,
    hint: "keep one of them",
  }));
  const { method } = params;
  if (typeof method === "string" && !isTemplate(method)) {
    const message = methodProblem(method);
    if (message !== undefined) problems.push({ path: ["method"], message });
  }
  return problems;
}

/** The beginning of a URL without a scheme: `localhost`, `api:8080`, `127.0.0.1`, `www.a.com`. */
const HOST =
  /^\s*(?:https?:|\/\/|www\.|(?:localhost|[\w.-]+:\d+|\d+(?:\.\d+){3}|(?:[\w-]+\.){2,}[a-z]{2,})(?:[/?]|$))/i;

/** Checks the URL as far as it is known before the run. */
function checkUrl(params: Dict): ParameterProblem[] {
  const [key, ...others] = methodKeys(params);
  const url = params.url ?? undefined;
  if (others.length > 0) return [];
  const target = SHORTHANDS.some((name) => name === key) ? params[key!] : undefined;
  if (isTemplate(url) || isTemplate(target)) return [];
  if (url === undefined) {
    if (key === "method") return [{ path: [], message: "http step has no url" }];
    if (typeof target !== "string" || isFullUrl(target)) return checkText(key!, target);
    const message = `"${key}" is the path "${target}", and there is no "url" to append it to`;
    const hint = target.includes("${")
      ? "a value is put in by {{vars.name}}"
      : HOST.test(target)
      ? 'begin it with "http://" or "https://"'
      : 'give a full URL, or "url" in the defaults';
    return [{ path: [key!], message, hint }];
  }
  if (typeof url !== "string" || typeof target !== "string") return checkText("url", url);
  const path = isFullUrl(target) ? key! : "url";
  return checkText(path, joinUrl(url, target));
}

function checkText(key: string, text: Value | undefined): ParameterProblem[] {
  if (typeof text !== "string") return [];
  const problem = readUrl(text);
  return problem instanceof URL ? [] : [{ path: [key], ...problem }];
}

/** The problem of the limit of redirects. */
function checkRedirects({ max_redirects: max }: Dict): ParameterProblem[] {
  if (typeof max !== "number" || max >= 0) return [];
  return [{ path: ["max_redirects"], message: '"max_redirects" must not be negative' }];
}

function checkDownload({ save, max_body: maxBody = null }: Dict): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (save === "") problems.push({ path: ["save"], message: '"save" must not be empty' });
  if (maxBody === null || typeof maxBody === "object" || isTemplate(maxBody)) return problems;
  if (parseSize(String(maxBody)) === undefined) {
    problems.push({ path: ["max_body"], message: maxBodyProblem(String(maxBody)) });
  }
  return problems;
}

/** Problems of the headers of a step. */
export function checkHeaders(params: Dict): ParameterProblem[] {
  const headers = params.headers;
  if (!isDict(headers)) return [];
  const problems: ParameterProblem[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const path = ["headers", name];
    if (!isToken(name)) {
      problems.push({ path, at: "key", message: `invalid header name "${name}"` });
    } else if ([value].flat().some((item) => typeof item === "object" && item !== null)) {
      const what = isDict(value) ? "text, not a map" : "text or a list of texts";
      problems.push({ path, message: `the header "${name}" must be ${what}` });
    }
  }
  return problems;
}

/** Whether the body of the step is sent as a form, as far as it is known before the run. */
function hasForm({ headers }: Dict): boolean {
  if (!isDict(headers)) return false;
  return Object.entries(headers).some(([name, value]) =>
    name.toLowerCase() === "content-type" && typeof value === "string" &&
    mediaType(value) === "application/x-www-form-urlencoded"
  );
}

/** Problems of the body of an http step beyond its types. */
export function checkBodies(params: Dict): ParameterProblem[] {
  const [key, ...others] = BODIES.filter((name) => isGiven(params, name));
  return [
    ...others.map((other): ParameterProblem => ({
      path: [other],
      at: "key",
      message: `http step has two bodies, "${key}" and "${other}"`,
      hint: "keep one of them",
    })),
    ...checkCompression(params, key !== undefined),
    ...checkMultipart(params),
    ...checkGraphql(params),
  ];
}

function checkCompression(params: Dict, hasBody: boolean): ParameterProblem[] {
  const { compress } = params;
  if (!isGiven(params, "compress") || typeof compress !== "string") return [];
  if (!isTemplate(compress) && !COMPRESSIONS.some((name) => name === compress)) {
    return [{ path: ["compress"], message: compressionProblem(compress) }];
  }
  if (hasBody) return [];
  const message = '"compress" without a body';
  const hint = `a body is given by ${BODIES.join(", ")}`;
  return [{ path: ["compress"], at: "key", message, hint }];
}

function checkMultipart({ multipart }: Dict): ParameterProblem[] {
  if (!isDict(multipart)) return [];
  return Object.entries(multipart).flatMap(([name, value]) =>
    [value].flat().flatMap((part: Value): ParameterProblem[] => {
      const message = partProblem(name, part);
      return message === undefined ? [] : [{ path: ["multipart", name], message, hint: PART_HINT }];
    })
  );
}

function checkGraphql({ graphql }: Dict): ParameterProblem[] {
  if (!isDict(graphql)) return [];
  const sources = ["query", "file"].filter((name) => isGiven(graphql, name));
  if (sources.length === 1) return [];
  const message = sources.length === 0
    ? '"graphql" needs "query" or "file"'
    : '"graphql" has "query" and "file", which cannot be combined';
  return [{ path: ["graphql"], message, hint: "a file contains the query" }];
}

/** Parameters that cannot be combined. */
const CONFLICTS = [
  ["insecure", "verify_ssl"],
  ["unix_socket", "proxy"],
  ["unix_socket", "resolve"],
  ["proxy", "resolve"],
] as const;

/** Problems of the parameters that say how to connect. */
function checkConnection(params: Dict): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  const isSet = (name: string) => isGiven(params, name) && params[name] !== "none";
  for (const [one, other] of CONFLICTS) {
    if (isSet(one) && isSet(other)) problems.push(conflict([one], other));
  }
  if (isDict(params.tls) && isGiven(params.tls, "verify")) {
    for (const name of ["insecure", "verify_ssl"]) {
      if (isSet(name)) problems.push(conflict([name], "tls.verify"));
    }
  }
  return [...problems, ...checkResolve(params)];
}

function conflict(path: [string], other: string): ParameterProblem {
  const message = `"${path[0]}" and "${other}" cannot be combined`;
  return { path, at: "key", message, hint: "keep one of them" };
}

function checkResolve({ resolve }: Dict): ParameterProblem[] {
  if (!isDict(resolve)) return [];
  return Object.entries(resolve).flatMap(([from, to]) => {
    if (to === null || isTemplate(to)) return [];
    const message = resolveProblem(from, to);
    return message === undefined ? [] : [{ path: ["resolve", from], message, hint: RESOLVE_HINT }];
  });
}

/** Parameters of actions that begin with a request of HTTP and then receive a stream. */
export const STREAM_PARAMETERS = {
  ...HEADERS_PARAM,
  auth: AUTH,
  ...cookieParams(", also with http"),
  ...CONNECTION_PARAMS,
  ...REDIRECT_PARAMS,
  ...timeout("How long everything may take"),
};

/** Reports what is wrong with these parameters beyond their types. */
export function checkStream(raw: Dict, { problems }: Param): void {
  problems.push(
    ...checkConnection(raw),
    ...checkRedirects(raw),
    ...checkHeaders(raw),
    ...checkCookies(raw),
    ...checkAuth(raw),
  );
}

/** The fields of a response that reports show: no empty redirects and cookies. */
export function shownFields(res: Dict, hidden: readonly string[]): Dict {
  const isShown = (name: string) =>
    !hidden.includes(name) &&
    !(["redirects", "cookies"].includes(name) && [res[name]].flat().length === 0);
  return Object.fromEntries(Object.entries(res).filter(([name]) => isShown(name)));
}
