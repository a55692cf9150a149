import { BACKGROUND, checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
import type { Endpoint } from "../../action/net/endpoint.ts";
import {
  choice,
  integer,
  map,
  mapOf,
  type Param,
  sharing,
  text,
  timeout,
  value,
} from "../../action/rule.ts";
import { tlsSwitch } from "../../action/tls/tls.ts";
import { describeValue, type Value } from "../../base/value/value.ts";
import { checkVerb, CONTENT_PARAMS, RECEIVE_PARAMS, RECEIVED } from "../broker.ts";
import type { Start } from "./client.ts";

/** Publishes messages to Apache Kafka and receives them. */
export const kafka = action({
  name: "kafka",
  summary: "Publishes messages to Apache Kafka, and receives them",
  params: {
    brokers: value(
      ["string", "list"],
      "Servers of the cluster: `host:9092`, several with commas between them or as a list",
    ).as(readBrokers).required(),
    publish: text("The topic to publish to"),
    subscribe: text("The topic to receive messages from"),
    lag: text("The topic of which `group` may have messages left"),
    ...CONTENT_PARAMS,
    key: text("The key of the message, which decides its partition"),
    headers: mapOf(value(["string", "list"], ""), "Headers of the message; a list repeats one"),
    partition: integer("The partition to publish to, or the only one to receive from", { min: 0 })
      .with({ default: "by the key; all to receive" }),
    acks: choice(
      ["0", "1", "all"],
      "Which servers confirm a message: none (0), its leader (1), all",
    )
      .default("all"),
    from: text(
      "Where to begin: `now`, `beginning`, an offset, or a time like 2026-01-31T12:00:00Z",
    ).as(readStart).default({ name: "now" }, "now"),
    group: text("The consumer group to join; what it has committed goes before `from`"),
    ...RECEIVE_PARAMS,
    sasl: map({
      mechanism: choice(
        ["plain", "scram-sha-256", "scram-sha-512"],
        "How to sign in: plain, scram-sha-256 or scram-sha-512",
      ).default("plain"),
      username: text("The user name").required(),
      password: text("The password").secret().required(),
    }, "How to sign in"),
    tls: tlsSwitch(),
    background: BACKGROUND,
    ...sharing("connection", "job and brokers"),
    ...timeout("How long connecting and everything else may take"),
  },
  oneOf: ["publish", "subscribe", "lag"],
  atMostOne: ["json", "body", "file"],
  check(params, param, raw) {
    checkBackground(param, raw, ["until", "max_messages", "connection", "fresh"]);
    checkVerb(
      {
        publish: ["json", "body", "file", "key", "headers", "partition", "acks"],
        subscribe: ["from", "group", "partition", "until", "max_messages", "background"],
        lag: ["group"],
      },
      raw,
      param,
    );
    const has = (name: string) => Object.hasOwn(raw, name);
    if (has("publish") && !["json", "body", "file"].some(has)) {
      const hint = '"body: null" publishes a tombstone, which deletes what has the key';
      param.wrong('"publish" needs "json", "body" or "file"', hint);
    }
    if (has("lag") && !has("group")) param.wrong('"lag" needs "group"');
    if (!has("group")) return;
    if (has("partition")) param.of("partition").wrong('"partition" has no effect with "group"');
    if (params.from && "offset" in params.from || params.from && "time" in params.from) {
      param.of("from").wrong('with "group", "from" is now or beginning');
    }
  },
  expectsResult: ({ lag = null }) => lag === null,
  res: {
    partition: { type: "int", summary: "the partition of the published message", optional: true },
    offset: {
      type: "int",
      summary: "its offset; -1 with `acks: 0`",
      optional: true,
    },
    messages: { ...RECEIVED.messages, optional: true },
    message: { ...RECEIVED.message, optional: true },
    lag: {
      type: "int",
      summary: "how many messages the group has not committed yet",
      optional: true,
    },
    partitions: {
      type: "array",
      summary: "for each partition `partition`, `committed`, `end` and `lag`",
      optional: true,
    },
  },
  messages: {
    topic: { type: "string", summary: "the topic" },
    partition: { type: "int", summary: "the partition" },
    offset: { type: "int", summary: "the offset" },
    key: { type: "any", summary: "the key; nil if it has none" },
    body: { type: "any", summary: "the content: data of JSON, else text; nil of a tombstone" },
    raw: { type: "any", summary: "the content as text, or bytes; nil of a tombstone" },
    headers: { type: "map", summary: "the headers" },
    timestamp: { type: "string", summary: "when it was published" },
  },
  usage: 'with: { brokers: "127.0.0.1:9092", publish: orders, json: { id: 7 } }',
  example: "res.offset >= 0",
  describe: (req, res) => ({
    request: {
      title: req.publish !== undefined
        ? `publish ${req.publish}`
        : req.lag !== undefined
        ? `lag of ${req.group} in ${req.lag}`
        : `subscribe ${req.subscribe}`,
      covered: ["publish", "subscribe", "lag"],
    },
    ...res && { response: { covered: ["message"] } },
  }),
  target: ({ brokers: [first] }) => ({ product: "Kafka", ...first! }),
  connection: {
    by: ["brokers", "sasl", "tls"],
    parallel: true,
    open: async (params, attempt) => await (await import("./client.ts")).openKafka(params, attempt),
    isLost: (client) => client.isLost,
    close: (client) => client.close(),
  },
  refusals: [
    {
      when: /^SASL_AUTHENTICATION_FAILED|SASL .* (?:authentication failed|mechanism is not)/,
      say: "sign-in failed: {message}",
      hint: 'check "sasl"',
    },
    {
      when: /^UNKNOWN_TOPIC_OR_PARTITION/,
      say: "no such topic ({code})",
      hint: "create it before",
    },
    {
      when: /compression not implemented/,
      say: "a message is compressed in a way that is not supported: {message}",
      hint: "gzip and zstd are",
    },
    { when: /^(?!E[A-Z]+ )[A-Z_]{6,} /, say: "{message} ({code})" },
  ],
  request: (_, raw) =>
    Object.fromEntries(
      Object.entries(raw).filter(([name]) =>
        !["sasl", "tls", "connection", "fresh", "timeout"].includes(name)
      ),
    ),
  subscribe: async (client, params, open, attempt) =>
    await (await import("./carry_out.ts")).stayOpen(client, params, open, attempt),
  run: async (client, params, attempt) =>
    await (await import("./carry_out.ts")).carryOut(client, params, attempt),
});

function readBrokers(brokers: string | readonly Value[], param: Param): readonly Endpoint[] {
  const texts = (typeof brokers === "string" ? brokers.split(",") : brokers)
    .map((text) => String(text).trim());
  if (texts.length === 0) throw param.wrong(`${param.name} is empty`);
  return texts.map((text) => {
    const [, host, six, port = "9092"] =
      /^(?:([^\s:/@[\]]+)|\[([\da-fA-F:.]+)\])(?::(\d{1,5}))?$/.exec(text) ?? [];
    const address = host ?? six;
    if (address !== undefined && Number(port) >= 1 && Number(port) <= 65_535) {
      return { host: address, port: Number(port) };
    }
    throw param.wrong(`invalid broker ${describeValue(text)}`, "write host:9092");
  });
}

function readStart(text: string, param: Param): Start {
  if (text === "now" || text === "beginning") return { name: text };
  if (/^\d+$/.test(text)) return { offset: text };
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return { time };
  throw param.wrong(
    `invalid start ${JSON.stringify(text)}`,
    "write now, beginning, an offset, or a time like 2026-01-31T12:00:00Z",
  );
}
