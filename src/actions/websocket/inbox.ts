import { StepError } from "../../base/errors.ts";
import type { ActionContext, SecretSink, Value } from "../../action/action.ts";
import { Intake } from "../../action/intake.ts";
import { onAbort } from "../../action/on_abort.ts";
import { type Message, messageText, readMessage } from "./messages.ts";
import { MAX_BYTES, type WebSocket } from "./open_websocket.ts";

/** The closure of a WebSocket. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
}

/** The time that the other side may take to close, in milliseconds. */
const LONGEST_CLOSE = 1000;

/** The time that it may take if the step has failed. */
const LONGEST_LEAVE = 200;

/** When that many messages wait to be taken, the socket is not read on. */
const MAX_WAITING = 500;

/** The state of a WebSocket that is open. */
const OPEN = 1;

/** The code of a client that leaves. */
const GOING_AWAY = 1001;

/** Collects the messages of a WebSocket, and waits for the next one. */
export class Inbox {
  /** All messages that were taken, as steps see them. */
  readonly values: Value[] = [];
  closed: Closed | undefined;
  readonly #context: ActionContext;
  /** Received messages. The first `#taken` were taken: `shift()` would move the rest. */
  #arrived: Message[] = [];
  #taken = 0;
  #socket: WebSocket | undefined;
  readonly #intake: Intake;
  #failure: StepError | undefined;
  #wake = () => {};

  constructor(context: ActionContext, readonly url: string) {
    this.#context = context;
    this.#intake = new Intake(MAX_BYTES, `"${url}" sent more than ${MAX_BYTES} bytes`);
  }

  /** The last message that was taken. */
  get last(): Value {
    return this.values.at(-1) ?? null;
  }

  get secrets(): SecretSink {
    return this.#context.secrets;
  }

  /** The number of messages that were taken. */
  get count(): number {
    return this.values.length;
  }

  /** Listens to a socket in place of one that was refused before, which may still be closed. */
  listen(socket: WebSocket): void {
    this.closed = undefined;
    this.#socket = socket;
    socket.on("message", (data: Uint8Array, isBinary: boolean) => {
      if (this.#failure) return;
      try {
        this.#intake.add(data.length);
      } catch (error) {
        this.#fail(error as StepError);
        return socket.terminate();
      }
      this.#arrived.push(readMessage(data, isBinary));
      if (this.#arrived.length >= MAX_WAITING) socket.pause();
      this.#wake();
    });
    socket.on("error", (error: Error) => {
      const code = "code" in error ? String(error.code) : "";
      // The connection is lost otherwise, which the code of the closure says.
      if (!code.startsWith("WS_ERR_") || socket !== this.#socket) return;
      this.#fail(new StepError(`"${this.url}" sent what is not valid: ${error.message} (${code})`));
    });
    socket.on("close", (code: number, reason: Uint8Array) => {
      if (socket !== this.#socket) return;
      this.closed = { code, reason: new TextDecoder().decode(reason) };
      this.#wake();
    });
  }

  /** The next message; undefined if the connection is closed. `what` is waited for. */
  async next(what: string, notes: () => string): Promise<Message | undefined> {
    for (;;) {
      const message = this.#arrived[this.#taken++];
      if (message) {
        this.values.push(message.value);
        if (this.#intake.isDue) await this.#orStopped(this.#intake.rest(), what, notes);
        return message;
      }
      this.#arrived = [];
      this.#taken = 0;
      if (this.#failure) throw this.#failure;
      if (this.closed) return undefined;
      this.#socket?.resume();
      await this.#orStopped(this.#changed(), what, notes);
    }
  }

  /** Closes the connection, unless it is closed, and says how it was. */
  async close(socket: WebSocket): Promise<Closed> {
    const limit = this.#context.deadline.after(LONGEST_CLOSE, () => socket.terminate());
    const forget = onAbort(this.#context.signal, () => socket.terminate());
    socket.resume();
    socket.close(1000);
    while (!this.closed) await this.#changed();
    limit.cancel();
    forget();
    return this.closed;
  }

  /** Leaves after a failure. The other side has little time to see that. */
  async leave(socket: WebSocket): Promise<void> {
    if (socket.readyState === OPEN) {
      const limit = this.#context.deadline.after(LONGEST_LEAVE, () => socket.terminate());
      socket.resume();
      socket.close(GOING_AWAY);
      while (!this.closed) await this.#changed();
      limit.cancel();
    }
    socket.terminate();
  }

  #fail(error: StepError): void {
    this.#failure ??= error;
    this.#wake();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => this.#wake = resolve);
  }

  /** Waits, or throws why the attempt ended. */
  async #orStopped(wait: Promise<void>, what: string, notes: () => string): Promise<void> {
    const { signal } = this.#context;
    const stopped = Promise.withResolvers<never>();
    const forget = onAbort(signal, ({ message, hint }) => {
      const details = { res: { messages: this.values, message: this.last } };
      const failure = `${message} while waiting for ${what} from "${this.url}": ${
        receivedText(this)
      }${notes()}`;
      stopped.reject(new StepError(failure, hint, details));
    });
    try {
      await Promise.race([wait, stopped.promise]);
    } finally {
      forget();
    }
  }
}

/** Describes the received messages, for an error. */
export function receivedText({ count, last, secrets }: Inbox): string {
  if (count === 0) return "no message came";
  const text = typeof last === "string" ? last : undefined;
  const shown = messageText({ text, value: last }, secrets);
  return `${count === 1 ? "1 message" : `${count} messages`} came, the last is ${shown}`;
}
