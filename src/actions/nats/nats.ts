import { broker, RECEIVED } from "../broker/broker.ts";
import { PARAMS } from "./nats_params.ts";

/** The parameters of a message. */
const MESSAGE = ["json", "body", "file", "headers"];

/** Publishes messages to NATS, asks for replies and receives. */
export const nats = broker({
  name: "nats",
  summary: "Publishes messages to NATS and JetStream, asks for replies, and receives",
  params: PARAMS,
  verbs: {
    publish: [...MESSAGE, "confirm", "stream"],
    request: MESSAGE,
    reply: [...MESSAGE, "confirm"],
    subscribe: ["stream", "from", "group", "until", "max_messages", "background"],
    put: ["json", "body", "file", "bucket"],
    get: ["bucket"],
  },
  product: "NATS",
  by: ["url", "token", "nkey", "tls"],
  load: async () => await import("./carry_out.ts"),
  check(_, param, raw) {
    const has = (name: string) => (raw[name] ?? null) !== null;
    for (const verb of ["put", "get"]) {
      if (has(verb) && !has("bucket")) param.wrong(`"${verb}" needs "bucket"`);
    }
    if (has("from") && has("subscribe") && !has("stream")) {
      param.of("from").wrong('"from" needs "stream"', "a subject alone has no earlier messages");
    }
    if (has("stream") && raw.confirm === false) {
      param.of("confirm").wrong('a "stream" confirms each message', undefined, { at: "key" });
    }
  },
  expectsResult: ({ get = null }) => get === null,
  res: {
    stream: { type: "string", summary: "the stream that stored the message", optional: true },
    sequence: { type: "int", summary: "its number in the stream", optional: true },
    duplicate: {
      type: "bool",
      summary: "whether the stream had a message with the same `Nats-Msg-Id`",
      optional: true,
    },
    value: { type: "any", summary: "the value of the key; nil if there is none", optional: true },
    revision: { type: "int", summary: "the revision of the key; 0 without one", optional: true },
    messages: RECEIVED.messages,
    message: {
      ...RECEIVED.message,
      summary: "the reply, or the last of the messages; nil if none was received",
    },
  },
  messages: {
    subject: { type: "string", summary: "the subject" },
    body: { type: "any", summary: "the content: data of JSON, else text" },
    raw: { type: "any", summary: "the content as text, or bytes" },
    headers: { type: "map", summary: "the headers" },
    reply: { type: "string", summary: 'the subject to publish a reply to, or `""`' },
    stream: { type: "string", summary: "the stream that it comes from", optional: true },
    sequence: { type: "int", summary: "its number in the stream", optional: true },
    timestamp: { type: "string", summary: "when the stream stored it", optional: true },
  },
  usage: 'with: { url: "nats://127.0.0.1", request: orders.total, json: { id: 7 } }',
  example: "res.message.body.total == 42",
  refusals: [
    {
      when: /^Authorization Violation|^Authentication (Timeout|Failed)/i,
      say: "sign-in failed: {message}",
      hint: 'check the user and the password in "url", "token" or "nkey"',
    },
    {
      when: /^Permissions Violation/i,
      say: "{message}",
      hint: "does the user have the right to it?",
    },
    { when: /^no responders/, say: "no responders: nobody has subscribed to it" },
    {
      when: /^stream not found|^no stream/,
      say: "{message}",
      hint: 'check "stream" or "bucket"; the page of nats shows how to create one',
    },
    {
      when: /^wrong last|^expected stream/,
      say: "{message}",
      hint: 'the subject belongs to another stream than "stream"',
    },
    { when: /^(?![A-Z]{5,} )(?!.*certificate)/, say: "{message}" },
  ],
});
