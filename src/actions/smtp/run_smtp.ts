import { StepError } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { readTls } from "../../action/net/open_socket.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { type ParameterReader, readParameters, required } from "../../action/read_parameters.ts";
import { shareConnection } from "../../action/shared_connection.ts";
import { readTlsOptions } from "../../action/tls/tls_options.ts";
import { composeMail, type Mail, type MailDraft, readDraft } from "./compose_mail.ts";
import { ConnectionPool } from "./connection_pool.ts";
import type { Delivery } from "./delivery.ts";
import {
  type MailAuth,
  type MailConnection,
  type MailServer,
  openMailConnection,
} from "./mail_connection.ts";

/** The outcome of the mails of one session. */
interface Session {
  readonly deliveries: readonly { readonly mail: Mail; readonly delivery: Delivery }[];
  /** Why it ended before its last mail. */
  readonly error?: StepError;
}

/** Sends mails. What the server refuses is a result; no connection and no sign-in are errors. */
export async function runSmtp(params: Dict, given: ActionContext): Promise<ActionResult> {
  const read = readParameters("smtp", params);
  const { context, release } = limitAction(given, read.duration("timeout"));
  try {
    const server = await readServer(read, params, context);
    countOf(read, "length", 0);
    const draft = await readDraft(params, context);
    const messages = countOf(read, "message");
    const sessions = Math.min(countOf(read, "session"), messages);
    const first = await composeMail(draft, context.host.clock.now());
    const pool = poolOf(params, context);
    const open = () => connect(server, params, context);
    const results = await Promise.all(
      Array.from({ length: sessions }, (_, index) => {
        const count = Math.floor(messages / sessions) + (index < messages % sessions ? 1 : 0);
        return sendAll(
          index === 0 ? first : undefined,
          count,
          draft,
          context,
          (use) => pool.with(sessions, context, open, use),
        );
      }),
    );
    const failures = results.flatMap(({ error }) => error ? [error] : []);
    const isNothing = results.every(({ deliveries }) => deliveries.length === 0);
    if (isNothing || context.signal.aborted && failures.length > 0) throw failures[0]!;
    return toResult(params, server, first, messages, results);
  } finally {
    release();
  }
}

function poolOf(params: Dict, { scope }: ActionContext): ConnectionPool {
  const { addr, auth = null, tls = null, starttls = null, myhostname = null } = params;
  return shareConnection(
    "smtp",
    params,
    scope,
    JSON.stringify([addr!, auth, tls, starttls, myhostname]),
    () => new ConnectionPool(),
    (pool) => pool.close(),
  );
}

async function connect(
  server: MailServer,
  { starttls }: Dict,
  context: ActionContext,
): Promise<MailConnection> {
  const connection = await openMailConnection(server, context);
  const isLocal = /^(localhost|127\.[\d.]+|::1)$/.test(server.host);
  if (server.auth && !connection.isSecure && !isLocal && (starttls ?? null) === null) {
    const text = `the password goes to ${placeOf(server)} without TLS`;
    context.warn(`${text}: the server does not offer STARTTLS; starttls: true demands it`);
  }
  return connection;
}

/** Sends the mails of one session; the end of the attempt is thrown. */
async function sendAll(
  first: Mail | undefined,
  count: number,
  draft: MailDraft,
  context: ActionContext,
  withConnection: (use: (connection: MailConnection) => Promise<void>) => Promise<void>,
): Promise<Session> {
  const deliveries: { mail: Mail; delivery: Delivery }[] = [];
  try {
    await withConnection(async (connection) => {
      for (let index = 0; index < count; index++) {
        const mail = index === 0 && first
          ? first
          : await composeMail(draft, context.host.clock.now());
        deliveries.push({ mail, delivery: await connection.send(mail, context) });
      }
    });
    return { deliveries };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    return { deliveries, error };
  }
}

function countOf(read: ParameterReader, name: string, least = 1): number {
  const count = read.integer(name) ?? least;
  if (count >= least) return count;
  const message = `cannot run smtp: "${name}" must be at least ${least}, not ${count}`;
  throw new StepError(message, undefined, { parameter: name });
}

async function readServer(
  read: ParameterReader,
  params: Dict,
  context: ActionContext,
): Promise<MailServer> {
  const auth = readAuth(read, context);
  const addr = required("smtp", "addr", read.string("addr"));
  const [, bracketed, name, digits] = /^(?:\[([^\]]+)\]|([^:\s/]+))(?::(\d{1,5}))?$/.exec(addr) ??
    [];
  const host = bracketed ?? name;
  const port = Number(digits ?? 25);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new StepError(
      `cannot run smtp: invalid address ${JSON.stringify(addr)}`,
      'write host:port: addr: "mail.example.com:587"',
      { parameter: "addr" },
    );
  }
  const starttls = read.boolean("starttls");
  const isImplicit = starttls !== true && (params.tls ?? (port === 465)) !== false;
  const tls = isImplicit && (isDict(params.tls) || read.boolean("tls") !== false)
    ? await readTls("smtp", params.tls ?? (port === 465), context)
    : undefined;
  const isTried = tls === undefined && (starttls ?? auth !== undefined);
  return {
    host,
    port,
    hostname: read.string("myhostname") ?? "localhost",
    ...auth ? { auth } : {},
    ...tls ? { tls } : {},
    ...isTried
      ? {
        starttls: {
          options: await readTlsOptions(
            "smtp",
            isDict(params.tls) ? params.tls : undefined,
            context,
          ),
          isRequired: starttls === true,
        },
      }
      : {},
  };
}

function readAuth(read: ParameterReader, { secrets }: ActionContext): MailAuth | undefined {
  const map = read.map("auth");
  if (!map) return undefined;
  const field = readParameters("smtp", map);
  const password = field.string("password");
  const accessToken = field.string("access_token");
  for (const secret of [password, accessToken]) if (secret !== undefined) secrets.add(secret);
  const username = required("smtp", "auth.username", field.string("username"));
  const method = field.string("method");
  if (password === undefined && accessToken === undefined) {
    throw new StepError('cannot run smtp: "auth" needs "password" or "access_token"', undefined, {
      parameter: "auth",
    });
  }
  return {
    username,
    ...password === undefined ? {} : { password },
    ...accessToken === undefined ? {} : { accessToken },
    ...method === undefined ? {} : { method },
  };
}

/** A mail is kept up to this length. */
const MOST_KEPT = 1_000_000;

function toResult(
  params: Dict,
  server: MailServer,
  first: Mail,
  messages: number,
  results: readonly Session[],
): ActionResult {
  const deliveries = results.flatMap(({ deliveries }) =>
    deliveries.map(({ delivery }) => delivery)
  );
  const failures = results.flatMap(({ error }) => error ? [error.message] : []);
  const rejected = deliveries.flatMap(({ rejected }) => rejected);
  const sent = deliveries.filter(({ isSent }) => isSent).length;
  const code = sent === messages && rejected.length === 0 ? 0 : 1;
  const refused = rejected.at(-1);
  const last = deliveries.at(-1);
  const error = failures.at(-1) ?? (refused ? `${refused.address}: ${refused.reply}` : "");
  const { auth, timeout: _, connection: _c, fresh: _f, ...req } = params;
  return {
    req: {
      ...req,
      ...isDict(auth) ? { auth: { username: auth.username ?? null } } : {},
    },
    res: {
      code,
      sent,
      failed: messages - sent,
      total: messages,
      error,
      accepted: unique(deliveries.flatMap(({ accepted }) => accepted)),
      rejected: unique(rejected.map(({ address }) => address)),
      reply: (refused ? deliveries.find((one) => one.rejected.length > 0)?.reply : last?.reply) ??
        "",
      message_id: first.id,
      maildata: new TextDecoder().decode(first.bytes.subarray(0, MOST_KEPT)),
      filepath: "",
    },
    status: code,
    brief: code === 0
      ? sent === 1 ? "sent" : `${sent} sent`
      : /^\d{3}/.exec(refused?.reply ?? "")?.[0] ?? `${sent} of ${messages} sent to ${server.host}`,
  };
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}
