import { BACKGROUND } from "../../action/background.ts";
import {
  choice,
  duration,
  flag,
  integer,
  map,
  sharing,
  text,
  texts,
  timeout,
  value,
  type Values,
} from "../../action/rule.ts";
import { tls } from "../../action/tls/tls.ts";
import { brokerUrl, CONTENT_PARAMS, RECEIVE_PARAMS, REPLY } from "../broker/params.ts";

/** The parameters of amqp. */
export const PARAMS = {
  url: brokerUrl(
    "The server: `amqp://user:password@host:5672/vhost`, or `amqps://` for TLS",
    { plain: { amqp: 5672 }, secure: { amqps: 5671 } },
    "write amqp://host:5672, amqp://user:password@host:5672/vhost or amqps:// for TLS",
  ),
  publish: text("The queue to publish to; with `exchange` the routing key"),
  reply: REPLY,
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
};

/** Their values. */
export type AmqpParams = Values<typeof PARAMS>;
