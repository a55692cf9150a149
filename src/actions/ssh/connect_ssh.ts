import type { Channel, Client, ClientError } from "./ssh_library.ts";
import type { Duplex } from "node:stream";
import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { checkReach, openSocket } from "../../action/net/open_socket.ts";
import { onAbort } from "../../action/on_abort.ts";
import type { Login } from "./read_ssh.ts";
import { type Attempts, attemptsOf, type Proofs, readProofs } from "./read_proofs.ts";
import { loadSsh2 } from "./ssh_library.ts";
import { type HostCheck, hostCheck } from "./trust.ts";

/** A connection to a host, on which somebody is signed in. */
export interface SshConnection {
  readonly client: Client;
  /** Whether it is closed, so that the next step needs another. */
  readonly isLost: boolean;
  /** Why it was lost, if the library knows. */
  readonly error: unknown;
  /** Runs `act` each time that it is lost, until the result is called. */
  onLost(act: () => void): () => void;
  /** Closes it and those that lead to it. */
  close(): void;
  /** Ends it without a word to the server. */
  destroy(): void;
}

/** Connects, through other hosts where the step says so, and signs in. */
export async function connectSsh(login: Login, context: ActionContext): Promise<SshConnection> {
  // Loading it later would miss what becomes of the socket meanwhile.
  await loadSsh2();
  const proofs = await readProofs(login.credentials, context);
  const { host, port, user, jumps, trust } = login;
  let connection: SshConnection | undefined;
  try {
    for (const hop of [...jumps, { host, port, user }]) {
      const check = await hostCheck(hop, trust, context);
      const before = connection;
      const socket = before
        ? await forward(before, hop, context)
        : await openSocket(hop, undefined, context);
      connection = await signIn({ ...hop, socket, check, proofs, before }, context);
    }
    return connection!;
  } catch (error) {
    connection?.destroy();
    throw error;
  }
}

/** Connects to a host through another one. */
async function forward(
  { client }: SshConnection,
  hop: Endpoint,
  context: ActionContext,
): Promise<Channel> {
  await checkReach(hop, context);
  const { promise, resolve, reject } = Promise.withResolvers<Channel>();
  const forget = onAbort(context.signal, reject);
  client.forwardOut(
    "127.0.0.1",
    0,
    hop.host,
    hop.port,
    (error: ClientError | undefined | null, channel: Channel) =>
      error ? reject(error) : resolve(channel),
  );
  try {
    return await promise;
  } catch (error) {
    const doing = `cannot connect to ${placeOf(hop)} through the jump host`;
    if (error instanceof StepError) {
      throw new StepError(`${error.message} while connecting to ${placeOf(hop)}`, error.hint);
    }
    const words = error instanceof Error ? error.message.replace(/^\(SSH\) /, "") : String(error);
    throw new StepError(
      `${doing}: ${words}`,
      "the jump host resolves the name and has to allow forwarding (AllowTcpForwarding)",
    );
  } finally {
    forget();
  }
}

/** Milliseconds after which a quiet server is asked for a sign of life; it may miss three. */
const KEEP_ALIVE = 20_000;

interface SignIn extends Endpoint {
  readonly user: string;
  readonly socket: Duplex;
  readonly check: HostCheck;
  readonly proofs: Proofs;
  /** The connection that this one goes through. */
  readonly before: SshConnection | undefined;
}

async function signIn(given: SignIn, context: ActionContext): Promise<SshConnection> {
  const { socket, check, proofs, user, before } = given;
  const { Client } = await loadSsh2();
  const client = new Client();
  const attempts = attemptsOf(user, proofs);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let phase = "exchanging keys with";
  let agentError: ClientError | undefined;
  let isReady = false;
  let heard = "";
  client.on("ready", () => {
    isReady = true;
    resolve();
  });
  client.on("close", () => reject(new Error("the server closed the connection")));
  client.on("error", (error: ClientError) => {
    // Another method may still succeed.
    if (error.level === "agent") agentError = error;
    else reject(error);
  });
  const forget = onAbort(context.signal, reject);
  // Without it, each short packet waits for the acknowledgement of the one before.
  if ("setNoDelay" in socket) (socket as { setNoDelay(): void }).setNoDelay();
  try {
    client.connect({
      sock: socket,
      username: user,
      ...proofs.password === undefined ? {} : { password: proofs.password },
      ...proofs.key,
      ...proofs.agent === undefined ? {} : { agent: proofs.agent },
      readyTimeout: 0,
      // A server that is gone without a word would be waited for until the step ends.
      keepaliveInterval: KEEP_ALIVE,
      ...check.preferred.length === 0
        ? {}
        : { algorithms: { serverHostKey: algorithms(check.preferred) } },
      hostVerifier: (key: Uint8Array) => check.accepts(key),
      authHandler: (
        left: readonly string[] | null,
        _isPartial: boolean | null,
        next: (method: unknown) => void,
      ) => {
        phase = "signing in to";
        next(attempts.next(left));
      },
    });
    socket.once("data", (bytes: Uint8Array) => heard = new TextDecoder().decode(bytes));
    await promise;
    return toConnection(client, before);
  } catch (error) {
    client.destroy();
    socket.destroy();
    // Lines may come before the one by which a server names itself.
    const foreign = heard === "" || /^SSH-/m.test(heard)
      ? undefined
      : `it does not speak SSH: it sent ${JSON.stringify(excerpt(heard, context.secrets))}`;
    if (error instanceof StepError) {
      const doing = `${error.message} while ${phase} ${placeOf(given)}`;
      throw foreign === undefined
        ? new StepError(doing, error.hint)
        : new StepError(`${doing}: ${foreign}`, USUAL_PORT);
    }
    if (foreign !== undefined) throw new StepError(`${doingOf(given)}: ${foreign}`, USUAL_PORT);
    throw check.problem() ?? await explain(error, given, attempts, agentError, context);
  } finally {
    forget();
    if (!isReady) promise.catch(() => {});
  }
}

/** Algorithms of host keys, in the order of the library: preferred ones first. */
function algorithms(preferred: readonly string[]): string[] {
  const known = [
    ...["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"],
    ...["rsa-sha2-512", "rsa-sha2-256", "ssh-rsa"],
  ];
  const first = preferred.filter((name) => known.includes(name));
  return [...new Set([...first, ...known])];
}

function toConnection(client: Client, before: SshConnection | undefined): SshConnection {
  let isLost = false;
  let error: unknown;
  const waiting = new Set<() => void>();
  client.on("error", (one: ClientError) => error ??= one);
  client.on("close", () => {
    isLost = true;
    for (const act of waiting) act();
    before?.close();
  });
  return {
    client,
    get isLost() {
      return isLost;
    },
    get error() {
      return error;
    },
    onLost(act) {
      if (isLost) act();
      else waiting.add(act);
      return () => void waiting.delete(act);
    },
    close: () => client.end(),
    destroy() {
      client.destroy();
      before?.destroy();
    },
  };
}

const USUAL_PORT = "check the port: SSH is usually at 22";

function doingOf(given: SignIn): string {
  return `cannot connect to ssh at ${placeOf(given)}`;
}

async function explain(
  error: unknown,
  given: SignIn,
  attempts: Attempts,
  agentError: ClientError | undefined,
  context: ActionContext,
): Promise<StepError> {
  const doing = doingOf(given);
  const { level, message = "" } = error as Partial<ClientError>;
  if (level === "client-authentication") {
    const { tried, offered } = attempts;
    const agent = agentError ? `; the agent: ${agentError.message}` : "";
    const methods = [...new Set(tried)].join(" and ");
    return new StepError(
      `${doing}: sign-in of "${given.user}" failed${methods === "" ? "" : ` by ${methods}`}: ` +
        `permission denied (${offered.join(",")})${agent}`,
      hintFor(tried, offered),
      { parameter: given.proofs.key && tried.includes("publickey") ? "key_file" : "password" },
    );
  }
  if (/before handshake/.test(message)) {
    return new StepError(
      `${doing}: the server closed the connection before it named itself`,
      "it may have too many connections (MaxStartups), refuse this address, or not be an SSH server",
      { isClosed: true },
    );
  }
  if (level === "handshake" || level === "protocol") {
    return new StepError(`${doing}: ${message}`);
  }
  const { words, hint } = await explainConnection(error, given, context.host.clock);
  return new StepError(`${doing}: ${words}`, hint, { cause: words });
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
