import { BACKGROUND } from "../../action/background.ts";
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
  type Values,
} from "../../action/rule.ts";
import { tlsSwitch } from "../../action/tls/tls.ts";
import { describeValue, type Value } from "../../base/value/value.ts";
import { CONTENT_PARAMS, RECEIVE_PARAMS, startOf } from "../broker/params.ts";

/** The parameters of kafka. */
export const PARAMS = {
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
  from: startOf("Where to begin", "an offset", 0),
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
};

/** Their values. */
export type KafkaParams = Values<typeof PARAMS>;

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
