import { broker, RECEIVED } from "../broker/broker.ts";
import { PARAMS } from "./amqp_params.ts";

/** The parameters of a message that is published. */
const MESSAGE = ["json", "body", "file", "headers", "properties", "confirm"];

/** Publishes messages to RabbitMQ, or another server of AMQP 0-9-1, and receives them. */
export const amqp = broker({
  name: "amqp",
  summary: "Publishes messages to RabbitMQ and other servers of AMQP 0-9-1, and receives them",
  params: PARAMS,
  verbs: {
    publish: [...MESSAGE, "exchange", "mandatory"],
    reply: MESSAGE,
    subscribe: ["exchange", "until", "max_messages", "settle", "background"],
    get: ["settle"],
    declare: ["exchange", "bind", "type", "arguments"],
    purge: [],
    depth: [],
  },
  product: "AMQP",
  by: ["url", "tls"],
  load: async () => await import("./carry_out.ts"),
  check(_, param, raw) {
    const has = (name: string) => Object.hasOwn(raw, name);
    if (has("declare") && has("exchange") !== has("bind")) {
      param.wrong('"declare" needs both "exchange" and "bind", or none', "bind: order.#");
    }
    if (has("type") && has("bind")) {
      param.of("bind").wrong('"bind" has no effect with "type"', "it binds a queue");
    }
  },
  expectsResult: ({ get = null, purge = null, depth = null }) =>
    get === null && purge === null && depth === null,
  res: {
    confirmed: {
      type: "bool",
      summary: "whether the server has confirmed the published message",
      optional: true,
    },
    ...RECEIVED,
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
});
