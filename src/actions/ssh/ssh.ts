import { countOf } from "../../base/text/count_of.ts";
import { isTemplate } from "../../expr/template.ts";
import { decodePercents, isSecretName } from "../../secrets/secrets.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { dictOf } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { CommandLine, ExchangeDescription } from "../../action/explainer.ts";
import { action } from "../../action/make_action.ts";
import { isGiven, textOf } from "../../action/parameter.ts";
import {
  flag,
  host,
  integer,
  mapOf,
  type Param,
  port,
  sharing,
  text,
  timeout,
  value,
} from "../../action/rule.ts";
import { type Channel, isKeyText } from "./credentials.ts";
import type { JumpHost, SshConnection } from "./ssh_connection.ts";
import { quoteForShell } from "../../base/text/shell_word.ts";
import type { Readable } from "node:stream";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { lastOf, outputFields } from "../../action/process/capture.ts";
import { stopAtFailure } from "../shell/interpreter.ts";

/** Runs a command on another machine. A command that fails is a result; no connection is an error. */
export const ssh = action({
  name: "ssh",
  summary: "Runs commands on another machine and copies files there and back",
  params: {
    host: host("The host to connect to").required(),
    port: port("Its port").default(22),
    user: text("The user to sign in as").required(),
    password: text("The password of the user").secret(),
    key_file: text(
      "The private key of the user: a path, `~/` being the home directory, or its text",
    ).as(readKeyFile).with({
      hide: (key, mask) => isKeyText(String(key)) && !isTemplate(key) ? mask : key,
    }),
    key_passphrase: text("The passphrase of the key").secret(),
    agent: flag("Whether to sign in with the keys of the agent that `SSH_AUTH_SOCK` names")
      .default(false),
    cmd: text("The command, for the shell of the user; required unless files are copied"),
    workdir: text("The directory to run it in").with({ default: "the home" }),
    env: mapOf(
      value("any", "").as((value): string | null => textOf(value)).default(null),
      "Variables to add to its environment; null removes one",
      checkVariable,
    ).as(addSecrets),
    stdin: text("Text that it can read").with({ default: "nothing" }),
    pty: flag("Whether it runs in a terminal, where stderr is a part of stdout").default(false),
    max_output: integer(
      "How many bytes of stdout and of stderr to keep; if there are more, the last ones",
      { min: 0 },
    ).default(1024 * 1024),
    upload: mapOf(
      text("The path there").required(),
      "Files to copy there before the command runs: `{local path: remote path}`",
    ),
    download: mapOf(
      text("The path here").required(),
      "Files to copy here after the command succeeded: `{remote path: local path}`",
    ),
    jump: text(
      "A host to connect through, `user@host:port`; several are separated by commas. User and port default to those above and 22",
    ).as((hosts, param) => hosts.split(",").map((host) => readJumpHost(host.trim(), param))),
    known_hosts: text(
      "The keys that hosts must have: the path of a known_hosts file, or its text",
    ).with({ default: "`~/.ssh/known_hosts` and `/etc/ssh/ssh_known_hosts`" }),
    strict_host_check: flag("Whether to check the key of the host").default(true),
    ...sharing("connection", "job, host and user"),
    ...timeout("How long connecting, copying and the command may take"),
  },
  check(_, param, raw) {
    const has = (name: string) => isGiven(raw, name);
    // A variable that is not set often leaves a parameter empty.
    if (!["password", "key_file", "agent"].some((name) => has(name) && raw[name] !== "")) {
      param.wrong(
        'ssh needs "password", "key_file" or "agent" to sign in',
        "key_file: ~/.ssh/id_ed25519, or agent: true",
      );
    }
    if (has("cmd")) return;
    if (!has("upload") && !has("download")) {
      param.wrong('ssh needs "cmd", "upload" or "download"');
      return;
    }
    for (const name of ["workdir", "env", "stdin", "pty"].filter(has)) {
      param.of(name).wrong(`"${name}" needs "cmd"`, undefined, { at: "key" });
    }
  },
  omitsNilIn: () => ["env"],
  res: {
    code: {
      type: "int",
      summary: "the exit code of the command; -1 if a signal ended it, 0 without `cmd`",
    },
    stdout: { type: "string", summary: "the output of the command" },
    stderr: { type: "string", summary: "its output on stderr" },
    signal: { type: "any", summary: "the signal that ended it, such as `SIGKILL`, else nil" },
    stdout_bytes: { type: "int", summary: "the length of its output in bytes" },
    stderr_bytes: { type: "int", summary: "the length of its output on stderr in bytes" },
    truncated: {
      type: "bool",
      summary: "whether only the last `max_output` bytes of its output are kept",
    },
    files: {
      type: "array",
      summary: "the files that were copied, each with `local`, `remote` and `size`",
    },
  },
  usage: `with:
  host: app.example.com
  user: deploy
  key_file: ~/.ssh/id_ed25519
  cmd: systemctl --user is-active app`,
  example: "res.code == 0",
  /** The first host to connect to. */
  target: ({ host, port, jump }) => ({ product: "ssh", ...jump?.[0] ?? { host, port } }),
  connection: {
    by: [
      ...["host", "port", "user", "password", "key_file", "key_passphrase", "agent"] as const,
      ...["jump", "known_hosts", "strict_host_check"] as const,
    ],
    parallel: true,
    open: async (params, attempt): Promise<SshConnection> =>
      await (await import("./ssh_connection.ts")).openSsh(params, attempt),
    isLost: ({ isLost }) => isLost,
    close: (connection) => connection.close(),
  },
  request: (params, raw) => {
    const { host, port, user, cmd, workdir, env, stdin, pty, upload, download, timeout } = params;
    const request = {
      ...{ host, port, user, jump: raw.jump, cmd, workdir, env, stdin, pty: pty || undefined },
      ...{ upload, download, timeout: timeout === 0 ? undefined : formatDuration(timeout) },
    };
    return Object.fromEntries(
      Object.entries(request).filter((entry): entry is [string, Value] =>
        (entry[1] ?? null) !== null
      ),
    );
  },
  async run(connection, params, attempt) {
    const copy = async (direction: "upload" | "download"): Promise<readonly Dict[]> => {
      const files = Object.entries(params[direction] ?? {});
      if (files.length === 0) return [];
      const { copyFiles } = await import("./copy_files.ts");
      return await copyFiles(direction, files, connection, attempt);
    };
    const { cmd } = params;
    const uploaded = await copy("upload");
    const ended = cmd === undefined
      ? undefined
      : await runCommand({ ...params, cmd }, connection, attempt);
    const isGood = (ended?.code ?? 0) === 0;
    const files = [...uploaded, ...isGood ? await copy("download") : []];
    return {
      res: { ...NOTHING, ...ended, files },
      status: isGood ? 0 : 1,
      brief: ended
        ? ended.signal === null ? `exit ${ended.code}` : `signal ${ended.signal}`
        : countOf(files.length, "file"),
    };
  },
  describe: describeSsh,
  command: commandOf,
});

/** The result of a step without a command, and the order of the fields. */
const NOTHING = {
  code: 0,
  stdout: "",
  stderr: "",
  signal: null,
  stdout_bytes: 0,
  stderr_bytes: 0,
  truncated: false,
};

function readKeyFile(key: string, param: Param): string | undefined {
  if (isKeyText(key)) param.secrets?.add(key);
  return key === "" ? undefined : key;
}

function checkVariable(name: string, param: Param): void {
  if (/^[A-Za-z_]\w*$/.test(name)) return;
  param.wrong(
    `invalid name of a variable ${JSON.stringify(name)}`,
    "shells allow letters, digits and underscores",
    { at: "key" },
  );
}

function addSecrets<T extends Readonly<Record<string, string | null>>>(env: T, param: Param): T {
  for (const [name, value] of Object.entries(env)) {
    if (value !== null && isSecretName(name)) param.secrets?.add(value);
  }
  return env;
}

const PASSWORD = /:([^@]+)@/g;

function readJumpHost(text: string, param: Param): JumpHost {
  const url = URL.parse(/^ssh:\/\//.test(text) ? text : `ssh://${text}`);
  if (!url || url.hostname === "" || url.password !== "" || url.pathname !== "") {
    for (const [, password] of text.matchAll(PASSWORD)) param.secrets?.add(password!);
    throw param.wrong(
      `invalid jump host ${JSON.stringify(text.replace(PASSWORD, ":***@"))}`,
      "write user@host:port; it signs in with the same key, agent or password",
    );
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || 22),
    ...url.username !== "" && { user: decodePercents(url.username) },
  };
}

/** A command with its host and its output in reports. */
function describeSsh(req: Dict, res: Dict | null): ExchangeDescription {
  const { host, port, user, cmd } = req;
  const isShort = typeof cmd === "string" && !cmd.includes("\n") && cmd.length <= 80;
  const login = `${user}@${host}${port === 22 ? "" : `:${port}`}`;
  return {
    request: {
      title: isShort ? `${login}$ ${cmd}` : `ssh ${login}`,
      covered: ["host", "port", "user", ...isShort ? ["cmd"] : []],
    },
    ...res && {
      response: {
        minor: [
          ...res.truncated === false ? [["truncated"], ["stdout_bytes"], ["stderr_bytes"]] : [],
          ...res.signal === null ? [["signal"]] : [],
          ...Array.isArray(res.files) && res.files.length === 0 ? [["files"]] : [],
        ],
      },
    },
  };
}

/** The command of OpenSSH that does the same. */
function commandOf(req: Dict, params: Dict): CommandLine {
  const { host, port, user, cmd, jump, stdin, pty } = req;
  const { key_file: key, known_hosts: known, strict_host_check: strict } = params;
  const option = (name: string, value: unknown) =>
    typeof value === "string" && !isKeyText(value) && !value.includes("\n") ? [name, value] : [];
  const isCopy = cmd === undefined;
  return {
    groups: [[
      isCopy ? "sftp" : "ssh",
      ...port === 22 ? [] : [isCopy ? "-P" : "-p", `${port}`],
      ...option("-i", key),
      ...option("-J", jump),
      ...typeof known === "string" && !known.includes(" AAAA")
        ? ["-o", `UserKnownHostsFile=${known}`]
        : [],
      ...strict === false ? ["-o", "StrictHostKeyChecking=no"] : [],
      ...pty === true ? ["-t"] : [],
      `${user}@${host}`,
      // The request has the names of `with`; all of it goes into the text of the command.
      ...isCopy ? [] : [scriptOf({ ...req as unknown as RemoteCommand, pty: true }).text],
    ]],
    ...isCopy ? { input: copiesOf(req) } : typeof stdin === "string" && { input: stdin },
  };
}

/** The commands of sftp that copy the files. */
function copiesOf({ upload, download }: Dict): string {
  const word = (path: string) =>
    /^[\w./+-]+$/.test(path) ? path : `"${path.replace(/["\\]/g, "\\$&")}"`;
  const lines = (verb: string, files: Dict[string] | undefined) =>
    Object.entries(dictOf(files))
      .map((paths) => paths.map((path) => word(String(path).replace(/^~\/+/, ""))))
      .map((paths) => `${verb} ${paths.join(" ")}\n`);
  return [...lines("put -p", upload), ...lines("get", download)].join("");
}

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
async function runCommand(
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
interface Script {
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
