import { checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
import { checkVerb, RECEIVED } from "../broker.ts";
import { PARAMS } from "./mqtt_params.ts";

/** Publishes messages to a server of MQTT and receives them. */
export const mqtt = action({
  name: "mqtt",
  summary: "Publishes messages to a server of MQTT, and receives them",
  params: PARAMS,
  oneOf: ["publish", "subscribe"],
  atMostOne: ["json", "body", "file"],
  check({ url, tls, version }, param, raw) {
    checkVerb(
      {
        publish: ["json", "body", "file", "retain", "headers", "properties"],
        subscribe: ["until", "max_messages", "background"],
      },
      raw,
      param,
    );
    checkBackground(param, raw, ["until", "max_messages", "connection", "fresh"]);
    if (url && tls && !url.isSecure) {
      const hint = "write mqtts:// or wss:// to use TLS";
      param.of("tls").wrong(`a URL with ${url.scheme}:// takes no "tls"`, hint, { at: "key" });
    }
    const has = (name: string) => (raw[name] ?? null) !== null || name in raw && name === "body";
    if (has("publish") && !["json", "body", "file"].some(has)) {
      param.wrong('"publish" needs "json", "body" or "file"', 'body: "" publishes an empty one');
    }
    for (const name of ["headers", "properties"]) {
      if (version !== "3.1.1" || !has(name)) continue;
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
    messages: RECEIVED.messages,
    message: RECEIVED.message,
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
  describe: (req, res) => ({
    request: {
      title: req.publish !== undefined ? `publish ${req.publish}` : `subscribe ${req.subscribe}`,
      covered: ["publish", "subscribe"],
    },
    ...res && { response: { covered: res.messages ? ["message"] : [] } },
  }),
  target: ({ url: { host, port } }) => ({ product: "MQTT", host, port }),
  connection: {
    by: ["url", "tls", "will", "client_id", "version", "subscribe"],
    parallel: true,
    async open(params, attempt) {
      // Each step that receives has its own: what came for another one is not for it.
      if (params.subscribe) return undefined;
      return await (await import("./client.ts")).openMqtt(params, attempt);
    },
    isLost: (client) => client?.isLost ?? false,
    close: (client) => client?.close(),
  },
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
  request: ({ url }, raw) => ({
    ...Object.fromEntries(
      Object.entries(raw).filter(([name]) =>
        !["tls", "connection", "fresh", "timeout"].includes(name)
      ),
    ),
    url: url.shown,
  }),
  run: async (client, params, attempt) =>
    await (await import("./carry_out.ts")).carryOut(client, params, attempt),
  subscribe: async (_, params, open, attempt) =>
    await (await import("./carry_out.ts")).stayOpen(params, open, attempt),
});
