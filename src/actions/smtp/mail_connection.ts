import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { MailSecurity } from "./mail_params.ts";

/** Where the server is, and how to talk to it. */
export interface MailServer extends MailSecurity {
  readonly host: string;
  readonly port: number;
  /** The name of the client in EHLO. */
  readonly hostname: string;
  readonly auth?: {
    readonly username: string;
    readonly password?: string;
    readonly access_token?: string;
    readonly method?: string;
  };
}

/** A mail as it is sent, with its sender and recipients. */
export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** The server's replies about a mail. */
export interface Delivery {
  readonly accepted: readonly string[];
  readonly rejected: readonly Rejection[];
  /** Its reply to the mail, or the one that refuses it. */
  readonly reply: string;
  readonly isSent: boolean;
}

/** A recipient, or the sender, that the server refused. */
interface Rejection {
  readonly address: string;
  readonly reply: string;
}

interface MailError extends Error {
  readonly code?: string;
  /** The command that the server has answered. */
  readonly command?: string;
  readonly originalCode?: string;
  readonly response?: string;
  readonly rejectedErrors?: readonly (MailError & { readonly recipient?: string })[];
}

/** Connections to one server. Each serves one session at a time. */
export class ConnectionPool {
  readonly #idle: MailConnection[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /**
   * Passes a connection to `use`: one that is idle, or a new one as long as fewer than `max` are
   * busy. Otherwise it waits for one.
   */
  async with(
    max: number,
    attempt: ActionAttempt,
    open: () => Promise<MailConnection>,
    use: (connection: MailConnection) => Promise<void>,
  ): Promise<void> {
    while (this.#busy >= max) {
      const free = new Promise<void>((resolve) => this.#waiting.push(resolve));
      await attempt.during(`waiting for a connection to ${attempt.peer}`, free);
    }
    this.#busy++;
    try {
      const connection = await this.#take(attempt) ?? await open();
      try {
        await use(connection);
      } finally {
        if (!connection.isLost) this.#idle.push(connection);
      }
    } finally {
      this.#busy--;
      this.#waiting.shift()?.();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  async #take(attempt: ActionAttempt): Promise<MailConnection | undefined> {
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      if (await last.renew(attempt)) return last;
    }
    return undefined;
  }
}

/** All waiting is bounded by the attempt; the timeouts of the library are out of the way. */
const NEVER = 86_400_000;

/** Connects, switches to TLS and signs in. */
export async function openMail(
  server: MailServer,
  attempt: ActionAttempt,
): Promise<MailConnection> {
  const { default: Connection } = await import("nodemailer/lib/smtp-connection");
  const implicit = await attempt.secure(server.tls);
  const later = server.starttls && await attempt.secure(server.starttls.tls);
  const socket = await attempt.socket(implicit);
  const replies = new Replies();
  const library = new Connection({
    connection: socket,
    host: server.host,
    port: server.port,
    name: server.hostname,
    secure: implicit !== undefined,
    secured: implicit !== undefined,
    ...later ? { tls: { ...later }, requireTLS: server.starttls!.isRequired } : { ignoreTLS: true },
    connectionTimeout: NEVER,
    greetingTimeout: NEVER,
    socketTimeout: NEVER,
    transactionLog: true,
    logger: replies.logger,
  });
  const connection = new MailConnection(library, server, replies, socket);
  await connection.connect(attempt);
  await connection.signIn(attempt);
  return connection;
}

/** The commands that the server has not answered yet. */
class Replies {
  readonly #waiting: string[] = [];

  /** The logger to which the library reports its commands and the replies. */
  readonly logger = {
    trace: () => {},
    debug: (entry: { readonly tnx?: string }, text?: string) => {
      if (entry.tnx === "server") this.#waiting.shift();
      if (entry.tnx === "client") this.#waiting.push(/^[\w-]+/.exec(String(text))?.[0] ?? "AUTH");
    },
    info: () => {},
    warn: () => {},
    error: () => {},
    fatal: () => {},
  };

  /** The command that the server answers next. */
  get next(): string | undefined {
    return this.#waiting[0];
  }
}

type Stage = "connect" | "sign in" | "send" | "renew";

type Done<T = unknown> = (error?: Error | null, value?: T) => void;

interface Sent {
  readonly accepted: readonly string[];
  readonly rejectedErrors?: MailError["rejectedErrors"];
  readonly response: string;
}

/** Milliseconds after a mail during which the connection is used without a check. */
const FRESH = 1000;

/** Milliseconds that a server has to answer QUIT. */
const GOODBYE = 1000;

/** A connection that is signed in, and sends one mail at a time. */
class MailConnection {
  /** When the last mail was accepted for all, by the clock of the machine. */
  #acceptedAt = -Infinity;
  /** Whether a mail was refused while the server may wait for the rest of it. */
  #isOpen = false;

  constructor(
    readonly library: SMTPConnection,
    readonly server: MailServer,
    readonly replies: Replies,
    readonly socket: { destroy(): unknown; once(event: "close", listener: () => void): unknown },
  ) {
    // A command reports errors while it waits; `isLost` reports the others.
    library.on("error", () => {});
  }

  get isLost(): boolean {
    return this.library.destroyed;
  }

  /** Whether what was sent is protected by TLS. */
  get isSecure(): boolean {
    return this.library.secure;
  }

  async connect(attempt: ActionAttempt): Promise<void> {
    await this.#orDestroy("connect", attempt, (done) => {
      // The library begins to listen a moment later, when a server may have closed it.
      this.socket.once("close", () => setTimeout(done, 0, new Error("Connection closed")));
      this.library.connect(done);
    });
  }

  async signIn(attempt: ActionAttempt): Promise<void> {
    const { auth, starttls } = this.server;
    if (!auth) return;
    if (!this.library.allowsAuth) {
      this.#destroy();
      throw new StepError(
        `cannot sign in to ${attempt.peer}: it offers no sign-in (AUTH)`,
        this.isSecure || starttls?.isRequired
          ? 'leave out "auth" if the server needs none'
          : "many servers offer it after STARTTLS only: starttls: true",
      );
    }
    const { username, password, access_token: token, method } = auth;
    await this.#orDestroy("sign in", attempt, (done) =>
      this.library.login({
        user: username,
        pass: password,
        method: method?.toUpperCase(),
        ...token !== undefined && {
          oauth2: {
            getToken: (_: boolean, done: (error: null, token: string) => void) => done(null, token),
            buildXOAuth2Token: (token: string) =>
              btoa(`user=${username}\u0001auth=Bearer ${token}\u0001\u0001`),
          } as never,
        },
      }, done));
  }

  async send({ from, to, bytes }: Mail, attempt: ActionAttempt): Promise<Delivery> {
    try {
      const envelope = { from, to: [...to], size: bytes.length, use8BitMime: true };
      const { Buffer } = await import("node:buffer");
      if (this.#isOpen) {
        await this.#wait("renew", attempt, (done) => this.library.reset(done));
        this.#isOpen = false;
      }
      const { accepted, rejectedErrors, response } = await this.#wait<Sent>(
        "send",
        attempt,
        (done) => this.library.send(envelope, Buffer.from(bytes), done),
      );
      const rejected = rejections(rejectedErrors);
      this.#acceptedAt = rejected.length === 0 ? performance.now() : -Infinity;
      return { accepted, rejected, reply: response, isSent: true };
    } catch (error) {
      this.#acceptedAt = -Infinity;
      this.#isOpen = true;
      const refusal = refusalOf(error, from, to);
      if (refusal) return refusal;
      this.#destroy();
      throw await this.#explain("send", error, attempt);
    }
  }

  /** Makes it ready for another step; false if the server has closed it. */
  async renew(attempt: ActionAttempt): Promise<boolean> {
    if (this.isLost) return false;
    if (performance.now() - this.#acceptedAt < FRESH) return true;
    try {
      await this.#wait("renew", attempt, (done) => this.library.reset(done));
      this.#isOpen = false;
      return true;
    } catch (error) {
      this.#destroy();
      if (error instanceof StepError) throw error;
      return false;
    }
  }

  async close(): Promise<void> {
    if (this.isLost) return this.#destroy();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.library.once("end", resolve);
    const late = setTimeout(resolve, GOODBYE);
    this.library.quit();
    await promise;
    clearTimeout(late);
    this.#destroy();
  }

  #destroy(): void {
    this.library.close();
    const { _socket: upgraded } = this.library;
    if (upgraded) upgraded.destroy();
    this.socket.destroy();
  }

  async #orDestroy(
    stage: Stage,
    attempt: ActionAttempt,
    start: (done: Done) => void,
  ): Promise<void> {
    try {
      await this.#wait(stage, attempt, start);
    } catch (error) {
      this.#destroy();
      throw await this.#explain(stage, error, attempt);
    }
  }

  async #wait<T>(stage: Stage, attempt: ActionAttempt, start: (done: Done<T>) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.library.once("error", reject);
    start((error, value) => error ? reject(error) : resolve(value as T));
    try {
      return await attempt.during(() => this.#phase(stage, attempt), promise);
    } catch (error) {
      const isGreeting = attempt.signal.aborted && stage === "connect" && !this.replies.next;
      if (!isGreeting || this.server.tls || !(error instanceof StepError)) throw error;
      const hint = "write tls: true for a port that speaks TLS from the first byte";
      throw new StepError(error.message, error.hint ?? hint, error.details);
    } finally {
      this.library.off("error", reject);
    }
  }

  #phase(stage: Stage, { peer }: ActionAttempt): string {
    const { next } = this.replies;
    if (stage === "sign in") return `signing in to ${peer}`;
    if (this.library.upgrading) return `starting TLS with ${peer}`;
    if (next === undefined && stage === "connect") return `waiting for the greeting of ${peer}`;
    return `waiting for the reply to ${next ?? "the mail"} from ${peer}`;
  }

  async #explain(stage: Stage, cause: unknown, attempt: ActionAttempt): Promise<StepError> {
    if (cause instanceof StepError) return cause;
    const error = cause as MailError;
    const { peer, address } = attempt;
    const failing = stage === "sign in"
      ? `cannot sign in to ${peer} as ${JSON.stringify(this.server.auth?.username)}`
      : stage === "connect"
      ? `cannot connect to ${peer}`
      : `cannot send the mail by ${peer}`;
    const reply = error.response?.trim();
    if (stage === "sign in" && (reply || error.code === "EAUTH")) {
      return new StepError(`${failing}: ${reply ?? error.message}`, 'check "auth"');
    }
    if (reply && stage === "connect") return this.#explainReply(failing, reply, attempt);
    if (error.code === "ETLS" && !error.originalCode && reply === undefined) {
      return new StepError(`${failing}: the server closed the connection instead of starting TLS`);
    }
    if (/^Connection closed/.test(error.message) || error.code === "ECONNECTION") {
      return new StepError(
        `${failing}: the server closed the connection while ${this.#phase(stage, attempt)}`,
        stage === "connect" ? attempt.certificateHint : undefined,
        { cause: `${address} closed the connection`, isClosed: true },
      );
    }
    const { originalCode: code = error.code } = error;
    return await attempt.explain(failing, Object.assign(error, { code }));
  }

  /** The server has answered, but not with what lets the dialogue go on. */
  #explainReply(failing: string, reply: string, attempt: ActionAttempt): StepError {
    if (!/^\d{3}[ -]/.test(reply)) {
      return new StepError(
        `${failing}: it does not speak SMTP: it sent ${attempt.excerpt(reply)}`,
        "check the port: SMTP is at 25, 465 or 587",
      );
    }
    if (!this.server.starttls?.isRequired || !/^5\d\d/.test(reply)) {
      return new StepError(`${failing}: it replied ${reply}`);
    }
    return new StepError(
      `${failing}: it does not offer STARTTLS: ${reply}`,
      "leave out starttls, or write tls: true for a port that speaks TLS from the first byte",
    );
  }
}

/** The recipients that the server refused, and its replies. */
function rejections(errors: MailError["rejectedErrors"] = []): Rejection[] {
  return errors.map(({ recipient: address = "", response = "" }) => ({
    address,
    reply: response.trim(),
  }));
}

/** The server's reply if it refused a mail; undefined if there was none. */
function refusalOf(error: unknown, from: string, to: readonly string[]): Delivery | undefined {
  if (!(error instanceof Error) || error instanceof StepError) return undefined;
  const { response, code, command, message, rejectedErrors } = error as MailError;
  const isTooLarge = code === "EMESSAGE" && response === undefined;
  if (response === undefined && !isTooLarge) return undefined;
  const reply = response?.trim() ?? message;
  const rejected = rejections(rejectedErrors);
  const refused = command === "MAIL FROM" && response !== undefined ? [from] : to;
  return {
    accepted: [],
    rejected: rejected.length > 0 ? rejected : refused.map((address) => ({ address, reply })),
    reply,
    isSent: false,
  };
}
