import { quoteForShell } from "../../base/text/shell_word.ts";
import type { Readable } from "node:stream";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { lastOf, outputFields } from "../../action/process/capture.ts";
import { stopAtFailure } from "../shell/interpreter.ts";
import type { Channel } from "./credentials.ts";
import type { SshConnection } from "./ssh_connection.ts";

/** A command as the step gives it. */
export interface RemoteCommand {
  readonly cmd: string;
  readonly workdir?: string;
  /** Variables to set, and those to take away, which are null. */
  readonly env?: Readonly<Record<string, string | null>>;
  readonly stdin?: string;
  readonly pty: boolean;
  readonly max_output: number;
}

/** Milliseconds that a command has to end after each signal. */
const PATIENCE = 1000;

/**
 * Runs a command, and gives its part of `res`; the code is -1 if a signal ended it. When the
 * attempt ends first, the server ends the command.
 */
export async function runCommand(
  command: RemoteCommand,
  connection: SshConnection,
  attempt: ActionAttempt,
) {
  const { address } = connection;
  const { text, preamble } = scriptOf(command);
  const keep = () => lastOf(command.max_output, attempt.context.secrets);
  const [stdout, stderr] = [keep(), keep()];
  const closed = Promise.withResolvers<void>();
  let end: { readonly code: number; readonly signal: string | null } | undefined;
  // At once, since what a short command sends may be there with the channel.
  const listen = (channel: Channel) => {
    channel.on("exit", (code: number | null, signal?: string) => {
      end = { code: code ?? -1, signal: signal ?? null };
    });
    channel.on("data", (chunk: Uint8Array) => stdout.add(chunk));
    channel.stderr.on("data", (chunk: Uint8Array) => stderr.add(chunk));
    const isClosed = (stream: Readable) => new Promise<void>((done) => stream.on("close", done));
    void Promise.all([isClosed(channel), isClosed(channel.stderr)]).then(() => closed.resolve());
  };
  const channel = await openChannel(text, command.pty, listen, connection, attempt);
  // A command that does not read its input closes it.
  channel.on("error", () => {});
  channel.end(preamble + (command.stdin ?? ""));
  try {
    const over = Promise.race([closed.promise, connection.lost]);
    await attempt.during(`the command ran on ${address}`, over);
    if (end) return { ...end, ...outputFields(stdout.take(true), stderr.take(true)) };
    if (connection.isLost) throw connection.lossError("while the command ran");
    throw new StepError(`${address} ended the command without an exit code`);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const hint = attempt.signal.aborted && end
      ? `it ended with exit code ${end.code}, but what it started still has its output: write >/dev/null 2>&1 before &`
      : error.hint;
    if (attempt.signal.aborted) await endCommand(channel, connection, closed.promise, attempt);
    const res = outputFields(stdout.take(false), stderr.take(false));
    throw new StepError(error.message, hint, { ...error.details, res });
  } finally {
    connection.slots.release();
  }
}

async function openChannel(
  text: string,
  pty: boolean,
  listen: (channel: Channel) => void,
  connection: SshConnection,
  attempt: ActionAttempt,
): Promise<Channel> {
  const { client, address } = connection;
  const options = pty ? { pty: { term: "xterm", cols: 80, rows: 24 } } : {};
  const open = () => {
    const { promise, resolve, reject } = Promise.withResolvers<Channel>();
    client.exec(text, options, (error, channel) => {
      if (error) return reject(error);
      listen(channel);
      resolve(channel);
      if (!attempt.signal.aborted) return;
      client._protocol.signal(channel.outgoing.id, "KILL");
      channel.close();
    });
    return attempt.during(`starting the command on ${address}`, promise);
  };
  try {
    return await connection.slots.open(open, attempt);
  } catch (error) {
    if (error instanceof StepError || !(error instanceof Error)) throw error;
    if (connection.isLost) throw connection.lossError("before the command ran");
    throw new StepError(
      `cannot run the command on ${address}: ${error.message.replace(/^\(SSH\) /, "")}`,
      "the server may allow no sessions, or no more at once (MaxSessions)",
    );
  }
}

/** Asks the server to end a command, at last by ending the connection. */
async function endCommand(
  channel: Channel,
  connection: SshConnection,
  closed: Promise<void>,
  { context: { deadline } }: ActionAttempt,
): Promise<void> {
  const isInTime = async () => {
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
    if (await isInTime()) return;
  }
  channel.close();
  if (!await isInTime()) connection.destroy();
}

/** The command line for the shell of the server, and the input that it reads before the command. */
export interface Script {
  readonly text: string;
  /** Lines at the beginning of its standard input. */
  readonly preamble: string;
}

/**
 * A command with its directory and its variables. Servers ignore most variables that a client sends,
 * so that the shell sets them. It reads them from its input, because every user of the server can
 * see the text of a command; a terminal would show them, so that there they are in the text.
 */
export function scriptOf(
  { cmd, workdir, env = {}, pty }: Omit<RemoteCommand, "max_output">,
): Script {
  const sets = Object.entries(env).map(([name, value]) =>
    value === null ? `unset ${name}` : `${assign(name, value)}; export ${name}`
  ).join("; ");
  const enter = workdir === undefined ? "" : `cd -- ${quotePath(workdir)} || exit\n`;
  const text = enter + stopAtFailure(cmd);
  if (sets === "") return { text, preamble: "" };
  if (pty) return { text: `${sets}\n${text}`, preamble: "" };
  const read = 'IFS= read -r RUNNER_ENV && eval "$RUNNER_ENV" && unset RUNNER_ENV\n';
  return { text: read + text, preamble: `${sets}\n` };
}

/** Sets a variable in one line. */
function assign(name: string, value: string): string {
  if (!value.includes("\n")) return `${name}=${quoteForShell(value)}`;
  const escaped = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  // $(…) would drop newlines at the end.
  return `${name}="$(printf '%b.' ${quoteForShell(escaped)})"; ${name}="\${${name}%.}"`;
}

/** A path in quotes; `~` at its beginning stays the home directory. */
function quotePath(path: string): string {
  const [, home = "", rest = ""] = /^(~[\w.-]*\/?)?(.*)$/s.exec(path)!;
  return home + (rest === "" && home !== "" ? "" : quoteForShell(rest));
}
