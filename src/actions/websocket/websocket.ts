import { action } from "../../action/make_action.ts";
import { checkBackground } from "../../action/background.ts";
import { checkRequest } from "../http/http_params.ts";
import { mergeHttpDefaults } from "../http/http.ts";
import { shownFields, STREAM_MINOR, STREAM_RES } from "../http/stream.ts";
import { closeText, PARAMS } from "./websocket_params.ts";

/** Exchanges messages over a WebSocket. */
export const websocket = action({
  name: "websocket",
  summary: "Opens a WebSocket, sends messages and waits for answers",
  params: PARAMS,
  oneOf: ["url", "on"],
  check(_params, param, raw) {
    checkRequest(param, raw);
    checkBackground(param, raw, ["on", "expect", "until", "max_messages"]);
  },
  expectsResult: ({ expect = null, until = null }) => expect !== null || until !== null,
  omitsNilIn: () => ["headers"],
  merge: (defaults, params) => mergeHttpDefaults(params.on === undefined ? defaults : {}, params),
  res: {
    ...STREAM_RES,
    code: { type: "int", summary: "always 101" },
    subprotocol: { type: "string", summary: 'the subprotocol that the server chose, or `""`' },
    messages: {
      type: "array",
      summary: "all messages that came: data for JSON objects and lists, else text",
      optional: true,
    },
    message: {
      type: "any",
      summary: "the last of the messages; nil if none came",
      optional: true,
    },
    close_code: {
      type: "int",
      summary: "the code by which the connection was closed; 1006 if it was lost",
      optional: true,
    },
    close_reason: {
      type: "string",
      summary: 'the text of that code, or `""`',
      optional: true,
    },
    body: {
      type: "string",
      summary: "the body of an answer that opened no connection",
      optional: true,
    },
  },
  messages: {
    data: { type: "any", summary: "the message: data for JSON objects and lists, else text" },
    type: { type: "string", summary: "`text` or `binary`" },
  },
  usage: `with:
  url: ws://127.0.0.1:8080/rooms/1
  send: [{ type: join, room: 1 }]
  until: message.type == "done"`,
  example: 'res.message.type == "done"',
  describe: (req, res) => ({
    request: {
      title: `WebSocket ${req.url ?? `of "${req.on}"`}`,
      covered: ["url", "on"],
      minor: [["headers"]],
    },
    ...res && {
      response: {
        kept: shownFields(res, ["message", ...res.subprotocol === "" ? ["subprotocol"] : []]),
        ...typeof res.close_code === "number" && {
          title: `closed: ${closeText(res.close_code, String(res.close_reason))}`,
        },
        covered: ["close_code", "close_reason", ...res.code === 101 ? ["code"] : []],
        minor: STREAM_MINOR,
      },
    },
  }),
  testHint: (parts) =>
    parts.includes("res.body")
      ? "res.message is the last message, res.messages has all of them"
      : undefined,
  target: ({ url }) => url === undefined ? { program: "websocket" } : { url },
  async run(_, params, attempt, raw) {
    const { exchangeMessages, speakOn } = await import("./exchange_messages.ts");
    return await (params.url === undefined
      ? speakOn(params, attempt, raw)
      : exchangeMessages({ ...params, url: params.url }, attempt, raw));
  },
  subscribe: async (_, params, open, attempt, raw) =>
    await (await import("./exchange_messages.ts")).keepMessages(
      { ...params, url: params.url! },
      open,
      attempt,
      raw,
    ),
});
