import { isTemplate } from "../../expr/template/template_data.ts";
import type { Action, Dict, ParameterProblem } from "../../action/action.ts";
import { hideCookies, hideHeaders } from "../http/hide_headers.ts";
import { checkBodies } from "../http/request/bodies/check_bodies.ts";
import { methodProblem } from "../http/request/http_syntax.ts";
import { mergeHttpDefaults } from "../http/request/merge_http_defaults.ts";
import { readUrl } from "../http/request/request_url.ts";
import { checkStream, STREAM_PARAMETERS } from "../http/stream_parameters.ts";

/** Receives server-sent events. */
export const sse: Action = {
  name: "sse",
  summary: "Receives server-sent events",
  parameters: [
    { name: "url", type: "string", summary: "The URL of the stream", required: true },
    { name: "method", type: "string", summary: "GET, POST or any other method", default: "GET" },
    {
      name: "body",
      type: "any",
      summary: "Text, or an object or list to send as JSON",
    },
    { name: "json", type: "any", summary: "Any value to send as JSON" },
    {
      name: "until",
      type: "string",
      expression: ["message"],
      summary: "An expression: receive events until it is true of one, which is `message`",
    },
    {
      name: "max_events",
      type: "integer",
      summary: "How many events to receive at most",
    },
    ...STREAM_PARAMETERS,
  ],
  responseFields: [
    { name: "code", type: "int" },
    { name: "status", type: "string", hint: "it is the status line; the number is res.code" },
    { name: "headers", type: "map", hide: hideHeaders },
    { name: "cookies", type: "array", hide: hideCookies },
    { name: "events", type: "array" },
    { name: "event", type: "map" },
    { name: "retry", type: "int" },
    { name: "url", type: "string" },
    { name: "redirects", type: "array" },
    { name: "tls", type: "map" },
    { name: "body" },
  ],
  check: (params) => [
    ...checkTarget(params),
    ...checkBodies(params),
    ...checkStream(params, "max_events"),
  ],
  expectsResult: ({ until = null }) => until !== null,
  omitsNilIn: () => ["headers"],
  merge: mergeHttpDefaults,
  exampleTest: 'res.event.event == "done"',
  explainer: async () => (await import("./explain_sse.ts")).sseExplainer,
  load: async () => (await import("./run_sse.ts")).runSse,
};

function checkTarget({ url, method }: Dict): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (typeof url === "string" && !isTemplate(url)) {
    const problem = readUrl(url);
    if (!(problem instanceof URL)) problems.push({ path: ["url"], ...problem });
  }
  if (typeof method === "string" && !isTemplate(method)) {
    const message = methodProblem(method);
    if (message !== undefined) problems.push({ path: ["method"], message });
  }
  return problems;
}
