import { StepError } from "../../base/errors.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { shareConnection } from "../../action/shared_connection.ts";
import { connectSsh, type SshConnection } from "./connect_ssh.ts";
import { describeSshRequest, type Login, readSsh, type SshRequest } from "./read_ssh.ts";
import { type Ended, lost, runSshCommand } from "./run_ssh_command.ts";
import { makeSlots, type SshSlots } from "./ssh_slots.ts";

/** Sign-ins at once; servers drop connections of more than ten that have not signed in. */
const MOST_SIGN_INS = 6;

/** Commands at once on a connection. Servers allow ten, or fewer, which shows when one is refused. */
const MOST_CHANNELS = 10;

/** A connection for all that use it; absent until it is needed, or once lost. */
interface Session {
  connecting: Connecting | undefined;
  readonly slots: SshSlots;
}

interface Connecting {
  readonly promise: Promise<SshConnection>;
  /** That of the step that opens it for all. */
  readonly signal: AbortSignal;
}

/** Runs a command and copies files. A command that fails is a result; no connection is an error. */
export async function runSsh(params: Dict, given: ActionContext): Promise<ActionResult> {
  const request = readSsh(params, given);
  const req = describeSshRequest(request);
  const { context, release } = limitAction(given, request.timeout);
  try {
    return await carryOut(request, req, sessionOf(params, request, context), context);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    throw new StepError(error.message, error.hint, { req, ...error.details });
  } finally {
    release();
  }
}

async function carryOut(
  { login, command, upload, download }: SshRequest,
  req: Dict,
  session: Session,
  context: ActionContext,
): Promise<ActionResult> {
  const connection = await connectionOf(session, login, context);
  const place = { connection, slots: session.slots };
  const files = upload.length + download.length === 0 ? undefined : await import("./copy_files.ts");
  const uploaded = await files?.uploadFiles(upload, place, login, context) ?? [];
  const ended = command
    ? await explainLost(runSshCommand(command, place, login, context))
    : undefined;
  const isGood = (ended?.code ?? 0) === 0;
  const downloaded = isGood
    ? await files?.downloadFiles(download, place, login, context) ?? []
    : [];
  const copied = [...uploaded, ...downloaded];
  return {
    req,
    res: { ...responseOf(ended), files: copied },
    status: isGood ? 0 : 1,
    brief: ended ? briefOf(ended) : copied.length === 1 ? "1 file" : `${copied.length} files`,
  };

  /** An error of the library is that of a connection or of a channel. */
  async function explainLost(running: Promise<Ended>): Promise<Ended> {
    try {
      return await running;
    } catch (error) {
      if (error instanceof StepError) {
        if (error !== context.signal.reason) throw error;
        throw new StepError(`${error.message} before the command ran on ${placeOf(login)}`);
      }
      if (connection.isLost) throw lost(connection, login, "before the command ran");
      const words = error instanceof Error ? error.message.replace(/^\(SSH\) /, "") : `${error}`;
      throw new StepError(
        `cannot run the command on ${placeOf(login)}: ${words}`,
        "the server may allow no sessions, or no more at once (MaxSessions)",
      );
    }
  }
}

function responseOf(ended: Ended | undefined): Dict {
  const { code = 0, signal = null, stdout, stderr } = ended ?? {};
  return {
    code,
    stdout: stdout?.text ?? "",
    stderr: stderr?.text ?? "",
    signal,
    stdout_bytes: stdout?.bytes ?? 0,
    stderr_bytes: stderr?.bytes ?? 0,
    truncated: stdout?.cut === true || stderr?.cut === true,
  };
}

function briefOf({ code, signal }: Ended): string {
  return signal === null ? `exit ${code}` : `signal ${signal}`;
}

function sessionOf(params: Dict, { login }: SshRequest, { scope }: ActionContext) {
  return shareConnection(
    "ssh",
    params,
    scope,
    JSON.stringify(login),
    (): Session => ({ connecting: undefined, slots: makeSlots(MOST_CHANNELS) }),
    async ({ connecting }) => (await connecting?.promise.catch(() => undefined))?.close(),
  );
}

/** The connection of a session, which one step opens for all. */
async function connectionOf(
  session: Session,
  login: Login,
  context: ActionContext,
): Promise<SshConnection> {
  for (;;) {
    const { connecting } = session;
    if (!connecting) return await open(session, login, context);
    try {
      const connection = await connecting.promise;
      if (!connection.isLost) return connection;
    } catch (error) {
      // The step that opened it may have come to its end, and this one not.
      if (!connecting.signal.aborted || context.signal.aborted) throw error;
    }
    if (session.connecting === connecting) session.connecting = undefined;
  }
}

async function open(
  session: Session,
  login: Login,
  context: ActionContext,
): Promise<SshConnection> {
  const slots = context.scope.run.resource(
    `ssh:sign-ins:${login.host}:${login.port}`,
    () => makeSlots(MOST_SIGN_INS),
  );
  const connect = async () => {
    const connection = await slots.open(() => connectSsh(login, context), context);
    slots.release();
    return connection;
  };
  const connecting = { promise: connect(), signal: context.signal };
  session.connecting = connecting;
  try {
    return await connecting.promise;
  } catch (error) {
    if (session.connecting === connecting) session.connecting = undefined;
    throw error;
  }
}
