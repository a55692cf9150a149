import type { Duplex } from "node:stream";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { addressOf, type Endpoint } from "../../action/net/endpoint.ts";
import { allow } from "../../action/target.ts";
import {
  type Client,
  type ClientError,
  type CredentialParams,
  type Credentials,
  loadSsh2,
  readCredentials,
  SignInMethods,
} from "./credentials.ts";
import { type HostKeyParams, type HostKeys, readHostKeys } from "./host_keys.ts";

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
  const address = addressOf(hop);
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
  const address = addressOf(hop);
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
