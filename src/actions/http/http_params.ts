import type { SecretSink } from "../../action/action.ts";
import { isGiven } from "../../action/parameter.ts";
import {
  choice,
  either,
  flag,
  integer,
  map,
  mapOf,
  type Param,
  Rule,
  text,
  timeout,
  value,
  type Values,
} from "../../action/rule.ts";
import { tls } from "../../action/tls/tls.ts";
import { type Dict, dictOf, isDict, isNumber, type Value } from "../../base/value/value.ts";
import { isTemplate } from "../../expr/template.ts";
import { isSecretHeader, withoutCookieValues } from "../../secrets/secrets.ts";
import {
  BODIES,
  isFullUrl,
  isToken,
  joinUrl,
  methodKeys,
  METHODS,
  readAddress,
  readUrl,
  SHORTHANDS,
} from "./request/http_syntax.ts";

const SIZE_UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/** A rule with a check of the value as the step gives it, also while there is a template in it. */
function checked<T>(rule: Rule<T>, check: (value: Value, param: Param) => void): Rule<T> {
  return new Rule(rule.form, (value, param) => {
    try {
      return rule.parse(value, param);
    } finally {
      check(value, param);
    }
  });
}

/** `method`. */
export const METHOD = text("GET, POST or any other method").as((method, param) => {
  const problem = methodProblem(method);
  if (problem === undefined) return method.toUpperCase();
  throw param.wrong(problem);
});

const shorthand = (name: string) =>
  text(`The method ${name.toUpperCase()} with a full URL, or a path to append to "url"`);

const HEADER = value(["string", "list"], "").as((header, param) => {
  if (typeof header === "string") return header;
  const texts = header.filter((one) => one !== null);
  if (texts.every((one) => typeof one !== "object")) return texts.map(String);
  throw param.wrong(`${param.name} must be text or a list of texts`);
});

/** The parameters that give the headers of a request. */
export const HEADERS_PARAM = {
  headers: mapOf(
    HEADER,
    "Request headers; null leaves one out, a list repeats it",
    (name, param) => {
      if (!isToken(name)) param.wrong(`invalid header name "${name}"`, undefined, { at: "key" });
    },
  ).with({ hide: hideHeaders }),
};

/** Parameters about redirects. */
export const REDIRECT_PARAMS = {
  follow_redirects: flag("Whether to follow redirects").with({ default: "true" }),
  max_redirects: integer("How many redirects to follow before giving up", { min: 0 })
    .with({ default: "10" }),
};

/** Parameters about cookies; `shared` names the other actions that share them. */
export const cookieParams = (shared = "") => ({
  cookies: value(
    ["boolean", "string"],
    "Whether to send and keep cookies; a name shares them with all jobs that use it",
  ).as((cookies, param) => {
    if (typeof cookies !== "string" || cookies.trim() !== "") return cookies;
    throw param.wrong('"cookies" must be true, false or the name of a session, not an empty text');
  }).with({ default: `true: the steps of a job share their cookies${shared}` }),
  cookie_file: text(
    "A Netscape cookie file whose cookies are added, relative to the workflow file",
  ),
});

const COMPRESSIONS = ["gzip", "deflate", "br"] as const;
export type Compression = typeof COMPRESSIONS[number];

/** A part of a multipart body: `value`, or the content of `file`. */
export interface Part {
  readonly file?: string;
  readonly value?: Value;
  readonly type?: string;
  readonly filename?: string;
}

const PART_HINT = "a part is text, { file, type, filename }, or { value, type, filename }";

const PART = checked<Part>(
  map({ file: text(""), value: value("any", ""), type: text(""), filename: text("") }, ""),
  (part, param) => {
    const sources = isDict(part) ? ["file", "value"].filter((name) => isGiven(part, name)) : [];
    if (sources.length === 1) return;
    const found = sources.length === 0 ? "none of them" : "both";
    param.wrong(`${param.name} must have either "file" or "value", not ${found}`, PART_HINT);
  },
);

/** The parts of a name: one, or a list of them. */
const PARTS = new Rule<readonly Part[]>(
  { type: "any", summary: "" },
  (parts, param) =>
    [parts].flat().filter((part) => part !== null).map((part) => {
      if (Array.isArray(part)) throw param.wrong(`${param.name} must not be a list in a list`);
      return isDict(part) ? PART.parse(part, param) : { value: part };
    }),
);

const GRAPHQL = checked(
  map({
    query: text("The query or mutation"),
    file: text("A file with the query, relative to the file that names it")
      .with({ namesFile: "any" }),
    variables: value("map", "Values of the variables of the query"),
    operation: text("Which operation to run if the query has several"),
  }, "A GraphQL request: the query, or a file with it"),
  (graphql, param) => {
    const sources = isDict(graphql)
      ? ["query", "file"].filter((name) => isGiven(graphql, name))
      : [];
    if (sources.length === 1) return;
    const message = sources.length === 0
      ? 'needs "query" or "file"'
      : 'has "query" and "file", which cannot be combined';
    param.wrong(`${param.name} ${message}`, "a file contains the query");
  },
);

/** Parameters of the request, and of how its response is kept. */
const REQUEST_PARAMS = {
  method: METHOD,
  url: text("The full URL, or the base for the path of a shorthand"),
  ...Object.fromEntries(SHORTHANDS.map((name) => [name, shorthand(name)])) as Record<
    typeof SHORTHANDS[number],
    ReturnType<typeof shorthand>
  >,
  query: value("map", "Names and values to append to the query; a list repeats its name"),
  ...HEADERS_PARAM,
  user_agent: text("The header User-Agent; one in headers replaces it")
    .with({ default: "runner" }),
  body: value(
    "any",
    "Text, or an object or list to send as JSON, or as a form if the content type says so",
  ),
  json: value("any", "Any value to send as JSON"),
  form: value("map", "Names and values to send as a form; a list repeats its name"),
  multipart: mapOf(
    PARTS.default([]),
    "Parts of a multipart form: text, { file, type, filename } or { value, type }; " +
      "a list repeats its name",
  ),
  file: text(
    "A file to send, relative to the file that names it; its extension determines the type",
  ).with({ namesFile: "any" }),
  graphql: GRAPHQL,
  compress: choice(COMPRESSIONS, "How to compress the body: gzip, deflate or br")
    .with({ default: "not compressed" }),
  save: text(
    "A file for the body of a response with a code from 200 to 299, relative to the " +
      "current directory",
  ).as((path, param) => {
    if (path !== "") return path;
    throw param.wrong('"save" must not be empty');
  }),
  max_body: text(
    "The largest body of a response: bytes, or 200MB or 1GiB",
  ).as((size, param) => {
    const bytes = parseSize(size);
    if (bytes !== undefined) return bytes;
    throw param.wrong(
      `"max_body" must be a size like 500000, 500kB, 200MB or 64MiB, not "${size}"`,
    );
  }).with({ default: "64MiB; 4GiB with save" }),
  ...timeout(
    "How long the request and the response may take",
    0,
    "the timeout of the step, also for 0",
  ),
  ...REDIRECT_PARAMS,
};

/** Parameters that switch the verification of certificates off. */
const VERIFY_PARAMS = {
  verify_ssl: flag("Whether to verify the TLS certificate of the server")
    .with({ default: "true" }),
  insecure: flag("The opposite of verify_ssl").with({ default: "false" }),
};

const RESOLVE_HINT = 'write it like "shop.example.com:443": "10.0.0.7:8443"';

/** Parameters that say where and how to connect. */
export const CONNECTION_PARAMS = {
  tls: tls(),
  proxy: text("The proxy to use, or none: http://user:password@host:port, https:// or socks5://")
    .with({ default: "the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name" }),
  unix_socket: text("The path of a Unix socket to connect to instead of the host"),
  resolve: mapOf(
    text("").as((to, param) => {
      if (readAddress(to, "443")) return to;
      const from = param.path.at(-1);
      const message = `"${from}" in "resolve" must lead to a host and a port, not "${to}"`;
      throw param.wrong(message, RESOLVE_HINT);
    }),
    'Where to connect instead of a host: { "shop.example.com:443": "10.0.0.7:8443" }',
    (from, param) => {
      if (readAddress(from)) return;
      param.wrong(`"${from}" in "resolve" is not a host and a port`, RESOLVE_HINT);
    },
  ),
  ip: choice(["4", "6"], "The version of IP to use: 4 or 6"),
  local_address: text("The address of this machine to connect from"),
};

const VERSION_PARAM = {
  version: choice(
    ["1.1", "2", "auto"],
    'The version of HTTP: "1.1", "2", or auto for 2 if the server offers it over TLS',
  ).with({ default: '"1.1"' }),
};

const USER_AND_PASSWORD = {
  username: text("The name of the user").required(),
  password: text("The password").required(),
};

/** The parts of a sign-in that are not secret. */
const PUBLIC: ReadonlySet<string> = new Set(
  "grant token_url scope audience resource send region service netrc".split(" "),
);

/** The names of users and clients are secrets unless they are plain words. */
const NAMES: ReadonlySet<string> = new Set(["username", "client_id"]);
const PLAIN_WORD = /^[a-z_-]{1,20}$/i;

/** Whether a field of `auth` is never shown. */
function isSecret(name: string, value: Value): boolean {
  if (typeof value !== "string" && !isNumber(value) || PUBLIC.has(name)) return false;
  return !NAMES.has(name) || !PLAIN_WORD.test(String(value));
}

function addSecrets(auth: Dict, secrets: Pick<SecretSink, "add">): void {
  for (const [name, value] of Object.entries(auth)) {
    if (isDict(value)) addSecrets(value, secrets);
    else if (isSecret(name, value)) secrets.add(String(value));
  }
}

function hideAuth(auth: Value, mask: string): Value {
  if (!isDict(auth)) return auth;
  return Object.fromEntries(
    Object.entries(auth).map(([name, value]) => [
      name,
      isDict(value)
        ? hideAuth(value, mask)
        : isSecret(name, value) && !isTemplate(value)
        ? mask
        : value,
    ]),
  );
}

const GRANTS = ["client_credentials", "password", "refresh_token"] as const;

/** The parameters that each grant needs besides the client. */
const GRANT_NEEDS: Readonly<Record<string, readonly string[]>> = {
  client_credentials: ["client_secret"],
  password: ["username", "password"],
  refresh_token: ["refresh_token"],
};

const OAUTH2 = checked(
  map({
    grant: choice(
      GRANTS,
      "how to get it: client_credentials, password or refresh_token",
    ).default(GRANTS[0]),
    token_url: text("The token endpoint of the authorization server").as((url, param) => {
      const read = readUrl(url);
      if (read instanceof URL) return read;
      throw param.wrong(read.message, read.hint);
    }).required(),
    client_id: text("The ID of the client").required(),
    client_secret: text("Its secret, if it has one"),
    username: text("The user, for the grant password"),
    password: text("The password, for the grant password"),
    refresh_token: text("For the grant refresh_token"),
    scope: value(["string", "list"], "The scopes to ask for"),
    audience: text("The audience of the token"),
    resource: value(["string", "list"], "The resource that the token is for"),
    send: choice(["header", "body"], "Where the client secret is sent: header or body")
      .default("header"),
  }, "A token that is fetched once for the run, and again when it expires"),
  (oauth2, param) => {
    if (!isDict(oauth2)) return;
    const grant = String(oauth2.grant ?? GRANTS[0]);
    for (const name of Object.hasOwn(GRANT_NEEDS, grant) ? GRANT_NEEDS[grant]! : []) {
      if (!isGiven(oauth2, name)) {
        param.wrong(`the grant ${grant} needs "${name}" in ${param.name}`);
      }
    }
  },
);

const AWS = map({
  region: text("Such as eu-central-1").required(),
  service: text("Such as s3 or execute-api").required(),
  access_key_id: text("The ID of the key").required(),
  secret_access_key: text("The key").required(),
  session_token: text("The token of temporary credentials"),
}, "Signs the request for AWS and compatible services (Signature Version 4)");

const WAYS = map(
  {
    basic: map(USER_AND_PASSWORD, "User and password, as in a URL"),
    bearer: text("A token").as((token, param) => {
      if (token !== "") return token;
      throw param.wrong(
        `${param.name} is empty`,
        "is the variable set that the token comes from? A request without a token has auth: null",
      );
    }),
    digest: map(
      USER_AND_PASSWORD,
      "User name and password; only a hash of the password is sent: MD5 or SHA-256",
    ),
    oauth2: OAUTH2,
    aws: AWS,
    netrc: flag("Whether to read user name and password from the file .netrc"),
  },
  "How to sign in, in one of these ways; it is not sent to another origin",
  { oneField: true },
);

/** The ways to sign in, of which a step gives one at most. */
export type Auth = Partial<RuleValue<typeof WAYS>>;
export type Oauth2 = RuleValue<typeof OAUTH2>;
export type Aws = RuleValue<typeof AWS>;
export type Login = Values<typeof USER_AND_PASSWORD>;

type RuleValue<R> = R extends Rule<infer T, unknown> ? T : never;

/** The authentication of a step. */
export const AUTH: Rule<Auth> = new Rule({
  ...WAYS.form,
  type: ["map", "string"],
  summary: `${WAYS.form.summary}; "none" turns off that of the defaults`,
  hide: hideAuth,
}, (auth, param) => {
  if (auth === "none") return {};
  if (isDict(auth) && param.secrets) addSecrets(auth, param.secrets);
  return WAYS.parse(auth, param);
});

/** The cookies that a step sends and keeps. */
export class CookieUse {
  constructor(
    /** The jar that all jobs with this name share; undefined for the jar of the job. */
    readonly jar: string | undefined,
    /** Whether it sends cookies of the jar: a step may give the header itself. */
    readonly isSent: boolean,
    /** A Netscape cookie file to put into the jar. */
    readonly file: string | undefined,
  ) {}
}

/** The headers of a step; an undefined one is left out. */
export type StepHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

const CHECKS =
  "`true`: a violation fails the step; `warn`: it is a warning; `false`: nothing is checked";

const SUMMARY =
  "The path of an OpenAPI description that the request and the response must match; `false` for none";

/** What a violation of a description does. */
type Reaction = "fail" | "warn" | "off";

const reaction = (name: string, summary: string) =>
  value(["boolean", "string"], summary).as((value, param): Reaction => {
    if (typeof value === "boolean") return value ? "fail" : "off";
    if (value === "warn") return "warn";
    throw param.wrong(`"openapi.${name}" must be true, false or warn, not "${value}"`);
  }).default("fail", "true");

const SETTINGS = map({
  file: text("The path of the description").required().with({ namesFile: "any" }),
  request: reaction("request", `Whether the request must match it: ${CHECKS}`),
  response: reaction("response", "The same for the response"),
  base_path: text("What comes before the paths of the description")
    .with({ default: "the paths of its servers, or nothing" }),
}, SUMMARY);

/** A description that requests and responses must match, and what a violation does. */
export interface ApiSettings {
  readonly file: string;
  readonly request: Reaction;
  readonly response: Reaction;
  readonly base_path?: string;
}

const ANY_OPENAPI = either(text(SUMMARY).with({ namesFile: "any" }), either(SETTINGS, flag("")));

/** `openapi`: the description that requests and responses must match; false for none. */
const OPENAPI: Rule<ApiSettings | false> = new Rule(ANY_OPENAPI.form, (openapi, param) => {
  const settings = ANY_OPENAPI.parse(openapi, param);
  if (settings === true) {
    throw param.wrong('"openapi" must be the path of a description, a map, or false');
  }
  if (settings === false || settings === "false") return false;
  return typeof settings === "string"
    ? { file: settings, request: "fail", response: "fail" }
    : settings;
});

/** Headers without the values of secret ones; most messages have none and are returned as is. */
export function hideHeaders(headers: Value, mask: string): Value {
  if (!isDict(headers) || !Object.keys(headers).some(isSecretHeader)) return headers;
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretHeader(name) ? hideHeader(name, String(value), mask) : value,
    ]),
  );
}

/** A secret header as it may be shown: cookies without their values. */
export function hideHeader(name: string, value: string, mask: string): string {
  return /cookie$/i.test(name) ? withoutCookieValues(value, mask) : mask;
}

/** The cookies of a response without their values. */
export function hideCookies(cookies: Value, mask: string): Value {
  return Array.isArray(cookies) ? cookies.map((cookie) => hideCookie(cookie, mask)) : cookies;
}

function hideCookie(cookie: Value, mask: string): Value {
  if (!isDict(cookie) || typeof cookie.raw !== "string") return cookie;
  const { value, raw } = cookie;
  return { ...cookie, value: value === "" ? "" : mask, raw: withoutCookieValues(raw, mask) };
}

/** Parameters that exclude each other. */
const CONFLICTS = [
  ["insecure", "verify_ssl"],
  ["unix_socket", "proxy"],
  ["unix_socket", "resolve"],
  ["proxy", "resolve"],
  ["insecure", "tls.verify"],
  ["verify_ssl", "tls.verify"],
] as const;

/** Reports parameters of a request that cannot be combined, of http and of streams. */
export function checkRequest(param: Param, raw: Dict): void {
  const tls = dictOf(raw.tls);
  const isSet = (name: string) =>
    name === "tls.verify" ? isGiven(tls, "verify") : isGiven(raw, name) && raw[name] !== "none";
  for (const [one, other] of CONFLICTS) {
    if (isSet(one) && isSet(other)) cannotCombine(param.of(one), `"${one}" and "${other}"`);
  }
  const { auth, headers } = raw;
  const header = isDict(auth) && isDict(headers) &&
    Object.keys(headers).find((name) =>
      name.toLowerCase() === "authorization" && headers[name] !== null
    );
  if (header) cannotCombine(param.of("auth"), `"auth" and the header "${header}"`);
  if (String(raw.cookies) === "false" && isGiven(raw, "cookie_file")) {
    const message = '"cookie_file" needs cookies, and "cookies" switches them off';
    param.of("cookie_file").wrong(message, "remove one of them", { at: "key" });
  }
  const [body, ...others] = BODIES.filter((name) => isGiven(raw, name));
  for (const other of others) {
    const message = `http step has two bodies, "${body}" and "${other}"`;
    param.of(other).wrong(message, "keep one of them", { at: "key" });
  }
  if (isGiven(raw, "compress") && !BODIES.some((name) => Object.hasOwn(raw, name))) {
    const hint = `a body is given by ${BODIES.join(", ")}`;
    param.of("compress").wrong('"compress" without a body', hint, { at: "key" });
  }
}

function cannotCombine(param: Param, both: string): void {
  param.wrong(`${both} cannot be combined`, "keep one of them", { at: "key" });
}

/** The parameters of http. */
const PARAMS = {
  ...REQUEST_PARAMS,
  ...VERIFY_PARAMS,
  ...CONNECTION_PARAMS,
  ...VERSION_PARAM,
  auth: AUTH,
  ...cookieParams(),
  openapi: OPENAPI,
};

/** The values of the parameters of a request; those of a stream are fewer. */
export type HttpParams = Partial<Values<typeof PARAMS>>;

/** The parameters of http, and how they depend on each other. */
export const HTTP = {
  name: "http",
  params: PARAMS,
  check(params: HttpParams, param: Param, raw: Dict): void {
    checkMethod(param, raw);
    checkUrl(params, param, raw);
    checkRequest(param, raw);
  },
};

function checkMethod(param: Param, raw: Dict): void {
  const [key, ...others] = methodKeys(raw);
  for (const other of others) {
    const message = `http step has two methods, "${key}" and "${other}"`;
    param.of(other).wrong(message, "keep one of them", { at: "key" });
  }
  if (key !== undefined) return;
  const empty = param.isEarly ? undefined : METHODS.find((name) => Object.hasOwn(raw, name));
  if (empty !== undefined) param.of(empty).missing(null);
  else param.wrong("http step has no method", 'give it one, like "get: /path" or "method: GET"');
}

/** The beginning of a URL without a scheme: `localhost`, `api:8080`, `127.0.0.1`, `www.a.com`. */
const HOST =
  /^\s*(?:https?:|\/\/|www\.|(?:localhost|[\w.-]+:\d+|\d+(?:\.\d+){3}|(?:[\w-]+\.){2,}[a-z]{2,})(?:[/?]|$))/i;

/** Checks the URL as far as it is known. */
function checkUrl(params: HttpParams, param: Param, raw: Dict): void {
  const keys = methodKeys(raw);
  const key = SHORTHANDS.find((name) => name === keys[0]);
  const target = key && params[key];
  // Two methods are reported already, and a template has no value yet.
  if (keys.length !== 1 || key && target === undefined) return;
  if (isGiven(raw, "url") && params.url === undefined) return;
  const { url } = params;
  if (url !== undefined || key && isFullUrl(target!)) {
    const read = readUrl(target === undefined ? url! : joinUrl(url ?? "", target));
    if (read instanceof URL) return;
    param.of(key && isFullUrl(target!) ? key : "url").wrong(read.message, read.hint);
  } else if (!key) {
    if (Object.hasOwn(raw, "url") && !param.isEarly) param.of("url").missing(null);
    else param.wrong("http step has no url");
  } else {
    const message = `"${key}" is the path "${target}", and there is no "url" to append it to`;
    const hint = target!.includes("${")
      ? "a value is put in by {{vars.name}}"
      : HOST.test(target!)
      ? 'begin it with "http://" or "https://"'
      : 'give a full URL, or "url" in the defaults';
    param.of(key).wrong(message, hint);
  }
}

/** The problem of a method; undefined if there is none. */
function methodProblem(method: string): string | undefined {
  if (!isToken(method)) return `invalid method "${method}"`;
  // It asks a proxy for a tunnel; no response would follow.
  if (method.toUpperCase() === "CONNECT") return `the method "${method}" is not supported`;
  return undefined;
}

/** The bytes in a size such as `200MB`; undefined if it is invalid. */
function parseSize(text: string): number | undefined {
  const [, number, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const factor = SIZE_UNITS[unit.toLowerCase()];
  if (number === undefined || factor === undefined) return undefined;
  const bytes = Math.floor(Number(number) * factor);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
