import type { Redis } from "ioredis";
import { StepError } from "../../base/errors.ts";
import type { Value } from "../../action/action.ts";
import { action } from "../../action/make_action.ts";
import { list, sharing, text, timeout, value } from "../../action/rule.ts";
import { tls } from "../../action/tls/tls.ts";
import { errorReply, readReply, readUrl, splitCommand, type Url } from "./protocol.ts";

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
    ...sharing("connection", "job and URL"),
    ...timeout("How long connecting and all replies may take"),
  },
  oneOf: ["command", "commands"],
  check({ url, tls, commands }, param) {
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
async function greet(client: Redis, { username, password, database }: Url): Promise<void> {
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
