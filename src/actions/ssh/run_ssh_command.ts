import type { Readable } from "node:stream";
import type { Channel, ClientError } from "./ssh_library.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { onAbort } from "../../action/on_abort.ts";
import { type Captured, lastOf, outputFields } from "../../action/process/capture.ts";
import type { SshConnection } from "./connect_ssh.ts";
import type { Login, RemoteCommand } from "./read_ssh.ts";
import { scriptOf } from "./script.ts";
import type { SshSlots } from "./ssh_slots.ts";

/** The end of a command, and its output. */
export interface Ended {
  /** -1 where a signal ended it. */
  readonly code: number;
  readonly signal: string | null;
  readonly stdout: Captured;
  readonly stderr: Captured;
}

/** Milliseconds that a command has to end after each signal. */
const PATIENCE = 1000;

/** Runs a command. When the attempt ends first, the server ends the command. */
export async function runSshCommand(
  command: RemoteCommand,
  { connection, slots }: { readonly connection: SshConnection; readonly slots: SshSlots },
  login: Login,
  context: ActionContext,
): Promise<Ended> {
  const { text, preamble } = scriptOf(command);
  const keep = () => lastOf(command.maxOutput, context.secrets);
  const output = { stdout: keep(), stderr: keep() };
  const closed = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<never>();
  let end: { readonly code: number; readonly signal: string | null } | undefined;
  // At once, since what a short command sends may be there with the channel.
  const listen = (channel: Channel) => {
    channel.on("exit", (code: number | null, signal?: string) => {
      end = { code: code ?? -1, signal: signal ?? null };
    });
    channel.on("data", (chunk: Uint8Array) => output.stdout.add(chunk));
    channel.stderr.on("data", (chunk: Uint8Array) => output.stderr.add(chunk));
    const isClosed = (stream: Readable) => new Promise<void>((done) => stream.on("close", done));
    void Promise.all([isClosed(channel), isClosed(channel.stderr)]).then(() => closed.resolve());
  };
  const channel = await slots.open(
    () => openChannel(connection, text, command, listen, context),
    context,
  );
  // A command that does not read its input closes it.
  channel.on("error", () => {});
  channel.end(preamble + (command.stdin ?? ""));
  const forget = onAbort(context.signal, stopped.reject);
  const release = connection.onLost(() => closed.resolve());
  try {
    await Promise.race([closed.promise, stopped.promise]);
    if (end) return { ...end, stdout: output.stdout.take(true), stderr: output.stderr.take(true) };
    if (connection.isLost) throw lost(connection, login, "while the command ran");
    throw new StepError(`${placeOf(login)} ended the command without an exit code`);
  } catch (error) {
    if (error instanceof StepError && error === context.signal.reason) {
      const hint = end
        ? `it ended with exit code ${end.code}, but what it started still has its output: write >/dev/null 2>&1 before &`
        : error.hint;
      await endCommand(channel, connection, closed.promise, context);
      const message = `${error.message} while the command ran on ${placeOf(login)}`;
      throw new StepError(message, hint, { res: partial(output) });
    }
    if (!(error instanceof StepError)) throw error;
    throw new StepError(error.message, error.hint, { ...error.details, res: partial(output) });
  } finally {
    forget();
    release();
    slots.release();
  }
}

/** The error of a connection that ended in the middle. */
export function lost({ error }: SshConnection, login: Login, when: string): StepError {
  const why = error instanceof Error ? `: ${error.message}` : "";
  return new StepError(`the connection to ssh at ${placeOf(login)} was lost ${when}${why}`);
}

function partial(output: { readonly [name in "stdout" | "stderr"]: ReturnType<typeof lastOf> }) {
  return outputFields(output.stdout.take(false), output.stderr.take(false));
}

async function openChannel(
  { client }: SshConnection,
  text: string,
  { hasTerminal }: RemoteCommand,
  listen: (channel: Channel) => void,
  { signal }: ActionContext,
): Promise<Channel> {
  const { promise, resolve, reject } = Promise.withResolvers<Channel>();
  const forget = onAbort(signal, reject);
  client.exec(
    text,
    hasTerminal ? { pty: { term: "xterm", cols: 80, rows: 24 } } : {},
    (error: ClientError | undefined | null, channel: Channel) => {
      if (error) return reject(error);
      listen(channel);
      if (signal.aborted) {
        client._protocol.signal(channel.outgoing.id, "KILL");
        channel.close();
      }
      resolve(channel);
    },
  );
  try {
    return await promise;
  } finally {
    forget();
  }
}

/** Asks the server to end a command, at last by ending the connection. */
async function endCommand(
  channel: Channel,
  connection: SshConnection,
  closed: Promise<void>,
  { deadline }: ActionContext,
): Promise<void> {
  const inTime = async () => {
    const late = Promise.withResolvers<false>();
    const limit = deadline.after(PATIENCE, () => late.resolve(false));
    const isInTime = await Promise.race([closed.then(() => true), late.promise]);
    limit.cancel();
    return isInTime;
  };
  for (const name of ["TERM", "KILL"]) {
    if (connection.isLost) return;
    // The method of the channel sends none once its input has ended.
    connection.client._protocol.signal(channel.outgoing.id, name);
    if (await inTime()) return;
  }
  channel.close();
  if (!await inTime()) connection.destroy();
}
