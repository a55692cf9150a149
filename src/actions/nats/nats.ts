import { BACKGROUND, checkBackground } from "../../action/background.ts";
import { action } from "../../action/make_action.ts";
import {
  flag,
  mapOf,
  type Param,
  sharing,
  text,
  timeout,
  value,
  type Values,
} from "../../action/rule.ts";
import { tls } from "../../action/tls/tls.ts";
import { decodePercents, withoutPassword } from "../../secrets/secrets.ts";
import { checkVerb, CONTENT_PARAMS, RECEIVE_PARAMS, RECEIVED } from "../broker.ts";

const PARAMS = {
  url: text("The server: `nats://user:password@host:4222`, or `tls://` for TLS")
    .as(readUrl).required(),
  publish: text("The subject to publish to").as(readSubject),
  request: text("The subject to publish to, and to wait for a reply").as(readSubject),
  subscribe: text("The subject to receive from; `*` stands for a token, `>` for all that follow")
    .as(readPattern),
  put: text("The key of `bucket` to write").as(readSubject),
  get: text("The key of `bucket` to read").as(readSubject),
  ...CONTENT_PARAMS,
  headers: mapOf(value(["string", "list"], ""), "Headers of the message; a list repeats one"),
  confirm: flag("Whether to wait until the server has the message").default(true),
  stream: text("The stream of JetStream that stores what is published, or to receive from")
    .as(readName),
  bucket: text("The bucket of key-value pairs").as(readName),
  from: text(
    "Where to begin in `stream`: `now`, `beginning`, a sequence, or a time like 2026-01-31T12:00:00Z",
  ).as(readStart).default({ name: "now" }, "now"),
  group: text("The queue group to join; of a `stream`, the durable consumer").as(readName),
  ...RECEIVE_PARAMS,
  token: text("The token to sign in with").secret(),
  nkey: text("The seed of the key to sign in with: `SU…`").secret(),
  tls: tls(),
  background: BACKGROUND,
  ...sharing("connection", "job and URL"),
  ...timeout("How long connecting and everything else may take"),
};

/** The parameters of a step. */
export type NatsParams = Values<typeof PARAMS>;

/** Publishes messages to NATS, asks for replies and receives. */
export const nats = action({
  name: "nats",
  summary: "Publishes messages to NATS and JetStream, asks for replies, and receives",
  params: PARAMS,
  oneOf: ["publish", "request", "subscribe", "put", "get"],
  atMostOne: ["json", "body", "file"],
  check({ url, tls }, param, raw) {
    const content = ["json", "body", "file"];
    checkVerb(
      {
        publish: [...content, "headers", "confirm", "stream"],
        request: [...content, "headers"],
        subscribe: ["stream", "from", "group", "until", "max_messages", "background"],
        put: [...content, "bucket"],
        get: ["bucket"],
      },
      raw,
      param,
    );
    checkBackground(param, raw, ["until", "max_messages", "connection", "fresh"]);
    if (url && tls && !url.isSecure) {
      const hint = "write tls:// to use TLS";
      param.of("tls").wrong('a URL with nats:// takes no "tls"', hint, { at: "key" });
    }
    const has = (name: string) => (raw[name] ?? null) !== null;
    for (const verb of ["publish", "put"]) {
      if (!has(verb) || content.some((name) => Object.hasOwn(raw, name))) continue;
      param.wrong(`"${verb}" needs "json", "body" or "file"`, 'body: "" is an empty one');
    }
    for (const verb of ["put", "get"]) {
      if (has(verb) && !has("bucket")) param.wrong(`"${verb}" needs "bucket"`);
    }
    if (has("from") && has("subscribe") && !has("stream")) {
      param.of("from").wrong('"from" needs "stream"', "a subject alone has no earlier messages");
    }
    if (has("stream") && raw.confirm === false) {
      param.of("confirm").wrong('a "stream" confirms each message', undefined, { at: "key" });
    }
  },
  expectsResult: ({ get = null }) => get === null,
  res: {
    stream: { type: "string", summary: "the stream that stored the message", optional: true },
    sequence: { type: "int", summary: "its number in the stream", optional: true },
    duplicate: {
      type: "bool",
      summary: "whether the stream had a message with the same `Nats-Msg-Id`",
      optional: true,
    },
    value: { type: "any", summary: "the value of the key; nil if there is none", optional: true },
    revision: { type: "int", summary: "the revision of the key; 0 without one", optional: true },
    messages: { ...RECEIVED.messages, optional: true },
    message: {
      ...RECEIVED.message,
      summary: "the reply, or the last of the messages; nil if none was received",
      optional: true,
    },
  },
  messages: {
    subject: { type: "string", summary: "the subject" },
    body: { type: "any", summary: "the content: data of JSON, else text" },
    raw: { type: "any", summary: "the content as text, or bytes" },
    headers: { type: "map", summary: "the headers" },
    reply: { type: "string", summary: 'the subject to publish a reply to, or `""`' },
    stream: { type: "string", summary: "the stream that it comes from", optional: true },
    sequence: { type: "int", summary: "its number in the stream", optional: true },
    timestamp: { type: "string", summary: "when the stream stored it", optional: true },
  },
  usage: 'with: { url: "nats://127.0.0.1", request: orders.total, json: { id: 7 } }',
  example: "res.message.body.total == 42",
  describe(req, res) {
    const verb = ["publish", "request", "subscribe", "put", "get"]
      .find((verb) => req[verb] !== undefined) ?? "";
    return {
      request: { title: `${verb} ${req[verb]}`, covered: [verb] },
      ...res && { response: { covered: res.messages ? ["message"] : [] } },
    };
  },
  target: ({ url: { host, port } }) => ({ product: "NATS", host, port }),
  connection: {
    by: ["url", "token", "nkey", "tls"],
    parallel: true,
    open: async (params, attempt) => await (await import("./client.ts")).openNats(params, attempt),
    isLost: (client) => client.isLost,
    close: (client) => client.close(),
  },
  refusals: [
    {
      when: /^Authorization Violation|^Authentication (Timeout|Failed)/i,
      say: "sign-in failed: {message}",
      hint: 'check the user and the password in "url", "token" or "nkey"',
    },
    {
      when: /^Permissions Violation/i,
      say: "{message}",
      hint: "does the user have the right to it?",
    },
    {
      when: /^stream not found|^no stream/,
      say: "{message}",
      hint: 'check "stream" or "bucket"; the page of nats shows how to create one',
    },
    {
      when: /^wrong last|^expected stream/,
      say: "{message}",
      hint: 'the subject belongs to another stream than "stream"',
    },
    { when: /^(?![A-Z]{5,} )(?!.*certificate)/, say: "{message}" },
  ],
  request: ({ url }, raw) => ({
    ...Object.fromEntries(
      Object.entries(raw).filter(([name]) =>
        !["token", "nkey", "tls", "connection", "fresh", "timeout"].includes(name)
      ),
    ),
    url: url.shown,
  }),
  run: async (client, params, attempt) =>
    await (await import("./carry_out.ts")).carryOut(client, params, attempt),
  subscribe: async (client, params, open, attempt) =>
    await (await import("./carry_out.ts")).stayOpen(client, params, open, attempt),
});

/** A server, as a URL describes it. */
interface Url {
  /** The URL without its password. */
  readonly shown: string;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly username: string;
  readonly password: string;
}

/** Where to begin in a stream. */
export type Start =
  | { readonly name: "now" | "beginning" }
  | { readonly sequence: number }
  | { readonly time: string };

/** Reads the URL of a server; its password is a secret before anything can fail. */
function readUrl(text: string, param: Param): Url {
  const url = URL.parse(text);
  const password = decodePercents(url?.password ?? "");
  if (password !== "") param.secrets?.add(password);
  if (!url || !/^(nats|tls):$/.test(url.protocol) || url.hostname === "" || url.search !== "") {
    throw param.wrong(
      `invalid URL ${JSON.stringify(url ? withoutPassword(text) : "")}`,
      "write nats://host:4222, nats://user:password@host:4222, or tls:// for TLS",
    );
  }
  if (url.username !== "" && password === "") {
    const hint = 'write a token as "token": reports hide it there';
    throw param.wrong("the URL has a user without a password", hint);
  }
  const shown = new URL(url);
  if (password !== "") shown.password = "***";
  return {
    shown: shown.href,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 4222),
    isSecure: url.protocol === "tls:",
    username: decodePercents(url.username),
    password,
  };
}

function readSubject(subject: string, param: Param): string {
  if (/^[^\s.*>]+(\.[^\s.*>]+)*$/.test(subject)) return subject;
  const hint = "tokens with dots between them, without spaces; * and > are for those who subscribe";
  throw param.wrong(`invalid ${param.name} ${JSON.stringify(subject)}`, hint);
}

function readPattern(subject: string, param: Param): string {
  if (/^([^\s.*>]+|\*)(\.([^\s.*>]+|\*))*(\.>)?$|^>$/.test(subject)) return subject;
  const hint = "* and > stand for whole tokens between dots, > only at the end";
  throw param.wrong(`invalid subject ${JSON.stringify(subject)}`, hint);
}

function readName(name: string, param: Param): string {
  if (/^[^\s.*>/\\]+$/.test(name)) return name;
  throw param.wrong(
    `invalid ${param.name} ${JSON.stringify(name)}`,
    "a name has no . * > / or space",
  );
}

function readStart(text: string, param: Param): Start {
  if (text === "now" || text === "beginning") return { name: text };
  if (/^[1-9]\d*$/.test(text)) return { sequence: Number(text) };
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) return { time: new Date(time).toISOString() };
  throw param.wrong(
    `invalid start ${JSON.stringify(text)}`,
    "write now, beginning, a sequence, or a time like 2026-01-31T12:00:00Z",
  );
}
