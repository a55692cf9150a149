import type { Socket } from "node:net";
import type {
  ConnectionOptions,
  Msg,
  MsgHdrs,
  NatsConnectionImpl,
  PermissionViolationError,
  ProtocolHandler,
  Status,
} from "@nats-io/nats-core/internal";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";
import { StepError } from "../../base/errors.ts";
import { bounded, lost, readInTurns } from "../broker/connection.ts";
import type { NatsParams } from "./nats_params.ts";

export type { Msg, MsgHdrs };

type Library = typeof import("@nats-io/nats-core/internal");

/** The time that the library gives what the step limits. */
const FOREVER = 2 ** 31 - 1;

/** Who waits for an answer of the server. */
interface Waiting {
  readonly fail: (error: Error) => void;
  /** What it publishes to. */
  readonly subject: string | undefined;
}

/**
 * A connection that all steps may use at the same time. The library speaks over a socket of ours,
 * whose bytes are parsed here, where errors can be caught.
 */
export class Client {
  readonly nats: NatsConnectionImpl;
  readonly makeHeaders: () => MsgHdrs;
  readonly #protocol: ProtocolHandler;
  /** What to call when the connection is over, or the server refuses a subject. */
  readonly #waiting = new Set<Waiting>();
  #cause: Error | undefined;

  constructor(readonly socket: Socket, library: Library, options: ConnectionOptions) {
    const { NatsConnectionImpl, ProtocolHandler, headers } = library;
    this.makeHeaders = headers;
    // Its constructor is private in the types alone.
    this.nats = Reflect.construct(NatsConnectionImpl, [options]);
    const protocol = this.#protocol = new ProtocolHandler(this.nats.options, this.nats);
    this.nats.protocol = protocol;
    const end = (error?: Error) => this.#end(error ?? protocol.lastError ?? lost());
    protocol.transport = {
      lang: "nats.js",
      version: "3.4.0",
      isEncrypted: () => false,
      // The library uses the buffer again.
      send: (frame: Uint8Array) => socket.write(frame.slice()),
      close: end,
      disconnect: end,
    } as unknown as ProtocolHandler["transport"];
    protocol.listeners.push(
      {
        push: (status: Status) => this.#notice(status),
        stop() {},
      } as unknown as ProtocolHandler["listeners"][number],
    );
  }

  /** Signs in, once the server has greeted. */
  async signIn(greeting: Uint8Array, pong: Library["deferred"]): Promise<void> {
    const [protocol, { socket }] = [this.#protocol, this];
    const signedIn = pong<void>();
    protocol.pongs.push(signedIn);
    protocol.connectError = (error) => signedIn.reject(error);
    socket.on("close", () => this.#end(protocol.lastError ?? socket.errored ?? lost()));
    readInTurns(socket, bounded((chunk) => this.#parse(chunk)));
    this.#parse(greeting);
    socket.resume();
    await this.ask(signedIn);
    protocol.connectError = undefined;
    protocol.connected = true;
    protocol.heartbeats.start();
  }

  get isLost(): boolean {
    return this.#cause !== undefined;
  }

  /** Calls `fail` when the connection is over. The result ends that. */
  watch(fail: (error: Error) => void, subject?: string): () => void {
    const one: Waiting = { fail, subject };
    this.#waiting.add(one);
    if (this.#cause) fail(this.#cause);
    return () => void this.#waiting.delete(one);
  }

  /** Waits for a promise, or for the end of the connection, or of the right to the subject. */
  async ask<T>(promise: Promise<T>, subject?: string): Promise<T> {
    const ended = Promise.withResolvers<never>();
    const forget = this.watch(ended.reject, subject);
    return await Promise.race([promise, ended.promise]).finally(forget);
  }

  /** Waits until the server has read all that was sent. */
  async flush(subject?: string): Promise<void> {
    await this.ask(this.nats.flush(), subject);
  }

  /** Publishes a message and waits for the reply. */
  async request(subject: string, content: Uint8Array | string, headers?: MsgHdrs): Promise<Msg> {
    const options = { timeout: FOREVER, ...headers && { headers } };
    return await this.ask(this.nats.request(subject, content, options), subject);
  }

  /** Calls JetStream, whose errors are thrown with their code. */
  async call<T>(subject: string, content: object | Uint8Array, headers?: MsgHdrs): Promise<T> {
    const bytes = content instanceof Uint8Array ? content : JSON.stringify(content);
    const reply = await this.request(subject, bytes, headers);
    const answer = reply.json<T & { error?: { code: number; description: string } }>();
    if (!answer.error) return answer;
    throw Object.assign(new Error(answer.error.description), { status: answer.error.code });
  }

  async close(): Promise<void> {
    this.#cause ??= new Error("the connection is closed");
    await this.nats.close();
  }

  /** The server refuses a subject. */
  #notice(status: Status): void {
    if (status.type !== "error" || !("subject" in status.error)) return;
    const { subject, operation } = status.error as PermissionViolationError;
    if (operation !== "publish") return;
    for (const one of this.#waiting) if (one.subject === subject) one.fail(status.error);
  }

  /** Returns how many messages have come. */
  #parse(bytes: Uint8Array): number {
    try {
      this.#protocol.parser.parse(bytes);
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`it answers, but not as a NATS server (${message.slice(0, 100)})`);
    }
    return this.#protocol.inMsgs;
  }

  #end(error: Error): void {
    this.#cause ??= error;
    for (const { fail } of this.#waiting) fail(this.#cause);
    this.socket.destroy();
    void this.#protocol.close(error);
  }
}

/** Connects to a server and signs in. */
export async function openNats(
  { url, tls = {}, token, nkey }: NatsParams,
  attempt: ActionAttempt,
): Promise<Client> {
  const options = await attempt.secure(url.isSecure ? tls : undefined);
  const { default: library } = await import("@nats-io/nats-core/internal");
  const plain = await attempt.socket();
  plain.setNoDelay(true);
  const greeting = await attempt.during(
    `waiting for the greeting of ${attempt.peer}`,
    readGreeting(plain),
  );
  const socket = await secured(plain, greeting, options, attempt);
  const { username, password } = url;
  const seed = new TextEncoder().encode(nkey);
  const client = new Client(socket, library, {
    name: "runner",
    reconnect: false,
    ignoreClusterUpdates: true,
    noAsyncTraces: true,
    ...password !== "" && { user: username, pass: password },
    ...token !== undefined && { token },
    ...nkey !== undefined && { authenticator: library.nkeyAuthenticator(seed) },
  });
  await client.signIn(greeting, library.deferred);
  return client;
}

/** What the server says first: a line, by which it may want TLS. */
async function readGreeting(socket: Socket): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  let said = new Uint8Array();
  const read = (chunk: Uint8Array) => {
    said = new Uint8Array([...said, ...chunk]);
    const isLong = said.length > 65_536;
    if (!isLong && !said.includes(10)) return;
    const isServer = !isLong && new TextDecoder().decode(said).startsWith("INFO {");
    isServer ? resolve(said) : reject(new Error("it answers, but not as a NATS server"));
  };
  const close = () => reject(socket.errored ?? lost());
  socket.on("data", read).on("close", close);
  if (socket.destroyed) close();
  return await promise.finally(() => {
    socket.off("data", read).off("close", close);
    socket.pause();
  });
}

/** The socket after the TLS handshake, if there is one. */
async function secured(
  socket: Socket,
  greeting: Uint8Array,
  options: TlsOptions | undefined,
  attempt: ActionAttempt,
): Promise<Socket> {
  const text = new TextDecoder().decode(greeting);
  const mayBeSecure = /"tls_(required|available)":\s*true/.test(text);
  if (!options) {
    if (!/"tls_required":\s*true/.test(text)) return socket;
    throw new StepError(`${attempt.address} wants TLS`, "write tls:// in place of nats://");
  }
  if (!mayBeSecure) throw new StepError(`${attempt.address} has no TLS`, "write nats:// for none");
  const { secureSocket } = await import("../../action/tls/secure_socket.ts");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const secure = secureSocket(options, { host: attempt.server.host, socket }, resolve);
  secure.on("error", reject).on("close", () => reject(secure.errored ?? lost()));
  attempt.undo(() => secure.destroy());
  await attempt.during(`in the TLS handshake with ${attempt.peer}`, promise);
  return secure;
}
