import type { Redis } from "ioredis";
import { StepError } from "../../source/errors.ts";
import { isDict } from "../../value/value.ts";
import type { ActionContext, ActionResult, Dict, Value } from "../action.ts";
import { codeOf, type Endpoint, placeOf } from "../net/endpoint.ts";
import { explainConnection } from "../net/explain_connection.ts";
import { checkNet } from "../net/open_socket.ts";
import { limitAction } from "../net/step_deadline.ts";
import { onAbort } from "../on_abort.ts";
import { readParameters, required } from "../read_parameters.ts";
import { shareConnection } from "../shared_connection.ts";
import { GIVE_CERTIFICATE } from "../tls/explain_tls.ts";
import { readTlsOptions, type TlsOptions } from "../tls/tls_options.ts";
import { splitCommand } from "./split_command.ts";

/** Sends the commands. An error reply is a result; no connection and no sign-in are errors. */
export async function runRedis(params: Dict, given: ActionContext): Promise<ActionResult> {
  const read = readParameters("redis", params);
  const server = readUrl(required("redis", "url", read.string("url")), given);
  const commands = readCommands(params);
  const { context, release } = limitAction(given, read.duration("timeout"));
  try {
    await checkNet(server, context);
    const tls = server.isSecure
      ? await readTlsOptions("redis", isDict(params.tls) ? params.tls : undefined, context)
      : undefined;
    const session = shareConnection(
      "redis",
      params,
      context.scope,
      server.url,
      (): Session => ({ opening: undefined }),
      async ({ opening }) => (await opening)?.disconnect(),
    );
    const opening = openingOf(session, () => connect(server, tls, context));
    const { replies, error } = await send(await opening, commands, server, context)
      .catch(async (error) => {
        if (session.opening === opening) session.opening = undefined;
        // A reply may still come; no later command may take it for its own.
        (await opening).disconnect();
        throw error;
      });
    const last = replies.at(-1) ?? null;
    return {
      req: {
        url: server.shown,
        ...params.commands === undefined ? { command: commands[0]! } : { commands },
      },
      res: {
        reply: error ? null : last,
        replies,
        error: error?.message ?? "",
        error_code: error ? codeOfReply(error.message) : "",
      },
      status: error ? 1 : 0,
      brief: error ? codeOfReply(error.message) : "replied",
    };
  } finally {
    release();
  }
}

/** A connection for all that use it; absent until it is needed, or once it was lost. */
interface Session {
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

interface Server extends Endpoint {
  readonly url: string;
  /** The URL without its password. */
  readonly shown: string;
  readonly isSecure: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
}

function readUrl(text: string, { secrets }: ActionContext): Server {
  const url = URL.parse(text);
  const secret = url?.password ? decodeURIComponent(url.password) : undefined;
  if (secret !== undefined) secrets.add(secret);
  const isRedis = url?.protocol === "redis:" || url?.protocol === "rediss:";
  const database = Number(url?.pathname.slice(1) || 0);
  if (!url || !isRedis || url.hostname === "" || !Number.isInteger(database)) {
    const shown = url ? text.replace(/:[^:@/]*@/, ":***@") : "";
    throw new StepError(
      `cannot run redis: invalid URL ${JSON.stringify(shown)}`,
      "write redis://host:6379, redis://user:password@host:6379/0 or rediss:// for TLS",
      { parameter: "url" },
    );
  }
  const shown = new URL(url);
  shown.password = url.password === "" ? "" : "***";
  return {
    url: url.href,
    shown: shown.href,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 6379),
    isSecure: url.protocol === "rediss:",
    database,
    ...url.username === "" ? {} : { username: decodeURIComponent(url.username) },
    ...secret === undefined ? {} : { password: secret },
  };
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

async function connect(
  server: Server,
  tls: TlsOptions | undefined,
  context: ActionContext,
): Promise<Redis> {
  const library = await import("ioredis");
  // The chunks of the binaries have the package in `default` alone.
  const { Redis } = library.Redis ? library : library.default as unknown as typeof library;
  const client = new Redis({
    host: server.host,
    port: server.port,
    db: server.database,
    ...server.username === undefined ? {} : { username: server.username },
    ...server.password === undefined ? {} : { password: server.password },
    ...tls ? { tls: { ...tls } } : {},
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
    // The password is checked by the first command.
    await Promise.race([client.call("PING"), aborted.promise]);
    return client;
  } catch (error) {
    client.disconnect();
    if (error instanceof StepError) {
      throw new StepError(`${error.message} while connecting to ${placeOf(server)}`, error.hint);
    }
    throw await explain(doing, cause ?? error, server, tls, context);
  } finally {
    forget();
  }
}

async function explain(
  doing: string,
  error: unknown,
  server: Server,
  tls: TlsOptions | undefined,
  context: ActionContext,
): Promise<StepError> {
  const message = error instanceof Error ? error.message : String(error);
  if (/^(WRONGPASS|NOAUTH|NOPERM|ERR (AUTH|invalid password|Client sent AUTH))/.test(message)) {
    return new StepError(
      `${doing}: sign-in failed: ${message}`,
      'check the user name and the password in "url"',
    );
  }
  if (codeOf(error) === "" && /^[A-Z]+ /.test(message)) {
    return new StepError(`${doing}: ${message}`);
  }
  const { words, hint } = await explainConnection(error, server, context.host.clock, tls);
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
  server: Server,
  context: ActionContext,
): Promise<{ replies: Value[]; error?: Error }> {
  const replies: Value[] = [];
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const forget = onAbort(context.signal, aborted.reject);
  try {
    for (const [name, ...words] of commands) {
      try {
        const reply = client.call(name!, ...words);
        reply.catch(() => {});
        replies.push(toValue(await Promise.race([reply, aborted.promise])));
      } catch (error) {
        if (error instanceof StepError) {
          const doing = `while waiting for the reply to ${name} from ${placeOf(server)}`;
          throw new StepError(`${error.message} ${doing}`, error.hint);
        }
        if (error instanceof Error && /^[A-Z][A-Z0-9]* /.test(error.message)) {
          return { replies, error };
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

function toValue(reply: unknown): Value {
  if (reply === null || reply === undefined) return null;
  if (Array.isArray(reply)) return reply.map(toValue);
  if (typeof reply === "bigint") {
    return Number.isSafeInteger(Number(reply)) ? Number(reply) : String(reply);
  }
  if (reply instanceof Error) return reply.message;
  if (reply instanceof Uint8Array) return new TextDecoder().decode(reply);
  if (typeof reply === "object") {
    return Object.fromEntries(Object.entries(reply).map(([key, value]) => [key, toValue(value)]));
  }
  return reply as Value;
}
