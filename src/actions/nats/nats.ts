import { checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
import { checkVerb, RECEIVED } from "../broker.ts";
import { PARAMS } from "./nats_params.ts";

/** Publishes messages to NATS, asks for replies and receives. */
export const nats = action({
  name: "nats",
  summary: "Publishes messages to NATS and JetStream, asks for replies, and receives",
  params: PARAMS,
  oneOf: ["publish", "request", "reply", "subscribe", "put", "get"],
  atMostOne: ["json", "body", "file"],
  check({ url, tls }, param, raw) {
    const content = ["json", "body", "file"];
    checkVerb(
      {
        publish: [...content, "headers", "confirm", "stream"],
        request: [...content, "headers"],
        reply: [...content, "headers", "confirm"],
        subscribe: ["stream", "from", "group", "until", "max_messages", "background"],
        put: [...content, "bucket"],
        get: ["bucket"],
      },
      raw,
      param,
    );
    checkBackground(param, raw, ["until", "max_messages", "connection", "fresh"]);
    if (url && tls && !url.isSecure) {
      const hint = "write tls:// to use TLS";
      param.of("tls").wrong('a URL with nats:// takes no "tls"', hint, { at: "key" });
    }
    const has = (name: string) => (raw[name] ?? null) !== null;
    for (const verb of ["publish", "reply", "put"]) {
      if (!has(verb) || content.some((name) => Object.hasOwn(raw, name))) continue;
      param.wrong(`"${verb}" needs "json", "body" or "file"`, 'body: "" is an empty one');
    }
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
      optional: true,
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
  describe(req, res) {
    const verb = ["publish", "request", "reply", "subscribe", "put", "get"]
      .find((verb) => req[verb] !== undefined) ?? "";
    return {
      request: { title: verb === "reply" ? verb : `${verb} ${req[verb]}`, covered: [verb] },
      ...res && { response: { covered: res.messages ? ["message"] : [] } },
    };
  },
  target: ({ url: { host, port } }) => ({ product: "NATS", host, port }),
  connection: {
    by: ["url", "token", "nkey", "tls"],
    parallel: true,
    open: async (params, attempt) => await (await import("./client.ts")).openNats(params, attempt),
    isLost: (client) => client.isLost,
    close: (client) => client.close(),
  },
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
  request: ({ url }, raw) => ({
    ...Object.fromEntries(
      Object.entries(raw).filter(([name]) =>
        !["token", "nkey", "tls", "connection", "fresh", "timeout"].includes(name)
      ),
    ),
    url: url.shown,
  }),
  run: async (client, params, attempt) =>
    await (await import("./carry_out.ts")).carryOut(client, params, attempt),
  subscribe: async (client, params, open, attempt) =>
    await (await import("./carry_out.ts")).stayOpen(client, params, open, attempt),
});
