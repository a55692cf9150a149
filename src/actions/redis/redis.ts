import type { Redis } from "ioredis";
import { StepError } from "../../base/errors.ts";
import type { Value } from "../../action/action.ts";
import { action } from "../../action/make_action.ts";
import { list, type Param, sharing, text, timeout, value } from "../../action/rule.ts";
import { tls } from "../../action/tls/tls.ts";
import { decodePercents, withoutPassword } from "../../secrets/secrets.ts";
import { describeValue, readInteger } from "../../base/value/value.ts";
import { dataIn } from "../../base/value/parse_json.ts";
import { BACKGROUND, checkBackground } from "../../action/background.ts";

/** The limit of a reply, of which each line counts more than its bytes: it becomes a value. */
const MAX_BYTES = 64 * 1024 * 1024;
const LINE_BYTES = 32;
const LIMIT = "a reply may have 64 MiB, counting 32 bytes for each line besides its own";

/** Milliseconds that a server has to close the connection. */
const LONGEST_GOODBYE = 2000;

/** Sends commands to a Redis server. */
export const redis = action({
  name: "redis",
  summary: "Sends commands to a Redis server and reads the replies",
  params: {
    url: text("The server: `redis://user:password@host:6379/0`, or `rediss://` for TLS")
      .as(readUrl).required(),
    command: value(
      ["string", "list"],
      "A command as a list of words, or as text that is split at spaces outside quotes",
    ).as(splitCommand),
    commands: list(
      value(["string", "list"], "").as(splitCommand),
      "Several commands, sent one after another",
    ),
    tls: tls(),
    background: BACKGROUND,
    ...sharing("connection", "job and URL"),
    ...timeout("How long connecting and all replies may take"),
  },
  oneOf: ["command", "commands"],
  check({ url, tls, command, commands, background }, param, raw) {
    checkBackground(param, raw, ["commands", "connection", "fresh"]);
    const subscribing = [command ?? [], ...commands ?? []].find(isSubscribing);
    if (background === false && subscribing) {
      param.of(command ? "command" : "commands").wrong(
        `${subscribing[0]} needs "background: true"`,
        'a step with "uses: receive" then takes the messages',
      );
    }
    if (background && command && !isSubscribing(command)) {
      param.of("command").wrong('"background" needs the command SUBSCRIBE or PSUBSCRIBE');
    }
    if (url && tls && !url.isSecure) {
      const hint = "write rediss:// to use TLS";
      param.of("tls").wrong('a URL with redis:// takes no "tls"', hint, { at: "key" });
    }
    if (commands?.length === 0) param.of("commands").wrong("there is no command");
  },
  res: {
    reply: { type: "any", summary: "the reply to the last command" },
    replies: { type: "array", summary: "the replies to all commands, in order" },
    error: { type: "string", summary: 'the error reply that ended the step, else `""`' },
    error_code: {
      type: "string",
      summary: 'the first word of the error: `WRONGTYPE`, `ERR`, else `""`',
    },
  },
  messages: {
    channel: { type: "string", summary: "the channel that it came on" },
    pattern: { type: "string", summary: 'the pattern of PSUBSCRIBE that it fits, or `""`' },
    body: { type: "any", summary: "the message: data of JSON, else text" },
    raw: { type: "string", summary: "the message as text" },
  },
  usage: 'with: { url: "redis://127.0.0.1:6379", command: PING }',
  example: 'res.reply == "PONG"',
  target: ({ url: { host, port } }) => ({ product: "redis", host, port }),
  connection: {
    by: ["url", "tls"],
    async open({ url, tls = {} }, attempt) {
      const options = await attempt.secure(url.isSecure ? tls : undefined);
      const library = await import("ioredis");
      // The chunks of the binaries have the package in `default` alone.
      const { AbstractConnector, Redis } = library.Redis
        ? library
        : library.default as unknown as typeof library;
      const socket = await attempt.socket(options);
      const client = new Redis({
        // It sees the socket once the certificate of the server is accepted.
        Connector: class extends AbstractConnector {
          constructor() {
            super(LONGEST_GOODBYE);
          }
          connect = () => Promise.resolve(this.stream = socket);
        },
        // Replies have the same form in both versions; this one is known to every server.
        protocol: 2,
        stringNumbers: true,
        disableClientInfo: true,
        lazyConnect: true,
        enableReadyCheck: false,
        enableOfflineQueue: false,
        maxRetriesPerRequest: 0,
        retryStrategy: () => null,
        connectTimeout: 0,
      });
      attempt.undo(() => client.disconnect());
      // The promise of connect() only says that the connection is closed; the event says why.
      let cause: unknown = socket.errored ?? undefined;
      // The library hears one error; a second one must not end the program.
      socket.on("error", (error) => cause ??= error);
      client.on("error", (error) => {
        cause ??= error;
        // A reply that no command awaits. Each further one would cost as much as thousands of others.
        if (error.message.startsWith("Command queue state error")) client.stream.destroy();
      });
      const reply = { size: 0 };
      client.on("connect", () =>
        client.stream.on("data", (chunk: Uint8Array) => {
          reply.size += sizeOf(chunk);
          if (reply.size > MAX_BYTES) client.stream.destroy();
        }));
      await client.connect().then(() => greet(client, url)).catch((error) => {
        throw cause ?? error;
      });
      return { client, reply };
    },
    isLost: ({ client: { status } }) => status === "close" || status === "end",
    close: ({ client }) => client.disconnect(),
  },
  refusals: [
    {
      when: /^(WRONGPASS|NOAUTH|ERR (AUTH|invalid password|Client sent AUTH))/,
      say: "sign-in failed: {message}",
      hint: 'check the user name and the password in "url"',
    },
    {
      when: /Unknown RESP type|Invalid array length|Maximum call stack/,
      say: "it answers, but not as a Redis server",
    },
    // Any other error reply, not the code of an error of the system.
    { when: /^(?!E[A-Z]{3})[A-Z]+ /, say: "{message}" },
    {
      when: /^Connection is closed|^Stream isn't writeable/,
      say: "{address} closed the connection",
    },
  ],
  async subscribe({ client, reply }, { url, command = [] }, open, attempt) {
    const keep = (pattern: string, channel: string, bytes: Uint8Array) => {
      reply.size = 0;
      const raw = new TextDecoder().decode(bytes);
      open.add({ channel, pattern, body: dataIn(raw), raw }, bytes.length);
    };
    client.on("messageBuffer", (channel, bytes) => keep("", String(channel), bytes));
    client.on("pmessageBuffer", (pattern, channel, bytes) => keep(pattern, String(channel), bytes));
    client.on("close", () => open.end(`${attempt.address} closed the connection`));
    const [name, ...channels] = command;
    await attempt.during(
      `waiting for the reply to ${name} from ${attempt.address}`,
      name === "SUBSCRIBE" ? client.subscribe(...channels) : client.psubscribe(...channels),
      `cannot send ${name} to ${attempt.peer}`,
    );
    const res = { reply: channels, replies: [channels], error: "", error_code: "" };
    return { req: { url: url.shown, command }, res, brief: "subscribed" };
  },
  /** An error reply is a result; no connection and no sign-in are errors. */
  async run({ client, reply }, { url, command, commands = [command!] }, attempt) {
    const replies: Value[] = [];
    const ask = async ([name = "", ...args]: readonly string[]) => {
      reply.size = 0;
      return await attempt.during(
        `waiting for the reply to ${name} from ${attempt.address}`,
        client.callBuffer(name, ...args).catch((error) => {
          if (reply.size > MAX_BYTES) {
            throw new StepError(`the reply to ${name} is too large`, LIMIT);
          }
          return errorReply(error);
        }),
        `cannot send ${name} to ${attempt.peer}`,
      );
    };
    let error: Error | undefined;
    let isQueuing = false;
    for (const command of commands) {
      const [name] = command;
      const received = await ask(command);
      const read = readReply(received);
      error = read.error;
      // Later steps would find a transaction that nothing ends.
      if (received === error && isQueuing && name !== "EXEC") await ask(["DISCARD"]);
      if (received !== error) replies.push(read.value);
      if (error) break;
      isQueuing = name === "MULTI" || isQueuing && name !== "EXEC" && name !== "DISCARD";
    }
    const code = error ? /^[A-Z][A-Z0-9]*/.exec(error.message)?.[0] ?? "" : "";
    return {
      req: { url: url.shown, ...command ? { command } : { commands } },
      res: {
        reply: error ? null : replies.at(-1) ?? null,
        replies,
        error: error?.message ?? "",
        error_code: code,
      },
      status: error ? 1 : 0,
      brief: error ? code || error.message : "replied",
    };
  },
});

/** Signs in and chooses the database; the library would go on after an error in these. */
async function greet(client: Redis, { username, password, database }: RedisUrl): Promise<void> {
  if (password !== "") {
    await client.call("AUTH", ...username === "" ? [] : [username], password);
  } else {
    // Finds out whether signing in is needed; a user who may not do that is let in.
    await client.call("PING").catch((error) => {
      if (!error.message.startsWith("NOPERM ")) throw error;
    });
  }
  if (database === 0) return;
  await client.call("SELECT", database).catch((error) => {
    throw new StepError(`cannot select database ${database} (${errorReply(error).message})`);
  });
}

/** What a part of a reply counts. */
function sizeOf(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++;
  return chunk.length + lines * LINE_BYTES;
}

/** A Redis server, as a URL describes it. */
interface RedisUrl {
  /** The URL without its password. */
  readonly shown: string;
  readonly host: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly username: string;
  readonly password: string;
  readonly database: number;
}

/** Reads the URL of a server; its password is a secret before anything can fail. */
function readUrl(text: string, param: Param): RedisUrl {
  const url = URL.parse(text);
  const password = decodePercents(url?.password ?? "");
  if (password !== "") param.secrets?.add(password);
  const database = /^\/?(\d*)$/.exec(url?.pathname ?? "")?.[1];
  if (!url || !/^rediss?:$/.test(url.protocol) || url.hostname === "" || database === undefined) {
    throw param.wrong(
      `invalid URL ${JSON.stringify(url ? withoutPassword(text) : "")}`,
      "write redis://host:6379, redis://user:password@host:6379/0 or rediss:// for TLS",
    );
  }
  const shown = new URL(url);
  if (password !== "") shown.password = "***";
  return {
    shown: shown.href,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 6379),
    isSecure: url.protocol === "rediss:",
    username: decodePercents(url.username),
    password,
    database: Number(database),
  };
}

/** The error that a server replied; throws any other. */
function errorReply(error: unknown): Error {
  if (error instanceof Error && error.name === "ReplyError") return error;
  throw error;
}

/** A reply as steps see it. */
interface RedisResponse {
  readonly value: Value;
  /** The error that it is, or the first one inside it. */
  readonly error?: Error | undefined;
}

/** Integers are text in the replies of the library, strings are bytes. */
function readReply(reply: unknown): RedisResponse {
  let error: Error | undefined;
  const toValue = (part: unknown): Value => {
    if (Array.isArray(part)) return part.map(toValue);
    if (part instanceof Error) return (error ??= part, part.message);
    if (part instanceof Uint8Array) return textOrBytes(part);
    if (part === null) return null;
    const text = String(part);
    return /^-?\d+$/.test(text) ? readInteger(text) ?? text : text;
  };
  return { value: toValue(reply), error };
}

/** Text, or `{ base64: … }` of bytes that are not UTF-8. */
function textOrBytes(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: bytes.toBase64() };
  }
}

/** Commands that turn the connection into one that only receives. */
const ENDLESS = ["SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC"];

/** Whether a command subscribes to channels, for a step that stays open. */
function isSubscribing([name]: readonly string[]): boolean {
  return name === "SUBSCRIBE" || name === "PSUBSCRIBE";
}

/** The words of a command: of a list as they are, of a text between spaces outside quotes. */
export function splitCommand(command: string | readonly Value[], param: Param): readonly string[] {
  const parts = typeof command === "string" ? splitText(command) : command.map(toWord);
  if (!parts?.[0]) {
    throw param.wrong(
      `the command ${describeValue(command)} has ${
        parts ? "no words" : "a quote that is not closed"
      }`,
      'write it as a list: [SET, key, "a value"]',
    );
  }
  // The library treats some names in small letters in its own way.
  const name = parts[0].toUpperCase();
  if (ENDLESS.includes(name)) {
    throw param.wrong(
      `${name} is not supported, because it waits for messages without end`,
      "XREAD and BLPOP wait for one",
    );
  }
  for (const password of passwordsIn(name, parts)) param.secrets?.add(password);
  return [name, ...parts.slice(1)];
}

function toWord(value: Value): string {
  return value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Undefined if a quote is not closed. */
function splitText(text: string): string[] | undefined {
  const word = /(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/gs;
  if (text.replace(word, "").trim() !== "") return undefined;
  return text.match(word)?.map((word) =>
    word.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
      (_, double, single) => single ?? double.replace(/\\(.)/gs, unescape),
    )
  ) ?? [];
}

function unescape(_: string, letter: string): string {
  return { n: "\n", r: "\r", t: "\t" }[letter] ?? letter;
}

/** The passwords in a command that signs in or sets them. */
function passwordsIn(name: string, args: readonly string[]): readonly string[] {
  if (name === "ACL") {
    return args.filter((word) => /^[<>]/.test(word)).map((word) => word.slice(1));
  }
  if (!["AUTH", "HELLO", "CONFIG"].includes(name)) return [];
  return args.flatMap((word, index) => {
    // A user name may come before it.
    const count = /^auth$/i.test(word) ? 2 : /^(requirepass|masterauth)$/i.test(word) ? 1 : 0;
    return args.slice(index + 1, index + 1 + count).slice(-1);
  });
}
