import { describeValue, isDict, type Value } from "../../base/value/value.ts";
import { withoutPassword } from "../../secrets/secrets.ts";
import { action } from "../../action/make_action.ts";
import { condition } from "../../action/params.ts";
import { integer, type Param, text, value } from "../../action/schema.ts";
import { isToken } from "../http/request/http_syntax.ts";
import { checkRequest } from "../http/http_params.ts";
import { mergeHttpDefaults } from "../http/http.ts";
import { shownFields, STREAM_MINOR, STREAM_PARAMS, STREAM_RES } from "../http/stream.ts";
import { closeText } from "./close_text.ts";

/** Exchanges messages over a WebSocket. */
export const websocket = action({
  name: "websocket",
  summary: "Opens a WebSocket, sends messages and waits for answers",
  params: {
    url: text("The server: `ws://host/path`, or `wss://` for TLS").as(readUrl).required(),
    send: value(
      ["string", "list", "map"],
      "What to send: text, a map or list as JSON, { base64: … } as bytes; " +
        'a list takes turns with "expect", and null sends nothing',
    ).as((messages, param) => [messages].flat().map((message) => writeMessage(message, param))),
    expect: value(
      ["string", "list", "map"],
      "What must arrive: text or /a pattern/, or a part of a JSON message; " +
        "a list waits for one message after each send",
    ).as((messages) => [messages].flat()),
    until: condition(
      "An expression: read messages until it is true; `message` is the last one",
      "message",
    ),
    max_messages: integer("The maximum number of messages to read", { min: 1 }),
    subprotocols: value(
      ["string", "list"],
      "Subprotocols to offer; the server must choose one",
    ).as(readSubprotocols),
    ...STREAM_PARAMS,
  },
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

/** The URL of the request that opens the WebSocket. */
function readUrl(text: string, param: Param): string {
  const url = URL.parse(text);
  if (url?.hostname && /^(?:ws|http)s?:$/.test(url.protocol)) {
    return text.trim().replace(/^ws(?=s?:)/i, "http");
  }
  const hint = 'write it like "ws://host:port/path", or "wss://" for TLS';
  throw param.wrong(`invalid URL of a WebSocket "${withoutPassword(text)}"`, hint);
}

/** A message to send: text, JSON, or bytes; undefined where nothing is to be sent. */
function writeMessage(value: Value, param: Param): string | Uint8Array | undefined {
  if (value === null || value === "") return undefined;
  if (typeof value !== "object") return String(value);
  if (!isDict(value) || Object.keys(value).length !== 1 || typeof value.base64 !== "string") {
    return JSON.stringify(value);
  }
  try {
    return Uint8Array.fromBase64(value.base64);
  } catch {
    throw param.wrong(`"base64" in ${param.name} is not base64`);
  }
}

function readSubprotocols(value: Value, param: Param): readonly string[] {
  const names = [value].flat();
  const wrong = names.find((name) => typeof name === "object" || !isToken(String(name)));
  if (wrong !== undefined) {
    throw param.wrong(`invalid name of a subprotocol ${describeValue(wrong)}`);
  }
  const again = names.find((name, index) => names.indexOf(name) < index);
  if (again !== undefined) throw param.wrong(`the subprotocol "${again}" is given twice`);
  return names.map(String);
}
