import type { Duplex } from "node:stream";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { allow } from "../../action/target.ts";
import {
  type Client,
  type ClientError,
  type CredentialParams,
  type Credentials,
  homePath,
  loadSsh2,
  readCredentials,
  SignInMethods,
} from "./credentials.ts";

/** Where to sign in, as whom and how: parameters of a step. */
interface Login extends Endpoint, CredentialParams, HostKeyParams {
  readonly user: string;
  /** Hosts to connect through, the first one first. */
  readonly jump?: readonly JumpHost[];
}

export interface JumpHost extends Endpoint {
  /** That of the step if absent. */
  readonly user?: string;
}

/** Sign-ins at once; servers drop connections of more than ten that have not signed in. */
const MAX_SIGN_INS = 6;

/** Commands at once on a connection. Servers allow ten, or fewer, which shows when one is refused. */
const MAX_CHANNELS = 10;

/** A connection to a host, on which somebody is signed in. */
export class SshConnection {
  /** Commands and copies that are under way. */
  readonly slots = new Slots(MAX_CHANNELS);
  /** Resolves once it is lost. */
  readonly lost: Promise<void>;
  #isLost = false;
  #error: Error | undefined;

  constructor(
    readonly client: Client,
    /** The host and its port, for messages. */
    readonly address: string,
    /** The connection that this one goes through. */
    readonly before: SshConnection | undefined,
  ) {
    client.on("error", (error) => this.#error ??= error);
    this.lost = new Promise((resolve) =>
      client.on("close", () => {
        this.#isLost = true;
        before?.close();
        resolve();
      })
    );
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  lossError(when: string): StepError {
    const reason = this.#error ? `: ${this.#error.message}` : "";
    return new StepError(`the connection to ssh at ${this.address} was lost ${when}${reason}`);
  }

  /** Closes it and those that lead to it. */
  close(): void {
    this.client.end();
  }

  /** Ends it without a word to the server. */
  destroy(): void {
    this.client.destroy();
    this.before?.destroy();
  }
}

/** Connects, through the jump hosts of the step, and signs in. */
export async function openSsh(login: Login, attempt: ActionAttempt): Promise<SshConnection> {
  const slots = attempt.context.scope.run.resource(
    `ssh:sign-ins:${login.host}:${login.port}`,
    () => new Slots(MAX_SIGN_INS),
  );
  const connection = await slots.open(() => connect(login, attempt), attempt);
  slots.release();
  return connection;
}

async function connect(login: Login, attempt: ActionAttempt): Promise<SshConnection> {
  // Loading it later would miss what becomes of the socket meanwhile.
  await loadSsh2();
  const credentials = await readCredentials(login, attempt);
  const { host, port, user, jump = [] } = login;
  let connection: SshConnection | undefined;
  for (const hop of [...jump, { host, port }]) {
    if (connection) await allow({ product: "ssh", ...hop }, "jump", attempt.context);
    const hostKeys = await readHostKeys(hop, login, attempt);
    const socket = connection
      ? await forward(connection, hop, attempt)
      : await attempt.socket(undefined);
    connection = await signIn({
      ...{ user, ...hop, socket, hostKeys, credentials, before: connection },
    }, attempt);
  }
  return connection!;
}

/** Connects to a host through another one. */
async function forward(
  { client }: SshConnection,
  hop: Endpoint,
  attempt: ActionAttempt,
): Promise<Duplex> {
  const address = placeOf(hop);
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  client.forwardOut(
    ...["127.0.0.1", 0, hop.host, hop.port] as const,
    (error, channel) => error ? reject(error) : resolve(channel),
  );
  try {
    return await attempt.during(`connecting to ${address} through the jump host`, promise);
  } catch (error) {
    if (error instanceof StepError || !(error instanceof Error)) throw error;
    const reason = error.message.replace(/^\(SSH\) /, "");
    throw new StepError(
      `cannot connect to ${address} through the jump host: ${reason}`,
      "the jump host resolves the name and has to allow forwarding (AllowTcpForwarding)",
    );
  }
}

/** Milliseconds after which a quiet server is asked for a sign of life; it may miss three. */
const KEEP_ALIVE = 20_000;

const USUAL_PORT = "check the port: SSH is usually at 22";

interface SignIn extends Endpoint {
  readonly user: string;
  readonly socket: Duplex;
  readonly hostKeys: HostKeys | undefined;
  readonly credentials: Credentials;
  readonly before: SshConnection | undefined;
}

async function signIn(hop: SignIn, attempt: ActionAttempt): Promise<SshConnection> {
  const { user, socket, hostKeys, credentials, before } = hop;
  const { Client } = await loadSsh2();
  const client = new Client();
  attempt.undo(() => client.destroy());
  const methods = new SignInMethods(user, credentials);
  const address = placeOf(hop);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let phase = "exchanging keys with";
  let agentError: ClientError | undefined;
  let heard = "";
  client.on("ready", resolve);
  client.on("close", () => reject(new Error("the server closed the connection")));
  client.on("error", (error) => {
    // Another method may still succeed.
    if (error.level === "agent") agentError = error;
    else reject(error);
  });
  // Without it, each short packet waits for the acknowledgement of the one before.
  if ("setNoDelay" in socket) (socket as { setNoDelay(): void }).setNoDelay();
  const { password, key, agent } = credentials;
  const serverHostKey = hostKeys?.algorithms;
  // It closes where connecting throws, too.
  promise.catch(() => {});
  try {
    client.connect({
      sock: socket,
      username: user,
      ...{ password, ...key, agent },
      readyTimeout: 0,
      // A server that is gone without a word would be waited for until the step ends.
      keepaliveInterval: KEEP_ALIVE,
      ...serverHostKey && { algorithms: { serverHostKey } },
      hostVerifier: (key) => hostKeys?.accept(key) ?? true,
      authHandler: (left, _isPartial, next) => {
        phase = "signing in to";
        next(methods.next(left));
      },
    });
    socket.once("data", (bytes: Uint8Array) => heard = new TextDecoder().decode(bytes));
    await attempt.during(() => `${phase} ${address}`, promise);
    return new SshConnection(client, address, before);
  } catch (error) {
    const failing = error instanceof StepError
      ? error.message
      : `cannot connect to ssh at ${address}`;
    // Lines may come before the one by which a server names itself.
    if (heard !== "" && !/^SSH-/m.test(heard)) {
      const sent = attempt.excerpt(heard);
      throw new StepError(`${failing}: it does not speak SSH: it sent ${sent}`, USUAL_PORT);
    }
    if (error instanceof StepError) throw error;
    if (hostKeys?.refusal) throw hostKeys.refusal;
    throw signInError(failing, error as ClientError, user, methods, agentError) ??
      await attempt.explain(failing, error);
  }
}

/** What the server or the library says; undefined for errors of the network. */
function signInError(
  failing: string,
  { level, message }: ClientError,
  user: string,
  { tried, offered, usesKey }: SignInMethods,
  agentError: ClientError | undefined,
): StepError | undefined {
  if (level === "client-authentication") {
    const names = [...new Set(tried)].join(" and ");
    const by = names === "" ? "" : ` by ${names}`;
    const agent = agentError ? `; the agent: ${agentError.message}` : "";
    return new StepError(
      `${failing}: sign-in of "${user}" failed${by}: permission denied (${
        offered.join(",")
      })${agent}`,
      hintFor(tried, offered),
      { parameter: usesKey && tried.includes("publickey") ? "key_file" : "password" },
    );
  }
  if (/before handshake/.test(message)) {
    return new StepError(
      `${failing}: the server closed the connection before it named itself`,
      "it may have too many connections (MaxStartups), refuse this address, or not be an SSH server",
      { isClosed: true },
    );
  }
  return level === "handshake" || level === "protocol"
    ? new StepError(`${failing}: ${message}`)
    : undefined;
}

function hintFor(tried: readonly string[], offered: readonly string[]): string {
  if (tried.length === 0 && !offered.includes("publickey")) {
    return `the server takes ${offered.join(" or ")}`;
  }
  if (!offered.some((name) => tried.includes(name)) && offered.length > 0) {
    return `the server takes ${offered.join(" or ")} only`;
  }
  return tried.includes("publickey")
    ? "is the public key in ~/.ssh/authorized_keys of that user, and is it the right user?"
    : "check the user name and the password";
}

/** A server may take a moment to notice that a command is over: tries then, and milliseconds apart. */
const [MAX_REFUSALS, PAUSE] = [10, 50];

/** Limits what is under way at once; the others wait until something is released. */
export class Slots {
  #used = 0;
  readonly #waiting: (() => void)[] = [];

  /** Servers may allow fewer than `max`: that is found out by asking. */
  constructor(readonly max: number) {}

  /**
   * Opens something that counts until `release` is called. Where the server refuses it while
   * others are under way, it is opened again when one of them is released.
   */
  async open<T>(open: () => Promise<T>, attempt: ActionAttempt): Promise<T> {
    for (let refusals = 0;;) {
      if (this.#used >= this.max) {
        await this.#released(attempt);
        continue;
      }
      this.#used++;
      try {
        return await open();
      } catch (error) {
        this.#used--;
        const isRefusal = error instanceof Error && "reason" in error;
        if (!isRefusal || attempt.signal.aborted || refusals === MAX_REFUSALS) {
          this.#waiting.shift()?.();
          throw error;
        }
        if (this.#used > 0) {
          await this.#released(attempt);
        } else {
          refusals++;
          await new Promise<void>((done) => void attempt.context.deadline.after(PAUSE, done));
        }
      }
    }
  }

  release(): void {
    this.#used--;
    this.#waiting.shift()?.();
  }

  /** Waits until something is released; the timeout of the step does not apply to that. */
  async #released(attempt: ActionAttempt): Promise<void> {
    const { deadline } = attempt.context;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    deadline.pauseTimeout();
    try {
      await attempt.during(`others used ${attempt.peer}`, promise);
    } catch (error) {
      const index = this.#waiting.indexOf(resolve);
      if (index >= 0) this.#waiting.splice(index, 1);
      throw error;
    } finally {
      deadline.resumeTimeout();
    }
  }
}

/** Which keys a host may have: parameters of a step. */
interface HostKeyParams {
  /** The path of a known_hosts file, or its text; the files of the user and the system if absent. */
  readonly known_hosts?: string;
  readonly strict_host_check: boolean;
}

/** Decides whether a host is the one that it says it is. */
interface HostKeys {
  /** Algorithms in the order to ask for, so that the host shows a key that is known. */
  readonly algorithms: readonly string[] | undefined;
  /** Whether this is a key of the host; if not, `refusal` says why. */
  accept(key: Uint8Array): boolean;
  readonly refusal: StepError | undefined;
}

/** A line of a known_hosts file. */
interface KnownHost {
  readonly marker: "revoked" | "cert-authority" | undefined;
  /** Patterns, or one hashed name. */
  readonly names: string;
  readonly type: string;
  /** The key in base64. */
  readonly key: string;
  /** Where the line is, for people: `~/.ssh/known_hosts:3`. */
  readonly location: string;
}

/** Whether the files contain the key that a host has shown. */
type Verdict =
  | { readonly kind: "known" }
  | { readonly kind: "unknown" }
  | { readonly kind: "revoked"; readonly by: KnownHost }
  | { readonly kind: "changed"; readonly from: KnownHost };

const PARAMETER = "known_hosts";

/** Reads which keys a host may have; undefined if they are not checked. */
async function readHostKeys(
  endpoint: Endpoint,
  { known_hosts: knownHosts, strict_host_check: isChecked }: HostKeyParams,
  attempt: ActionAttempt,
): Promise<HostKeys | undefined> {
  if (!isChecked) return undefined;
  const files = await readFiles(knownHosts, attempt);
  const all = files.flatMap(({ text, name }) => parseKnownHosts(text, name));
  const lines = await linesAbout(endpoint, all);
  // As for OpenSSH, the keys of the host at port 22 are those of other ports that have no line.
  const others = await linesAbout({ ...endpoint, port: 22 }, all);
  const { createHash } = await import("node:crypto");
  const describeKey = (type: string, key: Uint8Array) => {
    const hash = createHash("sha256").update(key).digest("base64").replace(/=+$/, "");
    return `${type} SHA256:${hash}`;
  };
  let refusal: StepError | undefined;
  return {
    algorithms: algorithmsFor([...lines, ...others]),
    accept(key) {
      const exact = judgeHostKey(key.toBase64(), lines);
      const other = judgeHostKey(key.toBase64(), others);
      const verdict = exact.kind === "unknown" && other.kind !== "changed" ? other : exact;
      if (verdict.kind === "known") return true;
      refusal = explain(verdict, describeKey(typeOf(key), key));
      return false;
    },
    get refusal() {
      return refusal;
    },
  };

  function explain(verdict: Exclude<Verdict, { kind: "known" }>, shown: string): StepError {
    const { host, port } = endpoint;
    const address = placeOf(endpoint);
    const failing = `cannot connect to ssh at ${address}: host key verification failed`;
    if (verdict.kind === "revoked") {
      return new StepError(
        `${failing}: the host key ${shown} is revoked by ${verdict.by.location}`,
        "the server needs a new host key",
      );
    }
    if (verdict.kind === "changed") {
      const { key, type, location } = verdict.from;
      const bytes = bytesOf(key);
      const other = bytes ? describeKey(type, bytes) : "a key that is not complete";
      return new StepError(
        `${failing}: the host key has changed: it is ${shown}, and ${location} has ${other}`,
        "somebody may be intercepting the connection; if the server was set up anew, replace that line",
        { parameter: PARAMETER },
      );
    }
    const names = files.map(({ name }) => name);
    const have = names.length === 1 ? "has" : "have";
    const scan = `ssh-keyscan ${port === 22 ? host : `-p ${port} ${host}`} >> ${names[0]}`;
    return new StepError(
      `${failing}: the host key ${shown} is unknown; ${
        names.join(" and ")
      } ${have} no key of ${address}`,
      lines.some(({ marker }) => marker === "cert-authority")
        ? "certificates of hosts (@cert-authority) are not supported: add the key itself"
        : `compare the fingerprint with that of the server, then: ${scan}`,
      { parameter: PARAMETER },
    );
  }
}

/** The name of its type, with which a key begins. */
function typeOf(key: Uint8Array): string {
  const length = new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(0);
  return new TextDecoder().decode(key.subarray(4, 4 + length));
}

const USER_FILE = "~/.ssh/known_hosts";
const SYSTEM_FILE = "/etc/ssh/ssh_known_hosts";

interface KnownHostsFile {
  readonly text: string;
  /** Its path, for people. */
  readonly name: string;
}

async function readFiles(
  knownHosts: string | undefined,
  attempt: ActionAttempt,
): Promise<readonly KnownHostsFile[]> {
  const { host } = attempt.context;
  const read = async (name: string): Promise<KnownHostsFile> => {
    const path = homePath(name, host);
    return { text: await attempt.readText(path, PARAMETER, "the known hosts file"), name };
  };
  if (knownHosts !== undefined) {
    const isText = / AAAA[A-Za-z0-9+/]/.test(knownHosts);
    return [isText ? { text: knownHosts, name: PARAMETER } : await read(knownHosts)];
  }
  const files: KnownHostsFile[] = [];
  for (const name of [USER_FILE, SYSTEM_FILE]) {
    // A file without access fails when it is read.
    const exists = await host.files.isFile(homePath(name, host)).catch(() => true);
    if (exists) files.push(await read(name));
  }
  return files.length > 0 ? files : [{ text: "", name: USER_FILE }];
}

/** Reads the lines of a known_hosts file; what is not one is left out. */
export function parseKnownHosts(text: string, file: string): KnownHost[] {
  return text.split("\n").flatMap((line, index): KnownHost[] => {
    const [, marker, rest = ""] = /^(?:@(revoked|cert-authority)\s+)?(.*)$/s.exec(line.trim()) ??
      [];
    const [names, type, key] = rest.split(/\s+/);
    if (names === undefined || type === undefined || !key || /^[#@]/.test(names)) return [];
    const location = `${file}:${index + 1}`;
    return [{ marker: marker as KnownHost["marker"], names, type, key, location }];
  });
}

/** The bytes of a text in base64; undefined if it is not one, as in a line that was cut off. */
function bytesOf(base64: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(base64);
  } catch {
    return undefined;
  }
}

/** Lines about a host, whatever they say of it. */
export async function linesAbout(
  { host, port }: Endpoint,
  lines: readonly KnownHost[],
): Promise<KnownHost[]> {
  const { createHmac } = await import("node:crypto");
  const lower = host.toLowerCase();
  const name = port === 22 ? lower : `[${lower}]:${port}`;
  const isHashOf = (names: string) => {
    const [, salt, hash] = /^\|1\|([^|]*)\|([^|,]*)$/.exec(names) ?? [];
    const bytes = salt === undefined ? undefined : bytesOf(salt);
    return bytes !== undefined && createHmac("sha1", bytes).update(name).digest("base64") === hash;
  };
  return lines.filter(({ names }) =>
    names.startsWith("|") ? isHashOf(names) : fits(names.toLowerCase(), name)
  );
}

/** Whether a list of patterns has one for a name, and none with `!` for it. */
function fits(patterns: string, name: string): boolean {
  const list = patterns.split(",");
  const matches = (pattern: string) => wildcard(pattern).test(name);
  return list.some((one) => !one.startsWith("!") && matches(one)) &&
    !list.some((one) => one.startsWith("!") && matches(one.slice(1)));
}

/** `*` is anything and `?` one character; nothing else has a meaning. */
function wildcard(pattern: string): RegExp {
  const escaped = pattern.replace(/[\\^$.|+()[\]{}]/g, "\\$&");
  return new RegExp(`^${escaped.replaceAll("*", ".*").replaceAll("?", ".")}$`);
}

/** Judges a key, in base64, by the lines about its host. */
export function judgeHostKey(key: string, lines: readonly KnownHost[]): Verdict {
  const revoked = lines.find((line) => line.marker === "revoked" && line.key === key);
  if (revoked) return { kind: "revoked", by: revoked };
  const plain = lines.filter(({ marker }) => marker === undefined);
  if (plain.some((line) => line.key === key)) return { kind: "known" };
  const [from] = plain;
  return from ? { kind: "changed", from } : { kind: "unknown" };
}

/** Algorithms of host keys in the order of the library. */
const ALGORITHMS = [
  ...["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"],
  ...["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"],
];

/**
 * Algorithms, those first by which a host can prove that it has a key of the known types;
 * undefined if none is known.
 */
export function algorithmsFor(lines: readonly KnownHost[]): readonly string[] | undefined {
  const known = lines.filter(({ marker }) => marker === undefined).flatMap(({ type }) =>
    type === "ssh-rsa" ? ["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"] : [type]
  ).filter((name) => ALGORITHMS.includes(name));
  return known.length === 0 ? undefined : [...new Set([...known, ...ALGORITHMS])];
}
