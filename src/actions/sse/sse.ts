import { BACKGROUND, checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
import { condition, integer, text, value } from "../../action/rule.ts";
import { checkRequest, METHOD } from "../http/http_params.ts";
import { mergeHttpDefaults } from "../http/http.ts";
import { readUrl } from "../http/request/http_syntax.ts";
import { shownFields, STREAM_MINOR, STREAM_PARAMS, STREAM_RES } from "../http/stream.ts";

/** Receives server-sent events. */
export const sse = action({
  name: "sse",
  summary: "Receives server-sent events",
  params: {
    url: text("The URL of the stream").as((text, param) => {
      const url = readUrl(text);
      if (url instanceof URL) return url;
      throw param.wrong(url.message, url.hint);
    }).required(),
    method: METHOD.default("GET"),
    body: value("any", "Text, or an object or list to send as JSON"),
    json: value("any", "Any value to send as JSON"),
    until: condition(
      "An expression: receive events until it is true; `message` is the event",
      "message",
    ),
    max_events: integer("The maximum number of events to receive", { min: 1 }),
    background: BACKGROUND,
    ...STREAM_PARAMS,
  },
  check(_params, param, raw) {
    checkRequest(param, raw);
    checkBackground(param, raw, ["until", "max_events"]);
  },
  expectsResult: ({ until = null }) => until !== null,
  acceptsAnswers: true,
  omitsNilIn: () => ["headers"],
  merge: mergeHttpDefaults,
  res: {
    ...STREAM_RES,
    status: {
      type: "string",
      summary: "the status line, such as `200 OK`",
      hint: "it is the status line; the number is res.code",
      optional: true,
    },
    events: {
      type: "array",
      summary: "the events, each with `event`, `data` and `id`",
      optional: true,
    },
    event: {
      type: "map",
      summary: "the last of the events; nil if none came",
      optional: true,
    },
    retry: {
      type: "int",
      summary: "milliseconds to wait before connecting again, if the server says",
      optional: true,
    },
    body: {
      type: "any",
      summary: "the body of an answer that is not a stream of events",
      optional: true,
    },
  },
  messages: {
    event: { type: "string", summary: "the type of the event, `message` by default" },
    data: { type: "any", summary: "its data: objects and lists of JSON, else text" },
    id: { type: "string", summary: 'its id, or `""`' },
  },
  usage: `with:
  url: http://127.0.0.1:8080/deployments/1/events
  until: message.event == "done"`,
  example: 'res.event.event == "done"',
  describe: (req, res) => ({
    request: {
      title: `${req.method} ${req.url}`,
      covered: ["method", "url", ...req.body === "" ? ["body"] : []],
      minor: [["headers"]],
    },
    ...res && {
      response: {
        kept: shownFields(res, ["event"]),
        ...typeof res.status === "string" && { title: res.status, covered: ["code", "status"] },
        minor: STREAM_MINOR,
      },
    },
  }),
  target: ({ url }) => ({ url: url.href }),
  acquire: async (context) => await (await import("../http/run_http.ts")).acquireRequest(context),
  run: async (_, params, attempt) =>
    await (await import("./receive_events.ts")).receiveEvents(params, attempt),
  subscribe: async (_, params, open, attempt) =>
    await (await import("./receive_events.ts")).keepEvents(params, open, attempt),
});
