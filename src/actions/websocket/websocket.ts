import { action } from "../../action/make_action.ts";
import { checkRequest } from "../http/http_params.ts";
import { mergeHttpDefaults } from "../http/http.ts";
import { shownFields, STREAM_MINOR, STREAM_RES } from "../http/stream.ts";
import { closeText, PARAMS } from "./websocket_params.ts";

/** Exchanges messages over a WebSocket. */
export const websocket = action({
  name: "websocket",
  summary: "Opens a WebSocket, sends messages and waits for answers",
  params: PARAMS,
  check: (_params, param, raw) => checkRequest(param, raw),
  expectsResult: ({ expect = null, until = null }) => expect !== null || until !== null,
  omitsNilIn: () => ["headers"],
  merge: mergeHttpDefaults,
  res: {
    ...STREAM_RES,
    code: { type: "int", summary: "always 101" },
    subprotocol: { type: "string", summary: 'the subprotocol that the server chose, or `""`' },
    messages: {
      type: "array",
      summary: "all messages that came: data for JSON objects and lists, else text",
    },
    message: { type: "any", summary: "the last of the messages; nil if none came" },
    close_code: {
      type: "int",
      summary: "the code by which the connection was closed; 1006 if it was lost",
    },
    close_reason: { type: "string", summary: 'the text of that code, or `""`' },
    body: {
      type: "string",
      summary: "the body of an answer that opened no connection",
      optional: true,
    },
  },
  usage: `with:
  url: ws://127.0.0.1:8080/rooms/1
  send: [{ type: join, room: 1 }]
  until: message.type == "done"`,
  example: 'res.message.type == "done"',
  describe: (req, res) => ({
    request: { title: `WebSocket ${req.url}`, covered: ["url"], minor: [["headers"]] },
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
  target: ({ url }) => ({ url }),
  run: async (_, params, attempt, raw) =>
    await (await import("./exchange_messages.ts")).exchangeMessages(params, attempt, raw),
});
