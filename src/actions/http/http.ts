import type { Action } from "../../action/action.ts";
import { declare } from "../../action/make_action.ts";
import { type Alternatives, isGiven } from "../../action/parameter.ts";
import { type Dict, isDict, mergeDicts, type Value } from "../../base/value/value.ts";
import { hideCookies, hideHeaders, HTTP } from "./http_params.ts";
import { BODIES, mediaType, METHODS } from "./request/http_syntax.ts";

/** Parameters with the same meaning: one of a step replaces all of them in the defaults. */
const SAME_MEANING: readonly Alternatives[] = [
  { names: METHODS, required: true },
  { names: BODIES },
  { names: ["verify_ssl", "insecure"] },
];

/** Sends an HTTP request. */
export const http: Action = {
  ...declare({
    ...HTTP,
    summary: "Sends an HTTP request and reads the response",
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
  // A step changes single settings of the description of its job.
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

/** Whether the body of the step is sent as a form, as far as it is known before the run. */
function hasForm({ headers }: Dict): boolean {
  if (!isDict(headers)) return false;
  return Object.entries(headers).some(([name, value]) =>
    name.toLowerCase() === "content-type" && typeof value === "string" &&
    mediaType(value) === "application/x-www-form-urlencoded"
  );
}

/** Whether a description says what response to expect. */
function expectsContract({ openapi = null }: Dict): boolean {
  if (!isDict(openapi)) return typeof openapi === "string" && openapi !== "false";
  return String(openapi.response ?? true) === "true";
}
