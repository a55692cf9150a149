import type { Socket } from "node:net";
import type { ImapFlow, ImapFlowError } from "imapflow";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { codeOf } from "../../action/net/endpoint.ts";
import type { Tls } from "../../action/tls/tls.ts";

export type {
  FetchMessageObject,
  FetchQueryObject,
  ImapFlow,
  ImapFlowError,
  MessageAddressObject,
  SearchObject,
} from "imapflow";

/** As whom to sign in, and when TLS begins. */
interface ImapSettings {
  readonly username: string;
  readonly password?: string;
  readonly access_token?: string;
  readonly security: "tls" | "starttls" | "none";
  readonly tls: Tls;
  /** Whether the certificate must be for the host. */
  readonly strict_host_check: boolean;
}

/** All waiting is bounded by the attempt; the timeouts of the library are out of the way. */
const NEVER = 86_400_000;

/** Milliseconds that a server has to answer LOGOUT. */
const GOODBYE = 1000;

const SPEAKS_TLS = "does the port speak TLS? write tls: true";

/** Connects and signs in. */
export async function openImap(
  settings: ImapSettings,
  attempt: ActionAttempt,
): Promise<ImapConnection> {
  const { security, username: user, password: pass, access_token: accessToken } = settings;
  const { host, port } = attempt.server;
  const tls = await attempt.secure(security !== "none" && settings.tls);
  const secure = tls && {
    ...tls,
    ...!settings.strict_host_check && { checkServerIdentity: () => undefined },
  };
  const { ImapFlow } = await import("imapflow");
  const { connect } = await import("node:net");
  const { secureSocket } = await import("../../action/tls/secure_socket.ts");
  const received = new Received();
  const client = new ImapFlow({
    host,
    port,
    secure: security === "tls",
    doSTARTTLS: security === "starttls",
    auth: { user, ...accessToken === undefined ? { pass } : { accessToken } },
    transport: {
      connect: (to, onConnect) =>
        to.secure
          ? secureSocket(secure!, { host, port }, onConnect)
          : connect({ host, port }, onConnect),
      upgrade: (socket, _, onSecure) =>
        secureSocket(secure!, { host, socket: socket as Socket }, onSecure),
    },
    clientInfo: { name: "runner" },
    logger: received.logger,
    // The library does not parse what came together with the end of the connection.
    logRaw: true,
    disableAutoIdle: true,
    connectionTimeout: NEVER,
    greetingTimeout: NEVER,
    socketTimeout: NEVER,
  });
  attempt.undo(() => client.close());
  // A command that is waiting reports the error itself.
  client.on("error", () => {});
  const connection = new ImapConnection(client, received, settings, attempt);
  await connection.signIn();
  return connection;
}

/** What the server sent. */
class Received {
  #last = "";
  #refusal: ImapFlowError | undefined;
  readonly #noGreeting = Promise.withResolvers<string>();
  /** Resolves with what the server sends in place of a greeting. */
  readonly noGreeting = this.#noGreeting.promise;

  /** The logger to which the library reports all that it receives, and refusals. */
  readonly logger = {
    trace: ({ src, data = "" }: { readonly src?: string; readonly data?: string }) => {
      if (src !== "s") return;
      if (this.#last === "" && data !== "" && !atob(data).startsWith("*")) {
        this.#noGreeting.resolve(atob(data).trimEnd());
      }
      this.#last = data;
    },
    debug: () => {},
    info: () => {},
    warn: (entry: { readonly err?: ImapFlowError }) => this.#note(entry),
    error: (entry: { readonly err?: ImapFlowError }) => this.#note(entry),
  };

  #note({ err }: { readonly err?: ImapFlowError }): void {
    this.#refusal = err ?? this.#refusal;
  }

  /** Returns the last refusal of the server, and clears it. */
  takeRefusal(): ImapFlowError | undefined {
    const taken = this.#refusal;
    this.#refusal = undefined;
    return taken;
  }

  /** The refusal at the end of the last response: `Too many connections (LIMIT)`. */
  get farewell(): string | undefined {
    // More is a mail, and no refusal.
    if (this.#last.length > 2000) return undefined;
    const line = atob(this.#last).trimEnd().split("\n").at(-1)!;
    const [, code, text] = /^\S+ (?:NO|BAD|BYE) (?:\[([^\]]+)\] *)?(.*)/.exec(line) ?? [];
    return code === undefined ? text : `${text} (${code})`;
  }
}

export class ImapConnection {
  #isSignedIn = false;

  /** `attempt` is the one that opens it. */
  constructor(
    readonly client: ImapFlow,
    readonly received: Received,
    readonly settings: ImapSettings,
    readonly attempt: ActionAttempt,
  ) {}

  async signIn(): Promise<void> {
    const { attempt, client, received, settings } = this;
    const { peer, signal } = attempt;
    const isWaiting = () => client.connectedAt !== null && client.greeting === undefined;
    const stage = () =>
      isWaiting()
        ? `waiting for the greeting of ${peer}`
        : client.greeting === undefined
        ? `connecting to ${peer}`
        : `signing in to ${peer}`;
    // The library would wait for a greeting on and on.
    const noGreeting = received.noGreeting.then((sent) => {
      throw new StepError(
        `cannot connect to ${peer}: it does not speak IMAP: it sent ${attempt.excerpt(sent)}`,
        "check the port: IMAP is at 143 or 993",
      );
    });
    try {
      await attempt.during(stage, Promise.race([client.connect(), noGreeting]));
      this.#isSignedIn = true;
    } catch (error) {
      if (!(error instanceof StepError)) {
        throw explainSignIn(error as ImapFlowError, settings.username, attempt) ??
          await this.explain(`cannot connect to ${peer}`, error);
      }
      if (!signal.aborted || !isWaiting() || settings.security === "tls") throw error;
      throw new StepError(error.message, SPEAKS_TLS, error.details);
    }
  }

  /** Why a command failed that the server did not refuse. */
  async explain(failing: string, error: unknown): Promise<StepError> {
    if (error instanceof StepError) return error;
    const { attempt, client, received, settings: { security } } = this;
    const code = codeOf(error);
    const isClosed = /^(NoConnection|EConnectionClosed|ClosedAfterConnect)/.test(code) ||
      this.#isSignedIn && !client.usable;
    if (!isClosed) return await attempt.explain(failing, error);
    const { farewell } = received;
    const reason = farewell ? `: ${farewell}` : code === "" ? "" : ` (${code})`;
    const hint = security === "tls" ? attempt.certificateHint : SPEAKS_TLS;
    return new StepError(
      `${failing}: it closed the connection${reason}`,
      farewell || this.#isSignedIn ? undefined : hint,
      { cause: `${attempt.address} closed the connection` },
    );
  }

  /** Signs out, and closes it. */
  async close(): Promise<void> {
    const { client } = this;
    if (!client.usable) return;
    const late = setTimeout(() => client.close(), GOODBYE);
    await client.logout().catch(() => {});
    clearTimeout(late);
    client.close();
  }
}

/** Whether the server refused a command, and the connection is as it was. */
export function isRefusal(error: unknown): error is ImapFlowError {
  return error instanceof Error && ("responseStatus" in error || "serverResponseCode" in error);
}

/** The response of the server that refused a command. */
export function refusalOf({ responseText, serverResponseCode, message }: ImapFlowError): string {
  const code = serverResponseCode ? ` (${serverResponseCode})` : "";
  return `${responseText ?? message}${code}`;
}

/** Codes of a refusal that has other reasons than the password. */
const NOT_THE_PASSWORD = /^(LIMIT|INUSE|UNAVAILABLE|CONTACTADMIN|SERVERBUG|PRIVACYREQUIRED)$/;

/** What the server says instead of letting the user in, or of starting TLS. */
function explainSignIn(
  error: ImapFlowError,
  username: string,
  { peer, certificateHint }: ActionAttempt,
): StepError | undefined {
  const { response, responseText = "", serverResponseCode: code = "", message } = error;
  if (error.authenticationFailed) {
    const said = typeof response === "string" ? response.replace(/^\S+ /, "") : "";
    const isOther = NOT_THE_PASSWORD.test(code);
    const reason = isOther ? refusalOf(error) : responseText || said || message;
    const hint = code === "PRIVACYREQUIRED"
      ? "write tls: true, or starttls: true"
      : /certificate/i.test(responseText) && certificateHint
      ? certificateHint
      : isOther
      ? undefined
      : 'check "username" and "password"';
    return new StepError(
      `cannot sign in to ${peer} as ${JSON.stringify(username)}: ${reason}`,
      hint,
    );
  }
  if (!/STARTTLS/.test(message) || !error.tlsFailed) return undefined;
  return new StepError(
    `cannot connect to ${peer}: it does not offer STARTTLS`,
    "leave out starttls, or write tls: true for a port that speaks TLS from the first byte",
  );
}
