import type { Action } from "../../action/action.ts";
import { hideCookies, hideHeaders } from "./hide_headers.ts";
import { CONNECTION_PARAMETERS } from "./connection/check_connection.ts";
import { AUTH } from "./auth/auth_parameter.ts";
import { expectsContract, OPENAPI_PARAMETER } from "./contract_parameter.ts";
import { checkHttp, hasForm } from "./request/check_http.ts";
import { mergeHttpDefaults } from "./request/merge_http_defaults.ts";
import { SAME_MEANING, SHORTHANDS } from "./request/http_syntax.ts";

/** Sends an HTTP request. */
export const http: Action = {
  name: "http",
  summary: "Sends an HTTP request and reads the response",
  parameters: [
    { name: "method", type: "string", summary: "GET, POST or any other method" },
    {
      name: "url",
      type: "string",
      summary: "Full URL, or what the path of a shorthand is appended to",
    },
    ...SHORTHANDS.map((name) => ({
      name,
      type: "string" as const,
      summary: `The method ${name.toUpperCase()} with a full URL, or a path to append to "url"`,
    })),
    {
      name: "query",
      type: "map",
      summary: "Names and values to append to the query; a list repeats its name",
    },
    {
      name: "headers",
      type: "map",
      summary: "Request headers; null leaves one out, a list repeats it",
      hide: hideHeaders,
    },
    {
      name: "user_agent",
      type: "string",
      summary: "The header User-Agent; one in headers replaces it",
      default: "runner",
    },
    {
      name: "body",
      type: "any",
      summary:
        "Text, or an object or list to send as JSON, or as a form if the content type says so",
    },
    { name: "json", type: "any", summary: "Any value to send as JSON" },
    {
      name: "form",
      type: "map",
      summary: "Names and values to send as a form; a list repeats its name",
    },
    {
      name: "multipart",
      type: "map",
      summary: "Parts of a multipart form: text, { file, type, filename } or { value, type }; " +
        "a list repeats its name",
    },
    {
      name: "file",
      type: "string",
      summary: "A file to send, relative to the file that names it; its extension gives the type",
      namesFile: "any",
    },
    {
      name: "graphql",
      type: "map",
      summary: "A GraphQL request: the query, or a file with it",
      fields: [
        { name: "query", type: "string", summary: "The query or mutation" },
        {
          name: "file",
          type: "string",
          summary: "A file with the query, relative to the file that names it",
          namesFile: "any",
        },
        { name: "variables", type: "map", summary: "Values of the variables of the query" },
        {
          name: "operation",
          type: "string",
          summary: "Which operation to run if the query has several",
        },
      ],
    },
    {
      name: "compress",
      type: "string",
      summary: "How to compress the body: gzip, deflate or br",
      default: "not compressed",
    },
    {
      name: "save",
      type: "string",
      summary: "A file for the body of a response with a code from 200 to 299, relative to the " +
        "current directory",
    },
    {
      name: "max_body",
      type: "string",
      summary: "The largest body of a response that is kept in memory: bytes, or 200MB or 1GiB",
      default: "64MiB",
    },
    {
      name: "timeout",
      type: "duration",
      summary: "How long the request and the response may take",
      default: "the timeout of the step, also for 0",
    },
    {
      name: "follow_redirects",
      type: "boolean",
      summary: "Whether to follow redirects",
      default: "true",
    },
    {
      name: "max_redirects",
      type: "integer",
      summary: "How many redirects to follow before giving up",
      default: "10",
    },
    {
      name: "verify_ssl",
      type: "boolean",
      summary: "Whether to verify the TLS certificate of the server",
      default: "true",
    },
    { name: "insecure", type: "boolean", summary: "The opposite of verify_ssl", default: "false" },
    ...CONNECTION_PARAMETERS,
    AUTH,
    {
      name: "cookies",
      type: ["boolean", "string"],
      summary: "Whether to send and keep cookies; a name shares them with all jobs that give it",
      default: "true: the steps of a job share their cookies",
    },
    {
      name: "cookie_file",
      type: "string",
      summary: "A Netscape cookie file whose cookies are added, relative to the workflow file",
    },
    OPENAPI_PARAMETER,
  ],
  responseFields: [
    { name: "code", type: "int" },
    { name: "status", type: "string", hint: "it is the status line; the number is res.code" },
    { name: "headers", type: "map", hide: hideHeaders },
    { name: "cookies", type: "array", hide: hideCookies },
    { name: "trailers", type: "map", hide: hideHeaders },
    { name: "url", type: "string" },
    { name: "redirects", type: "array" },
    { name: "tls", type: "map" },
    { name: "version", type: "string" },
    { name: "timing", type: "map" },
    { name: "body" },
    { name: "rawbody", type: "string", repeats: "body" },
    { name: "filepath", type: "string" },
    { name: "data" },
    { name: "errors", type: "array" },
    { name: "size", type: "int" },
    { name: "sha256", type: "string" },
    { name: "sha1", type: "string" },
    { name: "md5", type: "string" },
  ],
  alternatives: SAME_MEANING,
  check: checkHttp,
  omitsNilIn: (params) => [
    ...["headers", "query", "form", "multipart"],
    ...hasForm(params) ? ["body"] : [],
  ],
  merge: mergeHttpDefaults,
  expectsResult: expectsContract,
  exampleTest: "res.code == 200",
  explainer: async () => (await import("./explain_http.ts")).httpExplainer,
  load: async () => (await import("./run_http.ts")).httpRunner,
};
