import type { ParameterProblem } from "../../action/action.ts";
import { timeout } from "../../action/params.ts";
import { choice, either, flag, integer, map, Rule, text, value } from "../../action/schema.ts";
import { tls } from "../../action/tls/tls.ts";
import { StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { type Dict, isDict, isNumber, type Value } from "../../base/value/value.ts";
import { isTemplate } from "../../expr/template/template_data.ts";
import { isSecretHeader, withoutCookieValues } from "../../secrets/secrets.ts";
import { readUrl, SHORTHANDS } from "./request/http_syntax.ts";

const shorthand = (name: string) =>
  text(`The method ${name.toUpperCase()} with a full URL, or a path to append to "url"`);

/** The parameters that give the headers of a request. */
export const HEADERS_PARAM = {
  headers: value("map", "Request headers; null leaves one out, a list repeats it")
    .with({ hide: hideHeaders }),
};

/** Parameters about redirects. */
export const REDIRECT_PARAMS = {
  follow_redirects: flag("Whether to follow redirects").with({ default: "true" }),
  max_redirects: integer("How many redirects to follow before giving up").with({ default: "10" }),
};

/** Parameters about cookies; `shared` says with what else. */
export const cookieParams = (shared = "") => ({
  cookies: value(
    ["boolean", "string"],
    "Whether to send and keep cookies; a name shares them with all jobs that use it",
  ).with({ default: `true: the steps of a job share their cookies${shared}` }),
  cookie_file: text(
    "A Netscape cookie file whose cookies are added, relative to the workflow file",
  ),
});

/** Parameters that give the request, and say what becomes of the response. */
export const REQUEST_PARAMS = {
  method: text("GET, POST or any other method"),
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
  multipart: value(
    "map",
    "Parts of a multipart form: text, { file, type, filename } or { value, type }; " +
      "a list repeats its name",
  ),
  file: text(
    "A file to send, relative to the file that names it; its extension determines the type",
  ).with({ namesFile: "any" }),
  graphql: map({
    query: text("The query or mutation"),
    file: text("A file with the query, relative to the file that names it")
      .with({ namesFile: "any" }),
    variables: value("map", "Values of the variables of the query"),
    operation: text("Which operation to run if the query has several"),
  }, "A GraphQL request: the query, or a file with it"),
  compress: text("How to compress the body: gzip, deflate or br")
    .with({ default: "not compressed" }),
  save: text(
    "A file for the body of a response with a code from 200 to 299, relative to the " +
      "current directory",
  ),
  max_body: text(
    "The largest body of a response: bytes, or 200MB or 1GiB",
  ).with({ default: "64MiB; 4GiB with save" }),
  ...timeout(
    "How long the request and the response may take",
    0,
    "the timeout of the step, also for 0",
  ),
  ...REDIRECT_PARAMS,
};

/** Parameters that switch the verification of certificates off. */
export const VERIFY_PARAMS = {
  verify_ssl: flag("Whether to verify the TLS certificate of the server")
    .with({ default: "true" }),
  insecure: flag("The opposite of verify_ssl").with({ default: "false" }),
};

/** Parameters that say where and how to connect. */
export const CONNECTION_PARAMS = {
  tls: tls(),
  proxy: text("The proxy to use, or none: http://user:password@host:port, https:// or socks5://")
    .with({ default: "the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name" }),
  unix_socket: text("The path of a Unix socket to connect to instead of the host"),
  resolve: value(
    "map",
    'Where to connect instead of a host: { "shop.example.com:443": "10.0.0.7:8443" }',
  ),
  ip: choice(["4", "6"], "The version of IP to use: 4 or 6"),
  local_address: text("The address of this machine to connect from"),
};

/** The version of HTTP. */
export const VERSION_PARAM = {
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
export function isSecret(name: string, value: Value): boolean {
  if (typeof value !== "string" && !isNumber(value) || PUBLIC.has(name)) return false;
  return !NAMES.has(name) || !PLAIN_WORD.test(String(value));
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

const WAYS = map(
  {
    basic: map(USER_AND_PASSWORD, "User and password, as in a URL"),
    bearer: text("A token"),
    digest: map(
      USER_AND_PASSWORD,
      "User name and password; only a hash of the password is sent: MD5 or SHA-256",
    ),
    oauth2: map({
      grant: text("how to get it: client_credentials, password or refresh_token")
        .with({ default: "client_credentials" }),
      token_url: text("The token endpoint of the authorization server").required(),
      client_id: text("The ID of the client").required(),
      client_secret: text("Its secret, if it has one"),
      username: text("The user, for the grant password"),
      password: text("The password, for the grant password"),
      refresh_token: text("For the grant refresh_token"),
      scope: value(["string", "list"], "The scopes to ask for"),
      audience: text("The audience of the token"),
      resource: value(["string", "list"], "The resource that the token is for"),
      send: text("Where the client secret is sent: header or body").with({ default: "header" }),
    }, "A token that is fetched once for the run, and again when it expires"),
    aws: map({
      region: text("Such as eu-central-1").required(),
      service: text("Such as s3 or execute-api").required(),
      access_key_id: text("The ID of the key").required(),
      secret_access_key: text("The key").required(),
      session_token: text("The token of temporary credentials"),
    }, "Signs the request for AWS and compatible services (Signature Version 4)"),
    netrc: flag("Whether to read user name and password from the file .netrc"),
  },
  "How to sign in, in one of these ways; it is not sent to another origin",
  { oneField: true },
);

/** The authentication of a step. A run works with what the step gives, which is a valid map. */
export const AUTH: Rule<Dict> = new Rule({
  ...WAYS.form,
  type: ["map", "string"],
  summary: `${WAYS.form.summary}; "none" turns off that of the defaults`,
  hide: hideAuth,
}, (auth, param) => {
  if (auth === "none") return {};
  WAYS.parse(auth, param);
  return auth as Dict;
});

const GRANTS = ["client_credentials", "password", "refresh_token"];

/** The parameters that each grant needs besides the client. */
const GRANT_NEEDS: Readonly<Record<string, readonly string[]>> = {
  client_credentials: ["client_secret"],
  password: ["username", "password"],
  refresh_token: ["refresh_token"],
};

/** Problems of the sign-in of a step beyond types. */
export function checkAuth({ auth, headers }: Dict): ParameterProblem[] {
  if (!isDict(auth)) return [];
  const problems = checkOauth2(auth.oauth2);
  if (auth.bearer === "") {
    problems.push({
      path: ["auth", "bearer"],
      message: '"auth.bearer" is empty',
      hint:
        "is the variable set that the token comes from? A request without a token has auth: null",
    });
  }
  const header = isDict(headers) &&
    Object.keys(headers).find((name) =>
      name.toLowerCase() === "authorization" && headers[name] !== null
    );
  if (header) {
    problems.push({
      path: ["auth"],
      at: "key",
      message: `"auth" and the header "${header}" cannot be combined`,
      hint: "keep one of them",
    });
  }
  return problems;
}

function checkOauth2(oauth2: Value | undefined): ParameterProblem[] {
  if (!isDict(oauth2)) return [];
  const at = (key: string) => ["auth", "oauth2", key];
  const problems: ParameterProblem[] = [];
  const { grant, token_url: url, send } = oauth2;
  if (typeof url === "string" && !isTemplate(url)) {
    const problem = readUrl(url);
    if (!(problem instanceof URL)) problems.push({ path: at("token_url"), ...problem });
  }
  if (typeof send === "string" && !isTemplate(send) && send !== "body" && send !== "header") {
    const message = `"auth.oauth2.send" must be "header" or "body", not "${send}"`;
    problems.push({ path: at("send"), message });
  }
  if (isTemplate(grant)) return problems;
  const name = grant ?? GRANTS[0]!;
  const needs = typeof name === "string" && GRANTS.includes(name) ? GRANT_NEEDS[name]! : undefined;
  if (!needs) {
    const hint = didYouMean(String(name), GRANTS) ?? `the grants are ${GRANTS.join(", ")}`;
    return [...problems, { path: at("grant"), message: `unknown grant "${name}"`, hint }];
  }
  for (const key of needs) {
    if (oauth2[key] !== undefined && oauth2[key] !== null) continue;
    const message = `the grant ${name} needs "${key}" in "auth.oauth2"`;
    problems.push({ path: ["auth", "oauth2"], message });
  }
  return problems;
}

/** The sign-in of a step once its templates are rendered. Throws a `StepError` if it is wrong. */
export function readAuth(auth: Dict | undefined): Dict | undefined {
  if (!auth) return undefined;
  const [problem] = checkAuth({ auth });
  if (!problem) return auth;
  throw new StepError(`cannot run http: ${problem.message}`, problem.hint, { parameter: "auth" });
}

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

/** Reads which cookies a step uses; undefined if none. */
export function readCookieUse(
  cookies: boolean | string | undefined,
  file: string | undefined,
  headers: Dict,
): CookieUse | undefined {
  if (cookies === false) return undefined;
  const isSent = !Object.keys(headers)
    .some((name) => name.toLowerCase() === "cookie" && headers[name] === null);
  return new CookieUse(typeof cookies === "string" ? cookies : undefined, isSent, file);
}

/** Problems of the cookies of a step. */
export function checkCookies({ cookies, cookie_file: file }: Dict): ParameterProblem[] {
  if (typeof cookies === "string" && !isTemplate(cookies) && cookies.trim() === "") {
    const message = '"cookies" must be true, false or the name of a session, not an empty text';
    return [{ path: ["cookies"], message }];
  }
  if (cookies !== false && cookies !== "false" || file === undefined || file === null) return [];
  const message = '"cookie_file" needs cookies, and "cookies" switches them off';
  return [{ path: ["cookie_file"], at: "key", message, hint: "remove one of them" }];
}

const CHECKS =
  "`true`: a violation fails the step; `warn`: it is a warning; `false`: nothing is checked";

const SUMMARY =
  "The path of an OpenAPI description that the request and the response must match; `false` for none";

const SETTINGS = map({
  file: text("The path of the description").required().with({ namesFile: "any" }),
  request: value(["boolean", "string"], `Whether the request must match it: ${CHECKS}`)
    .with({ default: "true" }),
  response: value(["boolean", "string"], "The same for the response").with({ default: "true" }),
  base_path: text("What comes before the paths of the description")
    .with({ default: "the paths of its servers, or nothing" }),
}, SUMMARY);

/** `openapi`: the description that requests and responses are held against. */
export const OPENAPI = either(text(SUMMARY).with({ namesFile: "any" }), either(SETTINGS, flag("")));

/** Problems of `openapi` beyond its types. */
export function checkOpenapi({ openapi }: Dict): ParameterProblem[] {
  if (openapi === true) {
    const message = '"openapi" must be the path of a description, a map, or false';
    return [{ path: ["openapi"], message }];
  }
  if (!isDict(openapi)) return [];
  return ["request", "response"].flatMap((name) => {
    const value = openapi[name];
    if (typeof value !== "string" || isTemplate(value) || /^(?:warn|true|false)$/.test(value)) {
      return [];
    }
    const message = `"openapi.${name}" must be true, false or warn, not "${value}"`;
    return [{ path: ["openapi", name], message }];
  });
}

/** Whether a description says what response to expect. */
export function expectsContract({ openapi = null }: Dict): boolean {
  if (!isDict(openapi)) return typeof openapi === "string" && openapi !== "false";
  return String(openapi.response ?? true) === "true";
}

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
