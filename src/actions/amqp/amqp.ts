import { checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
import { checkVerb, RECEIVED } from "../broker.ts";
import { PARAMS } from "./amqp_params.ts";

/** Publishes messages to RabbitMQ, or another server of AMQP 0-9-1, and receives them. */
export const amqp = action({
  name: "amqp",
  summary: "Publishes messages to RabbitMQ and other servers of AMQP 0-9-1, and receives them",
  params: PARAMS,
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
