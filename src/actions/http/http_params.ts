import { timeout } from "../../action/params.ts";
import { choice, flag, integer, map, text, value } from "../../action/schema.ts";
import { tls } from "../../action/tls/tls.ts";
import { hideHeaders } from "./hide_headers.ts";
import { SHORTHANDS } from "./request/http_syntax.ts";

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
    "Whether to send and keep cookies; a name shares them with all jobs that give it",
  ).with({ default: `true: the steps of a job share their cookies${shared}` }),
  cookie_file: text(
    "A Netscape cookie file whose cookies are added, relative to the workflow file",
  ),
});

/** Parameters that give the request, and say what becomes of the response. */
export const REQUEST_PARAMS = {
  method: text("GET, POST or any other method"),
  url: text("Full URL, or what the path of a shorthand is appended to"),
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
    "A file to send, relative to the file that names it; its extension gives the type",
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
    "The largest body of a response that is kept in memory: bytes, or 200MB or 1GiB",
  ).with({ default: "64MiB" }),
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
  unix_socket: text("The path of a Unix socket to connect to in place of the host"),
  resolve: value(
    "map",
    'Where to connect in place of a host: { "shop.example.com:443": "10.0.0.7:8443" }',
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
