import { BACKGROUND, checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
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
import { decodePercents, withoutPassword } from "../../secrets/secrets.ts";
import { checkVerb, CONTENT_PARAMS, RECEIVE_PARAMS, RECEIVED } from "../broker.ts";

const PARAMS = {
  url: text("The server: `mqtt://user:password@host:1883`; `mqtts://` for TLS; `ws://`, `wss://`")
    .as(readUrl).required(),
  publish: text("The topic to publish to").as(readTopic),
  subscribe: texts("The topics to receive from; `+` stands for a level, `#` for all that follow")
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

/** The parameters of a step. */
export type MqttParams = Values<typeof PARAMS>;

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
    messages: { ...RECEIVED.messages, optional: true },
    message: { ...RECEIVED.message, optional: true },
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

/** How often a message arrives: at most once, at least once, exactly once. */
export type Qos = 0 | 1 | 2;

/** A server, as a URL describes it. */
interface Url {
  /** The URL without its password. */
  readonly shown: string;
  readonly scheme: string;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  /** The address of a WebSocket. */
  readonly webSocket?: string;
  readonly username: string;
  readonly password: string;
}

const PORTS: Readonly<Record<string, number>> = { mqtt: 1883, mqtts: 8883, ws: 80, wss: 443 };

/** Reads the URL of a server; its password is a secret before anything can fail. */
function readUrl(text: string, param: Param): Url {
  const url = URL.parse(text);
  const password = decodePercents(url?.password ?? "");
  if (password !== "") param.secrets?.add(password);
  const scheme = url?.protocol.slice(0, -1) ?? "";
  const isWeb = scheme.startsWith("ws");
  const port = Object.hasOwn(PORTS, scheme) && PORTS[scheme];
  if (!url || !port || url.hostname === "" || !isWeb && /[^/]/.test(url.pathname + url.search)) {
    throw param.wrong(
      `invalid URL ${JSON.stringify(url ? withoutPassword(text) : "")}`,
      "write mqtt://host:1883, mqtt://user:password@host, mqtts:// for TLS, or ws://host/mqtt",
    );
  }
  const shown = new URL(url);
  if (password !== "") shown.password = "***";
  const web = new URL(url);
  [web.username, web.password] = ["", ""];
  return {
    shown: shown.href,
    scheme,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || port),
    isSecure: scheme === "mqtts" || scheme === "wss",
    ...isWeb && { webSocket: web.href },
    username: decodePercents(url.username),
    password,
  };
}

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
  const hint = "+ and # stand for whole levels, # only at the end; $share/GROUP/TOPIC shares";
  throw param.wrong(`invalid topic ${JSON.stringify(filter)}`, hint);
}
