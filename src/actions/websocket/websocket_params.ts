import { BACKGROUND } from "../../action/background.ts";
import { condition, integer, type Param, text, value, type Values } from "../../action/rule.ts";
import { describeValue, isDict, type Value } from "../../base/value/value.ts";
import { withoutPassword } from "../../secrets/secrets.ts";
import { isToken } from "../http/request/http_syntax.ts";
import { STREAM_PARAMS } from "../http/stream.ts";

/** The parameters of websocket. */
export const PARAMS = {
  url: text("The server: `ws://host/path`, or `wss://` for TLS").as(readUrl),
  on: text("The id of a step with `background: true`, to exchange messages on its connection"),
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
  background: BACKGROUND,
  ...STREAM_PARAMS,
};

export type WebSocketParams = Values<typeof PARAMS>;

/** The URL of the request that opens the WebSocket. */
function readUrl(text: string, param: Param): string {
  const url = URL.parse(text);
  if (url?.hostname && /^(?:ws|http)s?:$/.test(url.protocol)) {
    return text.trim().replace(/^ws(?=s?:)/i, "http");
  }
  const hint = 'write it like "ws://host:port/path", or "wss://" for TLS';
  throw param.wrong(`invalid URL of a WebSocket "${withoutPassword(text)}"`, hint);
}

/** A message to send: text, JSON, or bytes; undefined to send nothing. */
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

/** The meaning of the codes by which a WebSocket is closed. */
const MEANINGS: Readonly<Record<number, string>> = {
  1000: "normal closure",
  1001: "going away",
  1002: "protocol error",
  1003: "unsupported data",
  1005: "without a code",
  1006: "connection lost",
  1007: "invalid data",
  1008: "policy violation",
  1009: "message too big",
  1010: "extension required",
  1011: "internal error of the server",
  1012: "service restart",
  1013: "try again later",
  1014: "bad gateway",
};

/** Why a WebSocket was closed, with its code: `1008 policy violation: not signed in`. */
export function closeText(code: number, reason: string): string {
  const meaning = MEANINGS[code];
  const text = meaning === undefined ? String(code) : `${code} ${meaning}`;
  return reason === "" ? text : `${text}: ${reason}`;
}
