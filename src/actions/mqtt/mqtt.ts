import { broker, RECEIVED } from "../broker/broker.ts";
import { PARAMS } from "./mqtt_params.ts";

/** Publishes messages to a server of MQTT and receives them. */
export const mqtt = broker({
  name: "mqtt",
  summary: "Publishes messages to a server of MQTT, and receives them",
  params: PARAMS,
  verbs: {
    publish: ["json", "body", "file", "retain", "headers", "properties"],
    subscribe: ["until", "max_messages", "background"],
  },
  empty: 'body: "" publishes an empty one',
  product: "MQTT",
  by: ["url", "tls", "will", "client_id", "version", "subscribe"],
  load: async () => await import("./carry_out.ts"),
  check({ version }, param, raw) {
    for (const name of ["headers", "properties"]) {
      if (version !== "3.1.1" || (raw[name] ?? null) === null) continue;
      param.of(name).wrong(`MQTT 3.1.1 has no "${name}"`, "version: 5 has", { at: "key" });
    }
  },
  expectsResult: () => true,
  res: {
    confirmed: {
      type: "bool",
      summary: "whether the server has confirmed the published message: with QoS 1 and 2",
      optional: true,
    },
    ...RECEIVED,
  },
  messages: {
    topic: { type: "string", summary: "the topic" },
    body: { type: "any", summary: "the content: data of JSON, else text" },
    raw: { type: "any", summary: "the content as text, or bytes" },
    qos: { type: "int", summary: "the quality of service in which it came" },
    retain: { type: "bool", summary: "whether the server had kept it" },
    headers: { type: "map", summary: "the user properties" },
    properties: { type: "map", summary: "the properties, by the names of the parameter" },
  },
  usage: 'with: { url: "mqtt://127.0.0.1", publish: orders/7, qos: 1, json: { paid: true } }',
  example: "res.confirmed",
  refusals: [
    {
      when: /^Connection refused: (Not authorized|Bad [Uu]ser)/,
      say: "sign-in failed: {message}",
      hint: 'check the user name and the password in "url"',
    },
    {
      when: /^Connection refused: (Unacceptable|Unsupported) protocol version/i,
      say: "{message}",
      hint: "version: 3.1.1 is the older one",
    },
    {
      when: /^(Publish|Subscribe) error: Not authorized/,
      say: "{message}",
      hint: "does the user have the right to this topic?",
    },
    {
      when: /Session taken over/,
      say: "{message}",
      hint: 'another connection has the same "client_id"',
    },
    {
      when: /^Unexpected server response/,
      say: "{message}",
      hint: "is this the URL of MQTT over WebSockets? the path is often /mqtt",
    },
    { when: /^(Connection refused|(Publish|Subscribe) error|the server) /, say: "{message}" },
    {
      when: /Invalid header flag|Malformed|Cannot parse|Invalid (protocol|variable)|not supported$/,
      say: "it answers, but not as an MQTT server ({message})",
    },
  ],
});
