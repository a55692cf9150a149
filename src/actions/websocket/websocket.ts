import { isTemplate } from "../../expr/template/template_data.ts";
import type { Action, Dict, ParameterProblem } from "../../action/action.ts";
import { hideCookies, hideHeaders } from "../http/hide_headers.ts";
import { mergeHttpDefaults } from "../http/request/merge_http_defaults.ts";
import { checkStream, STREAM_PARAMETERS } from "../http/stream_parameters.ts";
import { URL_HINT, urlProblem } from "./read_websocket_url.ts";
import { subprotocolProblem } from "./subprotocols.ts";

/** Exchanges messages over a WebSocket. */
export const websocket: Action = {
  name: "websocket",
  summary: "Opens a WebSocket, sends messages and waits for answers",
  parameters: [
    {
      name: "url",
      type: "string",
      summary: "The server: `ws://host/path`, or `wss://` for TLS",
      required: true,
    },
    {
      name: "send",
      type: ["string", "list", "map"],
      summary: "What to send: text, a map or list as JSON, { base64: … } as bytes; " +
        'a list takes turns with "expect", and null sends nothing',
    },
    {
      name: "expect",
      type: ["string", "list", "map"],
      summary: "What must arrive: text or /a pattern/, or a part of a JSON message; " +
        "a list waits for one message after each send",
    },
    {
      name: "until",
      type: "string",
      expression: ["message"],
      summary: "An expression: read messages until it is true of one",
    },
    {
      name: "max_messages",
      type: "integer",
      summary: "How many messages to read at most",
    },
    {
      name: "subprotocols",
      type: ["string", "list"],
      summary: "Subprotocols to offer; the server must choose one",
    },
    ...STREAM_PARAMETERS,
  ],
  responseFields: [
    { name: "code", type: "int" },
    { name: "headers", type: "map", hide: hideHeaders },
    { name: "cookies", type: "array", hide: hideCookies },
    { name: "subprotocol", type: "string" },
    { name: "messages", type: "array" },
    { name: "message" },
    { name: "close_code", type: "int" },
    { name: "close_reason", type: "string" },
    { name: "url", type: "string" },
    { name: "redirects", type: "array" },
    { name: "tls", type: "map" },
    { name: "body", type: "string" },
  ],
  check: (params) => [
    ...checkUrl(params),
    ...checkSubprotocols(params),
    ...checkStream(params, "max_messages"),
  ],
  expectsResult: ({ expect = null, until = null }) => expect !== null || until !== null,
  omitsNilIn: () => ["headers"],
  merge: mergeHttpDefaults,
  exampleTest: 'res.message.type == "done"',
  explainer: async () => (await import("./explain_websocket.ts")).websocketExplainer,
  load: async () => (await import("./run_websocket.ts")).runWebsocket,
};

function checkUrl({ url }: Dict): ParameterProblem[] {
  if (typeof url !== "string" || isTemplate(url)) return [];
  const message = urlProblem(url);
  return message === undefined ? [] : [{ path: ["url"], message, hint: URL_HINT }];
}

function checkSubprotocols({ subprotocols }: Dict): ParameterProblem[] {
  if ([subprotocols ?? null].flat().some(isTemplate)) return [];
  const message = subprotocolProblem(subprotocols);
  return message === undefined ? [] : [{ path: ["subprotocols"], message }];
}
