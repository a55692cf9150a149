import { StepError } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import { inTurn, type Turns } from "../../action/net/in_turn.ts";
import { codeOf, placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { onAbort } from "../../action/on_abort.ts";
import {
  nilError,
  type ParameterReader,
  readParameters,
  required,
} from "../../action/read_parameters.ts";
import { shareConnection } from "../../action/shared_connection.ts";
import { readTlsOptions } from "../../action/tls/tls_options.ts";
import { type ImapConnection, type ImapServer, isClosed, openImap } from "./imap_connection.ts";
import { type CommandOutcome, runCommands } from "./run_commands.ts";
import { waitForMail } from "./wait_for_mail.ts";

/** A connection for all that use it, one at a time; absent until it is needed, or once lost. */
interface Session extends Turns {
  connection: ImapConnection | undefined;
}

/** Milliseconds that a server has to answer LOGOUT. */
const GOODBYE = 1000;

/** Carries out commands. What the server refuses is a result; no connection is an error. */
export async function runImap(params: Dict, context: ActionContext): Promise<ActionResult> {
  const read = readParameters("imap", params);
  const server = await readServer(read, params, context);
  const session = sessionOf(params, server, context);
  const { outcome, waited } = await inTurn(session, context, async () => {
    const { context: limited, release } = limitAction(context, read.duration("timeout"));
    try {
      return await work(read, session, server, limited);
    } finally {
      release();
    }
  });
  const code = outcome.error === "" ? 0 : 1;
  const { password: _, access_token: _t, timeout: _o, connection: _c, fresh: _f, ...req } = params;
  const mails = [...waited, ...outcome.mails];
  return {
    req: { ...req, port: server.port },
    res: { code, data: outcome.data, mails, error: outcome.error },
    status: code,
    brief: code === 1 ? "refused" : mails.length === 1 ? "1 mail" : `${mails.length} mails`,
  };
}

async function work(
  read: ParameterReader,
  session: Session,
  server: ImapServer,
  context: ActionContext,
): Promise<{ outcome: CommandOutcome; waited: readonly Dict[] }> {
  if (session.connection && !session.connection.client.usable) session.connection = undefined;
  const connection = session.connection ??= await openImap(server, context);
  const place = `${server.username} at ${placeOf(server)}`;
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  let doing = "the reply";
  const forget = onAbort(context.signal, (reason) => {
    stopped.reject(new StepError(`${reason.message} while waiting for ${doing} of ${place}`));
  });
  try {
    const { now } = context.host.clock;
    const commands = runCommands(read.list("commands") ?? [], connection, () => now());
    const outcome = await Promise.race([commands, stopped.promise]);
    forget();
    doing = "a mail";
    const wait = read.map("wait_for");
    const waited = wait && outcome.error === ""
      ? await waitForMail(wait, connection, place, context)
      : [];
    return { outcome, waited };
  } catch (error) {
    const isLost = isClosed(error) || !connection.client.usable;
    // No later command may take the reply to this one for its own.
    connection.client.close();
    session.connection = undefined;
    if (error instanceof StepError) throw error;
    const place = `the mailbox server at ${placeOf(server)}`;
    if (isLost) {
      const cause = `${place} closed the connection`;
      const reason = connection.lastRefusal();
      throw new StepError(`${cause}${reason ? `: ${reason}` : ""}`, undefined, { cause });
    }
    if (codeOf(error) === "") throw error;
    const { words, hint } = await explainConnection(error, server, context.host.clock);
    throw new StepError(`the connection to ${place} was lost: ${words}`, hint, { cause: words });
  } finally {
    forget();
  }
}

function sessionOf(params: Dict, server: ImapServer, { scope }: ActionContext): Session {
  const { host, port, username, password, accessToken, security, tls } = server;
  const secret = password ?? accessToken ?? "";
  return shareConnection(
    "imap",
    params,
    scope,
    JSON.stringify([host, port, username, secret, security, tls, "checkServerIdentity" in tls]),
    (): Session => ({ connection: undefined, turn: Promise.resolve() }),
    async ({ connection }) => {
      if (!connection?.client.usable) return;
      const late = setTimeout(() => connection.client.close(), GOODBYE);
      await connection.client.logout().catch(() => {});
      clearTimeout(late);
      connection.client.close();
    },
  );
}

async function readServer(
  read: ParameterReader,
  params: Dict,
  context: ActionContext,
): Promise<ImapServer> {
  const password = read.string("password");
  const accessToken = read.string("access_token");
  for (const secret of [password, accessToken]) if (secret) context.secrets.add(secret);
  if (password === undefined && accessToken === undefined) {
    throw nilError("imap", "password");
  }
  const starttls = read.boolean("starttls") ?? false;
  const isSecure = isDict(params.tls) || (read.boolean("tls") ?? true);
  const security = starttls ? "starttls" : isSecure ? "tls" : "none";
  const tls = await readTlsOptions("imap", isDict(params.tls) ? params.tls : undefined, context);
  const port = read.integer("port") ?? (security === "tls" ? 993 : 143);
  if (port < 1 || port > 65_535) {
    throw new StepError(`cannot run imap: invalid port ${port}`, "ports are 1 to 65535", {
      parameter: "port",
    });
  }
  return {
    host: required("imap", "host", read.string("host")),
    port,
    username: required("imap", "username", read.string("username")),
    ...password === undefined ? {} : { password },
    ...accessToken === undefined ? {} : { accessToken },
    security,
    tls: {
      ...tls,
      ...read.boolean("insecure_skip_tls") ? { rejectUnauthorized: false } : {},
      ...read.boolean("strict_host_check") === false
        ? { checkServerIdentity: () => undefined }
        : {},
    },
  };
}
