import type SMTPConnection from "nodemailer/lib/smtp-connection";
import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { speakUntilTls } from "../../action/net/speak_until_tls.ts";
import { openSocket } from "../../action/net/open_socket.ts";
import { onAbort } from "../../action/on_abort.ts";
import { GIVE_CERTIFICATE } from "../../action/tls/explain_tls.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";
import type { Mail } from "./compose_mail.ts";
import { type Delivery, type MailError, refusalOf, rejections } from "./delivery.ts";

/** Where the server is, and how to talk to it. */
export interface MailServer extends Endpoint {
  /** TLS from the first byte. */
  readonly tls?: TlsOptions;
  /** The TLS options for STARTTLS; without them it is not used. */
  readonly starttls?: { readonly options: TlsOptions; readonly isRequired: boolean };
  /** The name of the client in EHLO. */
  readonly hostname: string;
  readonly auth?: MailAuth;
}

export interface MailAuth {
  readonly username: string;
  readonly password?: string;
  readonly accessToken?: string;
  readonly method?: string;
}

/** A connection that is signed in, and sends one mail at a time. */
export interface MailConnection {
  readonly isLost: boolean;
  /** Whether what was sent is protected by TLS. */
  readonly isSecure: boolean;
  send(mail: Mail, context: ActionContext): Promise<Delivery>;
  /** Makes it ready for another step; false if the server has closed it. */
  renew(context: ActionContext): Promise<boolean>;
  close(): Promise<void>;
}

/** All waiting is bounded by the attempt; the timeouts of the library are out of the way. */
const NEVER = 86_400_000;

/** Milliseconds after a mail in which nobody asks whether the server is still there. */
const FRESH = 1000;

/** Milliseconds that a server has to answer QUIT. */
const GOODBYE = 1000;

/** Connects, switches to TLS and signs in. */
export async function openMailConnection(
  server: MailServer,
  context: ActionContext,
): Promise<MailConnection> {
  const { default: Connection } = await import("nodemailer/lib/smtp-connection");
  const socket = await openSocket(server, server.tls, context);
  const replies = new Replies();
  const connection = new Connection({
    connection: socket,
    host: server.host,
    port: server.port,
    name: server.hostname,
    secure: server.tls !== undefined,
    secured: server.tls !== undefined,
    ...server.starttls
      ? { tls: { ...server.starttls.options }, requireTLS: server.starttls.isRequired }
      : { ignoreTLS: true },
    connectionTimeout: NEVER,
    greetingTimeout: NEVER,
    socketTimeout: NEVER,
    transactionLog: true,
    logger: replies.logger,
  });
  const talk = new Talk(connection, server, replies, socket);
  await talk.wait("connect", context, (done) => {
    // The library begins to listen a moment later, when a server may have closed it.
    socket.once("close", () => setTimeout(done, 0, new Error("Connection closed")));
    connection.connect(done);
  });
  const { auth } = server;
  if (auth) {
    if (!connection.allowsAuth) {
      talk.destroy();
      throw new StepError(
        `cannot sign in to the mail server at ${placeOf(server)}: it offers no sign-in (AUTH)`,
        connection.secure || server.starttls?.isRequired
          ? 'leave out "auth" if the server needs none'
          : "many servers offer it after STARTTLS only: starttls: true",
      );
    }
    await talk.wait("sign in", context, (done) => connection.login(loginOf(auth), done));
  }
  return {
    get isLost() {
      return connection.destroyed;
    },
    isSecure: connection.secure,
    send: (mail, context) => talk.send(mail, context),
    renew: (context) => talk.renew(context),
    close: () => talk.close(),
  };
}

function loginOf({ username, password, accessToken, method }: MailAuth) {
  return {
    user: username,
    ...password === undefined ? {} : { pass: password },
    ...method === undefined ? {} : { method: method.toUpperCase() },
    ...accessToken === undefined ? {} : {
      oauth2: {
        getToken: (_: boolean, done: (error: null, token: string) => void) =>
          done(null, accessToken),
        buildXOAuth2Token: (token: string) =>
          btoa(`user=${username}\u0001auth=Bearer ${token}\u0001\u0001`),
      } as never,
    },
  };
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

/** The dialogue up to where STARTTLS begins. */
const UNTIL_TLS = [
  { reply: /^220 [^\n]*\n/m, send: "EHLO localhost\r\n" },
  { reply: /^250 [^\n]*\n/m, send: "STARTTLS\r\n" },
  { reply: /^220 [^\n]*\n/m },
];

type Stage = "connect" | "sign in" | "send" | "renew";

/** The dialogue on one connection. */
class Talk {
  readonly #connection: SMTPConnection;
  readonly #server: MailServer;
  readonly #replies: Replies;
  readonly #socket: { destroy(): unknown };
  /** When the last mail was accepted for all, by the clock of the machine. */
  #acceptedAt = -Infinity;
  /** Whether a mail was refused, of which the server may wait for the rest. */
  #isOpen = false;

  constructor(
    connection: SMTPConnection,
    server: MailServer,
    replies: Replies,
    socket: { destroy(): unknown },
  ) {
    this.#connection = connection;
    this.#server = server;
    this.#replies = replies;
    this.#socket = socket;
    // A command reports errors while it waits; `isLost` reports the others.
    connection.on("error", () => {});
  }

  /** Waits for the library; its errors become those that users see. */
  async wait<T>(
    stage: Stage,
    context: ActionContext,
    start: (done: (error?: Error | null, value?: T) => void) => void,
  ): Promise<T> {
    try {
      return await this.#answer(stage, context, start);
    } catch (error) {
      this.destroy();
      throw error instanceof StepError ? error : await this.#explain(stage, error, context);
    }
  }

  async send({ from, to, bytes }: Mail, context: ActionContext): Promise<Delivery> {
    try {
      const envelope = { from, to: [...to], size: bytes.length, use8BitMime: true };
      const { Buffer } = await import("node:buffer");
      if (this.#isOpen) {
        await this.#answer("renew", context, (done) => this.#connection.reset(done));
        this.#isOpen = false;
      }
      const sent = await this.#answer<Sent>(
        "send",
        context,
        (done) => this.#connection.send(envelope, Buffer.from(bytes), done),
      );
      const rejected = rejections(sent.rejectedErrors);
      this.#acceptedAt = rejected.length === 0 ? performance.now() : -Infinity;
      return {
        accepted: sent.accepted,
        rejected,
        reply: sent.response,
        isSent: true,
      };
    } catch (error) {
      this.#acceptedAt = -Infinity;
      this.#isOpen = true;
      const refusal = refusalOf(error, from, to);
      if (refusal) return refusal;
      this.destroy();
      throw error instanceof StepError ? error : await this.#explain("send", error, context);
    }
  }

  async renew(context: ActionContext): Promise<boolean> {
    if (this.#connection.destroyed) return false;
    if (performance.now() - this.#acceptedAt < FRESH) return true;
    try {
      await this.#answer("renew", context, (done) => this.#connection.reset(done));
      this.#isOpen = false;
      return true;
    } catch (error) {
      this.destroy();
      if (error instanceof StepError) throw error;
      return false;
    }
  }

  async close(): Promise<void> {
    if (this.#connection.destroyed) return this.destroy();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#connection.once("end", resolve);
    const late = setTimeout(resolve, GOODBYE);
    this.#connection.quit();
    await promise;
    clearTimeout(late);
    this.destroy();
  }

  destroy(): void {
    this.#connection.close();
    const socket = this.#connection._socket;
    if (socket) socket.destroy();
    this.#socket.destroy();
  }

  async #answer<T>(
    stage: Stage,
    context: ActionContext,
    start: (done: (error?: Error | null, value?: T) => void) => void,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const forget = onAbort(context.signal, (reason) => {
      const phase = this.#phase(stage);
      const hint = reason.hint ??
        (phase.includes("the greeting") && !this.#server.tls
          ? "write tls: true for a port that speaks TLS from the first byte"
          : undefined);
      reject(new StepError(`${reason.message} ${phase}`, hint));
      this.destroy();
    });
    this.#connection.once("error", reject);
    try {
      start((error, value) => error ? reject(error) : resolve(value as T));
      return await promise;
    } finally {
      forget();
      this.#connection.off("error", reject);
    }
  }

  #phase(stage: Stage): string {
    const place = `the mail server at ${placeOf(this.#server)}`;
    const { next } = this.#replies;
    if (stage === "sign in") return `while signing in to ${place}`;
    if (this.#connection.upgrading) return `while starting TLS with ${place}`;
    const what = next === undefined ? stage === "connect" ? "the greeting" : "the mail" : undefined;
    return what === "the greeting"
      ? `while waiting for the greeting of ${place}`
      : `while waiting for the reply to ${what ?? next} from ${place}`;
  }

  async #explain(stage: Stage, given: unknown, context: ActionContext): Promise<StepError> {
    const error = given as MailError;
    const place = placeOf(this.#server);
    const doing = stage === "sign in"
      ? `cannot sign in to the mail server at ${place} as ${
        JSON.stringify(this.#server.auth?.username)
      }`
      : stage === "connect"
      ? `cannot connect to the mail server at ${place}`
      : `cannot send the mail by the mail server at ${place}`;
    const reply = error.response?.trim();
    if (stage === "sign in" && (reply || error.code === "EAUTH")) {
      return new StepError(`${doing}: ${reply ?? error.message}`, 'check "auth"');
    }
    if (reply && stage === "connect") return this.#explainReply(doing, reply, context);
    if (error.code === "ETLS" && !error.originalCode && reply === undefined) {
      return new StepError(`${doing}: the server closed the connection instead of starting TLS`);
    }
    if (/^Connection closed/.test(error.message) || error.code === "ECONNECTION") {
      const tls = this.#server.tls ?? this.#server.starttls?.options;
      const lacksCertificate = stage === "connect" && tls && !tls.cert;
      return new StepError(
        `${doing}: the server closed the connection ${this.#phase(stage)}`,
        lacksCertificate ? `it may want a client certificate; ${GIVE_CERTIFICATE}` : undefined,
        { cause: `${place} closed the connection` },
      );
    }
    const { originalCode } = error;
    const cause = originalCode
      ? Object.assign(new Error(error.message), { code: originalCode })
      : error;
    const { words, hint } = await explainConnection(
      cause,
      this.#server,
      context.host.clock,
      this.#server.starttls?.options ?? this.#server.tls,
      this.#server.starttls ? () => speakUntilTls(this.#server, UNTIL_TLS) : undefined,
    );
    return new StepError(`${doing}: ${words}`, hint, { cause: words });
  }

  /** The server has answered, but not with what lets the dialogue go on. */
  #explainReply(doing: string, reply: string, { secrets }: ActionContext): StepError {
    const shown = JSON.stringify(excerpt(reply, secrets));
    if (!/^\d{3}[ -]/.test(reply)) {
      return new StepError(
        `${doing}: it does not speak SMTP: it sent ${shown}`,
        "check the port: SMTP is at 25, 465 or 587",
      );
    }
    const isTls = this.#server.starttls?.isRequired && /^5\d\d/.test(reply);
    return isTls
      ? new StepError(
        `${doing}: it does not offer STARTTLS: ${reply}`,
        "leave out starttls, or write tls: true for a port that speaks TLS from the first byte",
      )
      : new StepError(`${doing}: it replied ${reply}`);
  }
}

interface Sent {
  readonly accepted: readonly string[];
  readonly rejectedErrors?: MailError["rejectedErrors"];
  readonly response: string;
}
