import type { Socket } from "node:net";
import type {
  Msg,
  MsgHdrs,
  NatsConnectionImpl,
  PermissionViolationError,
  Status,
  Transport,
} from "@nats-io/nats-core/internal";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";
import { StepError } from "../../base/errors.ts";
import { BODY_LIMIT } from "../../base/value/byte_size.ts";
import type { NatsParams } from "./nats_params.ts";

export type { Msg, MsgHdrs };

/** The time that the library gives what the step limits. */
const FOREVER = 2 ** 31 - 1;

/** The bytes that are read before others get a turn. */
const TURN_BYTES = 65_536;

/** Who waits for an answer of the server. */
interface Waiting {
  readonly fail: (error: Error) => void;
  /** What it publishes to. */
  readonly subject: string | undefined;
}

/** A connection that is signed in, which all steps may use at the same time. */
export class Client {
  /** What to call when the connection is over, or the server refuses a subject. */
  readonly #waiting = new Set<Waiting>();
  #cause: Error | undefined;

  constructor(readonly nats: NatsConnectionImpl, readonly makeHeaders: () => MsgHdrs) {
    nats.protocol.listeners.push(
      {
        push: (status: Status) => {
          if (status.type !== "error" || !("subject" in status.error)) return;
          const { subject, operation } = status.error as PermissionViolationError;
          if (operation !== "publish") return;
          for (const one of this.#waiting) if (one.subject === subject) one.fail(status.error);
        },
        stop() {},
        iterClosed: Promise.resolve(),
      } as unknown as NatsConnectionImpl["protocol"]["listeners"][number],
    );
    nats.closed().then((error) => {
      this.#cause ??= error ?? lost();
      for (const { fail } of this.#waiting) fail(this.#cause);
    });
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
    const { promise, resolve, reject } = Promise.withResolvers<Msg>();
    const inbox = `_INBOX.${crypto.randomUUID()}`;
    const subscription = this.nats.subscribe(inbox, {
      callback: (error, message) => error ? reject(error) : resolve(message),
    });
    try {
      this.nats.publish(subject, content, { reply: inbox, ...headers && { headers } });
      const message = await this.ask(promise, subject);
      if (message.data.length > 0 || message.headers?.code !== 503) return message;
      throw new Error(`no responders: nobody has subscribed to "${subject}"`);
    } finally {
      subscription.unsubscribe();
    }
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
}

function lost(): Error {
  return Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" });
}

/** Connects to a server and signs in. */
export async function openNats(
  { url, tls = {}, token, nkey }: NatsParams,
  attempt: ActionAttempt,
): Promise<Client> {
  const options = await attempt.secure(url.isSecure ? tls : undefined);
  const { default: library } = await import("@nats-io/nats-core/internal");
  const { NatsConnectionImpl, nkeyAuthenticator, ProtocolHandler, setTransportFactory } = library;
  const plain = await attempt.socket();
  plain.setNoDelay(true);
  const greeting = await attempt.during(
    `waiting for the greeting of ${attempt.peer}`,
    readGreeting(plain),
  );
  const socket = await secured(plain, greeting, options, attempt);
  const { username, password } = url;
  // Its constructor is private in the types alone.
  const nats: NatsConnectionImpl = Reflect.construct(NatsConnectionImpl, [{
    servers: [`${url.host.includes(":") ? `[${url.host}]` : url.host}:${url.port}`],
    name: "runner",
    reconnect: false,
    ignoreClusterUpdates: true,
    resolve: false,
    timeout: FOREVER,
    ...password !== "" && { user: username, pass: password },
    ...token !== undefined && { token },
    ...nkey !== undefined && { authenticator: nkeyAuthenticator(new TextEncoder().encode(nkey)) },
  }]);
  const protocol = nats.protocol = new ProtocolHandler(nats.options, nats);
  const transport = new SocketTransport(socket, options !== undefined, (bytes) => {
    protocol.parser.parse(bytes);
    return protocol.inMsgs;
  });
  // All connections of the library have one factory: it is set in the turn that uses it.
  const dialed = protocol as unknown as { prepare: () => Promise<void> };
  const prepare = dialed.prepare.bind(protocol);
  dialed.prepare = () => {
    setTransportFactory({ factory: () => transport });
    return prepare();
  };
  attempt.undo(() => void protocol.close().catch(() => {}));
  const dialing = protocol.dialLoop();
  await transport.opened;
  transport.begin(greeting);
  await dialing.catch((error) => {
    throw transport.closeError ?? error;
  });
  return new Client(nats, library.headers);
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

/** The library over a socket of ours. What it gets is parsed here, where errors can be caught. */
class SocketTransport implements Transport {
  readonly lang = "nats.js";
  readonly version = "3.4.0";
  isClosed = false;
  closeError?: Error;
  readonly #opened = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void | Error>();
  #messages = 0;
  #pending = 0;
  #turn = 0;

  constructor(
    readonly socket: Socket,
    readonly isSecure: boolean,
    /** Parses bytes, and returns how many messages have come. */
    readonly parse: (bytes: Uint8Array) => number,
  ) {}

  /** Resolves when the library is ready for bytes. */
  get opened(): Promise<void> {
    return this.#opened.promise;
  }

  connect(): Promise<void> {
    this.#opened.resolve();
    return Promise.resolve();
  }

  /** Reads on, after what was read already. */
  begin(greeting: Uint8Array): void {
    const { socket } = this;
    socket.on("data", (bytes: Uint8Array) => this.#read(bytes));
    socket.on("close", () => this.#end(socket.errored ?? lost()));
    this.#read(greeting);
    if (socket.destroyed) this.#end(socket.errored ?? lost());
    else socket.resume();
  }

  #read(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.#pending += bytes.length;
    this.#turn += bytes.length;
    if (this.#turn > TURN_BYTES) this.#rest();
    try {
      const messages = this.parse(bytes);
      if (messages > this.#messages) this.#pending = 0;
      this.#messages = messages;
    } catch (error) {
      const { message } = error as Error;
      this.#end(new Error(`it answers, but not as a NATS server (${message.slice(0, 100)})`));
    }
    if (this.#pending <= BODY_LIMIT) return;
    this.#end(new Error(`the server sent a message of more than ${BODY_LIMIT} bytes`));
  }

  /** Gives timers and other connections a turn. */
  #rest(): void {
    this.#turn = 0;
    this.socket.pause();
    setTimeout(() => this.isClosed || this.socket.resume());
  }

  #end(error?: Error): void {
    if (this.isClosed) return;
    this.isClosed = true;
    if (error) this.closeError = error;
    this.socket.destroy();
    this.#closed.resolve(error);
  }

  /** The library reads nothing by itself. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    return {
      next: () => this.#closed.promise.then(() => ({ done: true, value: undefined })),
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  isEncrypted(): boolean {
    return this.isSecure;
  }

  send(frame: Uint8Array): void {
    // The library uses the buffer again.
    if (!this.isClosed) this.socket.write(frame.slice());
  }

  close(error?: Error): Promise<void> {
    this.#end(error);
    return Promise.resolve();
  }

  disconnect(): void {
    this.#end();
  }

  closed(): Promise<void | Error> {
    return this.#closed.promise;
  }

  discard(): void {
    this.#end();
  }
}
