import { BACKGROUND, checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
import {
  choice,
  duration,
  flag,
  integer,
  map,
  type Param,
  sharing,
  text,
  texts,
  timeout,
  value,
} from "../../action/rule.ts";
import { tls } from "../../action/tls/tls.ts";
import { decodePercents, withoutPassword } from "../../secrets/secrets.ts";
import { checkVerb, CONTENT_PARAMS, RECEIVE_PARAMS, RECEIVED } from "../broker.ts";
import type { Url } from "./client.ts";

/** Publishes messages to RabbitMQ, or another server of AMQP 0-9-1, and receives them. */
export const amqp = action({
  name: "amqp",
  summary: "Publishes messages to RabbitMQ and other servers of AMQP 0-9-1, and receives them",
  params: {
    url: text("The server: `amqp://user:password@host:5672/vhost`, or `amqps://` for TLS")
      .as(readUrl).required(),
    publish: text("The queue to publish to; with `exchange` the routing key"),
    subscribe: text(
      "The queue to receive from; with `exchange` the routing keys of a queue for this step alone",
    ),
    get: text("The queue to take a message from if it has one"),
    declare: text("A queue, or with `type` an exchange, to create for the time of the run"),
    purge: text("The queue to empty"),
    depth: text("The queue whose messages to count"),
    exchange: text("The exchange to publish to, or whose messages come to the queue"),
    ...CONTENT_PARAMS,
    headers: value("map", "Headers of the message"),
    properties: map({
      content_type: text("The type of the content").with({ default: "application/json with json" }),
      content_encoding: text("The encoding of the content"),
      correlation_id: text("What connects a reply with its request"),
      reply_to: text("The queue for replies"),
      message_id: text("The id of the message"),
      type: text("The kind of the message"),
      app_id: text("The application that publishes it"),
      user_id: text("The user who publishes it, whom the server checks"),
      expiration: duration("How long the message may wait in a queue"),
      priority: integer("The priority: 0 to 255", { min: 0, max: 255 }),
      delivery_mode: integer("2 for a message that survives a restart of the server", {
        min: 1,
        max: 2,
      }),
    }, "Properties of the message"),
    mandatory: flag("Whether the step fails if no queue takes the message").default(true),
    confirm: flag("Whether to wait until the server has confirmed the message").default(true),
    bind: texts("With `declare` and `exchange`, the routing keys that come to the queue"),
    type: choice(["direct", "fanout", "topic", "headers"], "The type of an exchange to declare"),
    arguments: value("map", "Arguments of the queue or exchange to declare, like x-message-ttl"),
    ...RECEIVE_PARAMS,
    settle: choice(
      ["ack", "reject", "requeue"],
      "What becomes of received messages: ack, reject (dead letter), or requeue",
    ).default("ack"),
    tls: tls(),
    background: BACKGROUND,
    ...sharing("connection", "job and URL"),
    ...timeout("How long connecting and everything else may take"),
  },
  oneOf: ["publish", "subscribe", "get", "declare", "purge", "depth"],
  atMostOne: ["json", "body", "file"],
  check(params, param, raw) {
    checkBackground(param, raw, ["until", "max_messages", "connection", "fresh"]);
    checkVerb(
      {
        publish: [
          ...["exchange", "json", "body", "file", "headers", "properties", "mandatory", "confirm"],
        ],
        subscribe: ["exchange", "until", "max_messages", "settle", "background"],
        get: ["settle"],
        declare: ["exchange", "bind", "type", "arguments"],
        purge: [],
        depth: [],
      },
      raw,
      param,
    );
    const has = (name: string) => Object.hasOwn(raw, name);
    if (params.url && params.tls && !params.url.isSecure) {
      const hint = "write amqps:// to use TLS";
      param.of("tls").wrong('a URL with amqp:// takes no "tls"', hint, { at: "key" });
    }
    if (has("publish") && !["json", "body", "file"].some(has)) {
      param.wrong('"publish" needs "json", "body" or "file"', 'body: "" publishes an empty one');
    }
    if (has("declare") && has("exchange") !== has("bind")) {
      param.wrong('"declare" needs both "exchange" and "bind", or none', "bind: order.#");
    }
    if (has("type") && has("bind")) {
      param.of("bind").wrong('"bind" has no effect with "type"', "it binds a queue");
    }
  },
  expectsResult: ({ publish = null, subscribe = null, declare = null }) =>
    publish !== null || subscribe !== null || declare !== null,
  res: {
    confirmed: {
      type: "bool",
      summary: "whether the server has confirmed the published message",
      optional: true,
    },
    messages: { ...RECEIVED.messages, optional: true },
    message: { ...RECEIVED.message, optional: true },
    depth: {
      type: "int",
      summary: "how many messages the queue has: after `get`, or before `purge`",
      optional: true,
    },
    consumers: { type: "int", summary: "how many consumers the queue has", optional: true },
    created: {
      type: "bool",
      summary: "whether `declare` has created it; what was there before stays",
      optional: true,
    },
  },
  messages: {
    queue: { type: "string", summary: "the queue" },
    exchange: { type: "string", summary: 'the exchange that it was published to, or `""`' },
    routing_key: { type: "string", summary: "the routing key" },
    body: { type: "any", summary: "the content: data of JSON, else text" },
    raw: { type: "any", summary: "the content as text, or bytes" },
    headers: { type: "map", summary: "the headers" },
    properties: { type: "map", summary: "the properties, by the names of the parameter" },
    redelivered: { type: "bool", summary: "whether it was delivered before" },
  },
  usage: 'with: { url: "amqp://127.0.0.1", publish: orders, json: { id: 7 } }',
  example: "res.confirmed",
  describe(req, res) {
    const verb = ["publish", "subscribe", "get", "declare", "purge", "depth"]
      .find((verb) => req[verb] !== undefined) ?? "";
    return {
      request: { title: `${verb} ${req[verb]}`, covered: [verb] },
      ...res && { response: { covered: res.messages ? ["message"] : [] } },
    };
  },
  target: ({ url: { host, port } }) => ({ product: "AMQP", host, port }),
  connection: {
    by: ["url", "tls"],
    parallel: true,
    open: async (params, attempt) => await (await import("./client.ts")).openAmqp(params, attempt),
    isLost: (client) => client.isLost,
    close: (client) => client.close(),
  },
  refusals: [
    {
      when: /^ACCESS_REFUSED - Login/,
      say: "sign-in failed: {message}",
      hint: 'check the user name and the password in "url"',
    },
    {
      when: /^NOT_ALLOWED - .*vhost/,
      say: "{message}",
      hint: 'the virtual host is the path in "url"',
    },
    { when: /^NOT_FOUND - no queue/, say: "{message}", hint: '"declare" creates a queue' },
    { when: /^[A-Z_]+ - |^Message rejected/, say: "{message}" },
    {
      when: /outside the bounds/,
      say: "the headers and properties are larger than 8 kB",
    },
  ],
  request: ({ url }, raw) => ({
    ...Object.fromEntries(
      Object.entries(raw).filter(([name]) =>
        !["tls", "connection", "fresh", "timeout"].includes(name)
      ),
    ),
    url: url.shown,
  }),
  subscribe: async (client, params, open, attempt) =>
    await (await import("./carry_out.ts")).stayOpen(client, params, open, attempt),
  run: async (client, params, attempt, raw) =>
    await (await import("./carry_out.ts")).carryOut(client, params, attempt, raw),
});

/** Reads the URL of a server; its password is a secret before anything can fail. */
function readUrl(text: string, param: Param): Url {
  const url = URL.parse(text);
  const password = decodePercents(url?.password ?? "");
  if (password !== "") param.secrets?.add(password);
  if (!url || !/^amqps?:$/.test(url.protocol) || url.hostname === "" || url.search !== "") {
    throw param.wrong(
      `invalid URL ${JSON.stringify(url ? withoutPassword(text) : "")}`,
      "write amqp://host:5672, amqp://user:password@host:5672/vhost or amqps:// for TLS",
    );
  }
  const shown = new URL(url);
  if (password !== "") shown.password = "***";
  const isSecure = url.protocol === "amqps:";
  return {
    shown: shown.href,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || (isSecure ? 5671 : 5672)),
    isSecure,
    username: decodePercents(url.username) || "guest",
    password: password || "guest",
    vhost: decodePercents(url.pathname.slice(1)) || "/",
  };
}
