import { BACKGROUND } from "../../action/background.ts";
import {
  choice,
  duration,
  flag,
  integer,
  map,
  mapOf,
  type Param,
  sharing,
  text,
  texts,
  timeout,
  value,
  type Values,
} from "../../action/rule.ts";
import { tls } from "../../action/tls/tls.ts";
import { brokerUrl, CONTENT_PARAMS, RECEIVE_PARAMS } from "../broker/params.ts";

/** The parameters of mqtt. */
export const PARAMS = {
  url: brokerUrl(
    "The server: `mqtt://user:password@host:1883`; `mqtts://` for TLS; `ws://`, `wss://`",
    { plain: { mqtt: 1883, ws: 80 }, secure: { mqtts: 8883, wss: 443 } },
    "write mqtt://host:1883, mqtt://user:password@host, mqtts:// for TLS, or ws://host/mqtt",
    ({ protocol, pathname, search }) => /^ws/.test(protocol) || !/[^/]/.test(pathname + search),
  ),
  publish: text("The topic to publish to").as(readTopic),
  subscribe: texts("The topics to receive from; `+` matches one level, `#` all further ones")
    .as((filters, param) => filters.map((filter) => readFilter(filter, param))),
  ...CONTENT_PARAMS,
  qos: integer("The quality of service: 0, 1 or 2", { min: 0, max: 2 }).as((qos) => qos as Qos)
    .default(0),
  retain: flag("Whether the server keeps the message for those who subscribe later")
    .default(false),
  headers: mapOf(value(["string", "list"], ""), "User properties; a list repeats one"),
  properties: map({
    content_type: text("The type of the content").with({ default: "application/json with json" }),
    response_topic: text("The topic for replies"),
    correlation_data: text("What connects a reply with its request"),
    message_expiry: duration("How long the server keeps the message for a subscriber"),
  }, "Properties of the message"),
  ...RECEIVE_PARAMS,
  will: map(
    {
      topic: text("The topic").as(readTopic).required(),
      json: CONTENT_PARAMS.json,
      body: CONTENT_PARAMS.body,
      qos: integer("The quality of service", { min: 0, max: 2 }).as((qos) => qos as Qos).default(0),
      retain: flag("Whether the server keeps it").default(false),
    },
    "What the server publishes when the connection ends: the step says no goodbye",
    {
      alternatives: [{ names: ["json", "body"] }],
    },
  ),
  client_id: text("The name of the connection; one with the same name is ended by the server")
    .with({ default: "a random one" }),
  version: choice(["3.1.1", "5"], "The version of MQTT: 3.1.1 or 5").default("5"),
  tls: tls(),
  background: BACKGROUND,
  ...sharing("connection", "job and URL"),
  ...timeout("How long connecting and everything else may take"),
};

/** Their values. */
export type MqttParams = Values<typeof PARAMS>;

/** How often a message arrives: at most once, at least once, exactly once. */
export type Qos = 0 | 1 | 2;

function readTopic(topic: string, param: Param): string {
  if (topic !== "" && !/[+#\0]/.test(topic)) return topic;
  const hint = "a message has one topic: + and # are for those who subscribe";
  throw param.wrong(`invalid topic ${JSON.stringify(topic)}`, hint);
}

function readFilter(filter: string, param: Param): string {
  const levels = filter.split("/");
  const isValid = levels.every((level, index) =>
    !/[+#\0]/.test(level) || level === "+" || level === "#" && index === levels.length - 1
  );
  if (isValid && filter !== "" && !/^\$share(\/[^/]*)?\/?$/.test(filter)) return filter;
  const hint = "+ and # match whole levels, # only at the end; $share/GROUP/TOPIC shares";
  throw param.wrong(`invalid topic ${JSON.stringify(filter)}`, hint);
}
