import { broker, RECEIVED } from "../broker/broker.ts";
import { PARAMS } from "./kafka_params.ts";

/** Publishes messages to Apache Kafka and receives them. */
export const kafka = broker({
  name: "kafka",
  summary: "Publishes messages to Apache Kafka, and receives them",
  params: PARAMS,
  verbs: {
    publish: ["json", "body", "file", "key", "headers", "partition", "acks"],
    subscribe: ["from", "group", "partition", "until", "max_messages", "background"],
    lag: ["group"],
  },
  empty: '"body: null" publishes a tombstone, which deletes what has the key',
  product: "Kafka",
  target: ({ brokers: [first] }) => ({ product: "Kafka", ...first! }),
  by: ["brokers", "sasl", "tls"],
  load: async () => await import("./carry_out.ts"),
  check(params, param, raw) {
    const has = (name: string) => Object.hasOwn(raw, name);
    if (has("lag") && !has("group")) param.wrong('"lag" needs "group"');
    if (!has("group")) return;
    if (has("partition")) param.of("partition").wrong('"partition" has no effect with "group"');
    if (params.from && !("name" in params.from)) {
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
    ...RECEIVED,
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
  refusals: [
    {
      when:
        /^(SASL_AUTHENTICATION_FAILED|UNSUPPORTED_SASL)|SASL .* (?:authentication failed|mechanism is not)/,
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
});
