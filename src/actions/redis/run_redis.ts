import type { Redis } from "ioredis";
import { StepError } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import type { ActionContext, ActionResult, Dict, Value } from "../../action/action.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { inTurn, type Turns } from "../../action/net/in_turn.ts";
import { checkNet } from "../../action/net/open_socket.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { onAbort } from "../../action/on_abort.ts";
import { readParameters, required } from "../../action/read_parameters.ts";
import { shareConnection } from "../../action/shared_connection.ts";
import { GIVE_CERTIFICATE } from "../../action/tls/explain_tls.ts";
import { readTlsOptions, type TlsOptions } from "../../action/tls/tls_options.ts";
import { readReply } from "./read_reply.ts";
import { PLAIN_URL, readRedisUrl, type RedisServer, SECURE_URL } from "./read_redis_url.ts";
import { splitCommand } from "./split_command.ts";

/** Sends the commands. An error reply is a result; no connection and no sign-in are errors. */
export async function runRedis(params: Dict, given: ActionContext): Promise<ActionResult> {
  const read = readParameters("redis", params);
  const server = readRedisUrl(required("redis", "url", read.string("url")), given.secrets);
  const commands = readCommands(params);
  for (const secret of commands.flatMap(passwordsOf)) given.secrets.add(secret);
  const tls = await readTls(params, server, given);
  const session = shareConnection(
    "redis",
    params,
    given.scope,
    `${server.url}:${JSON.stringify(params.tls ?? null)}`,
    (): Session => ({ opening: undefined, turn: Promise.resolve() }),
    async ({ opening }) => (await opening)?.disconnect(),
  );
  // The commands of a transaction must not mix with those of other steps.
  const { replies, error } = await inTurn(session, given, async () => {
    const { context, release } = limitAction(given, read.duration("timeout"));
    try {
      await checkNet(server, context);
      const opening = openingOf(session, () => connect(server, tls, context));
      const client = await opening;
      return await send(client, commands, server, context).catch((error) => {
        if (session.opening === opening) session.opening = undefined;
        // A reply may still come; no later command may take it for its own.
        client.disconnect();
        throw error;
      });
    } finally {
      release();
    }
  });
  return {
    req: {
      url: server.shown,
      ...params.commands === undefined ? { command: commands[0]! } : { commands },
    },
    res: {
      reply: error ? null : replies.at(-1) ?? null,
      replies,
      error: error?.message ?? "",
      error_code: error ? codeOfReply(error.message) : "",
    },
    status: error ? 1 : 0,
    brief: error ? codeOfReply(error.message) || error.message : "replied",
  };
}

async function readTls(
  { tls }: Dict,
  { isSecure }: RedisServer,
  context: ActionContext,
): Promise<TlsOptions | undefined> {
  if (isSecure) return await readTlsOptions("redis", isDict(tls) ? tls : undefined, context);
  if (tls === undefined || tls === null) return undefined;
  throw new StepError(`cannot run redis: ${PLAIN_URL}`, SECURE_URL, { parameter: "tls" });
}

/** A connection for all that use it; absent until it is needed, or once it was lost. */
interface Session extends Turns {
  opening: Promise<Redis> | undefined;
}

/** The connection of a session. */
function openingOf(session: Session, open: () => Promise<Redis>): Promise<Redis> {
  if (session.opening) return session.opening;
  const opening = open();
  const forget = () => {
    if (session.opening === opening) session.opening = undefined;
  };
  opening.then((client) => client.on("close", forget), forget);
  return session.opening = opening;
}

function readCommands(params: Dict): string[][] {
  const { command } = params;
  if (command !== undefined && command !== null) return [splitCommand(command, "command")];
  const list = readParameters("redis", params).list("commands") ?? [];
  if (list.length === 0) {
    throw new StepError("cannot run redis: there is no command", undefined, {
      parameter: "commands",
    });
  }
  return list.map((one) => splitCommand(one, "commands"));
}

/** The passwords in a command that signs in or sets them. */
function passwordsOf(command: readonly string[]): string[] {
  const upper = command.map((word) => word.toUpperCase());
  switch (upper[0]) {
    case "AUTH":
      return command.slice(-1);
    case "HELLO":
      return upper.includes("AUTH") ? command.slice(upper.indexOf("AUTH") + 2).slice(0, 1) : [];
    case "CONFIG":
      return command.filter((_, index) =>
        /^(REQUIREPASS|MASTERAUTH)$/.test(upper[index - 1] ?? "")
      );
    case "ACL":
      return command.filter((word) => /^[<>]/.test(word)).map((word) => word.slice(1));
    default:
      return [];
  }
}

async function connect(
  server: RedisServer,
  tls: TlsOptions | undefined,
  context: ActionContext,
): Promise<Redis> {
  const library = await import("ioredis");
  // The chunks of the binaries have the package in `default` alone.
  const { Redis } = library.Redis ? library : library.default as unknown as typeof library;
  const client = new Redis({
    host: server.host,
    port: server.port,
    ...tls ? { tls: { ...tls } } : {},
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
  // The promise of connect() only says that the connection is closed; the event says why.
  let cause: unknown;
  client.on("error", (error) => cause ??= error);
  // The library hears one error; a second one must not end the program.
  client.on("connect", () => client.stream.on("error", (error) => cause ??= error));
  const aborted = Promise.withResolvers<never>();
  const forget = onAbort(context.signal, aborted.reject);
  const doing = `cannot connect to redis at ${placeOf(server)}`;
  try {
    await Promise.race([client.connect(), aborted.promise]);
    await Promise.race([greet(client, server), aborted.promise]);
    return client;
  } catch (error) {
    client.disconnect();
    if (error instanceof StepError) {
      const isLate = tls && /timed out/.test(error.message);
      const hint = error.hint ?? (isLate ? "is TLS on there? redis:// is without" : undefined);
      throw new StepError(`${error.message} while connecting to ${placeOf(server)}`, hint);
    }
    throw await explain(doing, cause ?? error, server, tls, context);
  } finally {
    forget();
  }
}

/** Signs in and chooses the database; the library would go on after an error in these. */
async function greet(client: Redis, { username, password, database }: RedisServer): Promise<void> {
  if (password !== undefined) {
    await client.call("AUTH", ...username === undefined ? [] : [username], password);
  } else {
    // Finds out whether signing in is needed; a user who may not do that is let in.
    await client.call("PING").catch((error) => {
      if (!/^NOPERM /.test(error.message)) throw error;
    });
  }
  if (database === 0) return;
  await client.call("SELECT", database).catch((error) => {
    if (!isReply(error)) throw error;
    throw new StepError(`cannot select database ${database} (${error.message})`);
  });
}

/** Whether an error is a reply of the server. */
function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === "ReplyError";
}

async function explain(
  doing: string,
  error: unknown,
  server: RedisServer,
  tls: TlsOptions | undefined,
  context: ActionContext,
): Promise<StepError> {
  const message = error instanceof Error ? error.message : String(error);
  if (/^(WRONGPASS|NOAUTH|ERR (AUTH|invalid password|Client sent AUTH))/.test(message)) {
    return new StepError(
      `${doing}: sign-in failed: ${message}`,
      'check the user name and the password in "url"',
    );
  }
  if (isReply(error)) return new StepError(`${doing}: ${message}`);
  if (/Unknown RESP type|Invalid array length|Maximum call stack/.test(message)) {
    return new StepError(`${doing}: it answers, but not as a Redis server`);
  }
  const { words, hint } = /^Connection is closed|^Stream isn't writeable/.test(message)
    ? { words: `${placeOf(server)} closed the connection`, hint: undefined }
    : await explainConnection(error, server, context.host.clock, tls);
  // A server that refuses a client without a certificate may close before it says so.
  const isClosed = hint === undefined && tls?.cert === undefined && /closed/.test(words);
  return new StepError(
    `${doing}: ${words}`,
    tls && isClosed ? `it may want a client certificate; ${GIVE_CERTIFICATE}` : hint,
    { cause: words },
  );
}

async function send(
  client: Redis,
  commands: readonly string[][],
  server: RedisServer,
  context: ActionContext,
): Promise<{ replies: Value[]; error?: Error }> {
  const replies: Value[] = [];
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const forget = onAbort(context.signal, aborted.reject);
  const ask = async ([name = "", ...words]: readonly string[]) => {
    const reply = client.callBuffer(name, ...words);
    reply.catch(() => {});
    return readReply(await Promise.race([reply, aborted.promise]));
  };
  let isQueuing = false;
  try {
    for (const command of commands) {
      const [name] = command;
      try {
        const { value, error } = await ask(command);
        replies.push(value);
        if (error) return { replies, error };
        if (name === "MULTI") isQueuing = true;
        else if (name === "EXEC" || name === "DISCARD") isQueuing = false;
      } catch (error) {
        if (isReply(error)) {
          // Later steps would find a transaction that nothing ends.
          if (isQueuing && name !== "EXEC") await ask(["DISCARD"]);
          return { replies, error };
        }
        if (error instanceof StepError) {
          const doing = `while waiting for the reply to ${name} from ${placeOf(server)}`;
          throw new StepError(`${error.message} ${doing}`, error.hint);
        }
        throw await explain(
          `cannot send ${name} to redis at ${placeOf(server)}`,
          error,
          server,
          undefined,
          context,
        );
      }
    }
    return { replies };
  } finally {
    forget();
  }
}

/** The first word of an error reply: `WRONGTYPE`. */
function codeOfReply(message: string): string {
  return /^[A-Z][A-Z0-9]*/.exec(message)?.[0] ?? "";
}
