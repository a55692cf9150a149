import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { isSecretName } from "../../secrets/secrets.ts";
import type { ActionContext, Dict } from "../../action/action.ts";
import type { Endpoint } from "../../action/net/endpoint.ts";
import { readParameters, required } from "../../action/read_parameters.ts";
import { textOf } from "../../action/text_of.ts";
import { sshProblems } from "./ssh_problems.ts";

/** A step as it is asked for, with everything that was left out filled in. */
export interface SshRequest {
  readonly login: Login;
  readonly command?: RemoteCommand;
  /** Pairs of a local and a remote path. */
  readonly upload: readonly FilePair[];
  readonly download: readonly FilePair[];
  /** Milliseconds. */
  readonly timeout: number | undefined;
}

/** Where to sign in, as whom, and how. */
export interface Login extends Endpoint {
  readonly user: string;
  readonly credentials: Credentials;
  readonly trust: Trust;
  /** Hosts to connect through, the first one first. */
  readonly jumps: readonly Hop[];
}

/** A host to connect through. */
export interface Hop extends Endpoint {
  readonly user: string;
}

export interface Credentials {
  readonly password?: string;
  /** The path of a private key, or its text. */
  readonly key?: string;
  readonly passphrase?: string;
  readonly usesAgent: boolean;
}

/** The accepted host keys. */
export interface Trust {
  readonly isChecked: boolean;
  /** The path of a known_hosts file, or its text; those of the user and the system if absent. */
  readonly knownHosts?: string;
}

export interface RemoteCommand {
  readonly text: string;
  readonly workdir?: string;
  /** Variables to set, and those to take away, which are null. */
  readonly env: Readonly<Record<string, string | null>>;
  readonly stdin?: string;
  readonly hasTerminal: boolean;
  readonly maxOutput: number;
}

export interface FilePair {
  readonly local: string;
  readonly remote: string;
}

const MAX_OUTPUT = 1024 * 1024;

/** Reads the rendered parameters of a step; what is secret of them is, before anything can fail. */
export function readSsh(params: Dict, { secrets }: ActionContext): SshRequest {
  const read = readParameters("ssh", params);
  const password = read.string("password");
  const passphrase = read.string("key_passphrase");
  // A variable that is not set often leaves it empty.
  const key = read.string("key_file") || undefined;
  for (const secret of [password, passphrase]) if (secret) secrets.add(secret);
  if (key !== undefined && isKeyText(key)) secrets.add(key);
  const user = required("ssh", "user", read.string("user"));
  const [problem] = sshProblems(params);
  if (problem) throw new StepError(`cannot run ssh: ${problem.message}`, problem.hint);
  const knownHosts = read.string("known_hosts");
  const jump = read.string("jump");
  // A message that refuses it shows it.
  for (const [, word] of (jump ?? "").matchAll(/:([^@,]+)@/g)) secrets.add(word!);
  const command = readCommand(params);
  for (const [name, value] of Object.entries(command?.env ?? {})) {
    if (value !== null && isSecretName(name)) secrets.add(value);
  }
  return {
    login: {
      host: required("ssh", "host", read.string("host")).replace(/^\[(.*)\]$/, "$1"),
      port: read.integer("port") ?? 22,
      user,
      credentials: {
        ...password === undefined ? {} : { password },
        ...key === undefined ? {} : { key },
        ...passphrase === undefined ? {} : { passphrase },
        usesAgent: read.boolean("agent") ?? false,
      },
      trust: {
        isChecked: read.boolean("strict_host_check") ?? true,
        ...knownHosts === undefined ? {} : { knownHosts },
      },
      jumps: jump === undefined ? [] : jump.split(",").map((one) => readHop(one.trim(), user)),
    },
    ...command ? { command } : {},
    upload: Object.entries(read.map("upload") ?? {})
      .map(([local, remote]) => ({ local, remote: textOf(remote) })),
    download: Object.entries(read.map("download") ?? {})
      .map(([remote, local]) => ({ local: textOf(local), remote })),
    timeout: read.duration("timeout") || undefined,
  };
}

function readCommand(params: Dict): RemoteCommand | undefined {
  const read = readParameters("ssh", params);
  const text = read.string("cmd");
  if (text === undefined) return undefined;
  const workdir = read.string("workdir");
  const stdin = read.string("stdin");
  const env = Object.entries(read.map("env") ?? {});
  return {
    text,
    ...workdir === undefined ? {} : { workdir },
    env: Object.fromEntries(
      env.map(([name, value]) => [name, value === null ? null : textOf(value)]),
    ),
    ...stdin === undefined ? {} : { stdin },
    hasTerminal: read.boolean("pty") ?? false,
    maxOutput: read.integer("max_output") ?? MAX_OUTPUT,
  };
}

function readHop(text: string, user: string): Hop {
  const url = URL.parse(/^ssh:\/\//.test(text) ? text : `ssh://${text}`);
  if (!url || url.hostname === "" || url.password !== "" || url.pathname !== "") {
    throw new StepError(
      `cannot run ssh: invalid jump host ${JSON.stringify(text)}`,
      "write user@host:port; it signs in with the same key, agent or password",
      { parameter: "jump" },
    );
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port || 22),
    user: url.username === "" ? user : decodeURIComponent(url.username),
  };
}

/** Whether a text is a key itself, and not the path of one. */
export function isKeyText(text: string): boolean {
  return text.includes("-----BEGIN ") || text.startsWith("PuTTY-User-Key-File-");
}

/** The request as expressions and reports see it: what was asked for, under the names of `with`. */
export function describeSshRequest(
  { login, command, upload, download, timeout }: SshRequest,
): Dict {
  const { host, port, user, jumps } = login;
  const { text, workdir, env = {}, stdin, hasTerminal = false } = command ?? {};
  return {
    host,
    port,
    user,
    ...jumps.length === 0
      ? {}
      : { jump: jumps.map((hop) => `${hop.user}@${hop.host}:${hop.port}`).join(",") },
    ...text === undefined ? {} : { cmd: text },
    ...workdir === undefined ? {} : { workdir },
    ...Object.keys(env).length === 0 ? {} : { env },
    ...stdin === undefined ? {} : { stdin },
    ...hasTerminal ? { pty: true } : {},
    ...upload.length === 0
      ? {}
      : { upload: Object.fromEntries(upload.map(({ local, remote }) => [local, remote])) },
    ...download.length === 0
      ? {}
      : { download: Object.fromEntries(download.map(({ local, remote }) => [remote, local])) },
    ...timeout === undefined ? {} : { timeout: formatDuration(timeout) },
  };
}
