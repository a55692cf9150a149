import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { StepError } from "../../base/errors.ts";
import { action } from "../../action/make_action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { host, port, text, texts, timeout } from "../../action/rule.ts";
import { tlsSwitch } from "../../action/tls/tls.ts";
import { tlsRecord } from "../../action/tls/certificate_record.ts";

/** Bytes that are kept; a server that sends more is not read on. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Connects to a port, sends text and waits for answers. */
export const tcp = action({
  name: "tcp",
  summary: "Connects to a TCP port, sends text and waits for answers",
  params: {
    host: host().required(),
    port: port().required(),
    tls: tlsSwitch(),
    send: texts('Text to send; a list takes turns with "expect", and "" sends nothing'),
    expect: texts("Text that must arrive; a list waits for one text after each send"),
    read_until: text(
      "Text to read up to at the end, or until the server closes the connection",
    ),
    ...timeout("How long everything may take"),
  },
  res: {
    received: { type: "string", summary: "everything that was received, as text" },
    replies: {
      type: "array",
      summary: "the text received up to and including each expected text, in order",
    },
    bytes: { type: "int", summary: "how many bytes were received" },
    closed: { type: "bool", summary: "whether the server closed the connection" },
    address: { type: "string", summary: "the address that was connected to" },
    tls: { type: "any", summary: "protocol, cipher and certificate of a TLS connection, else nil" },
  },
  // With nothing to send or read it checks that the port takes connections.
  expectsResult: ({ send = null, expect = null, read_until: until = null }) =>
    expect !== null || send === null && until === null,
  usage: `with:
  host: mail.example.com
  port: 25
  expect: ["220 "]`,
  example: 'res.received contains "220"',
  target: ({ host, port }) => ({ host, port }),
  connection: {
    open: async ({ tls }, attempt) =>
      new Dialogue(await attempt.socket(await attempt.secure(tls)), attempt),
    close: (dialogue) => dialogue.destroy(),
  },
  run: async (
    dialogue,
    { host, port, send = [], expect = [], read_until: last = "" },
    attempt,
    raw,
  ) => {
    const replies: string[] = [];
    for (let turn = 0; turn < Math.max(send.length, expect.length); turn++) {
      dialogue.write(send[turn] ?? "");
      if (expect[turn]) replies.push(await dialogue.expect(expect[turn]!));
    }
    const rest = last === "" ? undefined : await dialogue.readUntil(last);
    if (rest !== undefined) replies.push(rest);
    const { text, bytes, isClosed, socket } = dialogue;
    const res = {
      received: text,
      replies,
      bytes,
      closed: isClosed,
      address: socket.remoteAddress ?? host,
      tls: attempt.isSecure
        ? tlsRecord(socket as TLSSocket, attempt.context.host.clock.now())
        : null,
    };
    await dialogue.finish();
    return {
      req: { host, port, ...raw.send === undefined ? {} : { send: raw.send } },
      res,
      brief: "connected",
    };
  },
});

/** An exchange over a socket. */
class Dialogue {
  text = "";
  bytes = 0;
  isClosed: boolean;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** The end of the earlier replies in `text`. */
  #taken = 0;
  #error: unknown;
  #wake = () => {};

  constructor(readonly socket: Socket | TLSSocket, readonly attempt: ActionAttempt) {
    // A server may have refused the client just after the handshake.
    this.isClosed = socket.destroyed;
    this.#error = socket.errored ?? undefined;
    const close = () => {
      this.isClosed = true;
      // A character that has only begun counts, too.
      this.text += this.#decoder.decode();
      this.#wake();
    };
    socket.on("data", (chunk: Uint8Array) => {
      this.bytes += chunk.length;
      this.text += this.#decoder.decode(chunk, { stream: true });
      if (this.bytes > MAX_BYTES) socket.pause();
      this.#wake();
    });
    socket.on("error", (error) => this.#error = error);
    socket.on("end", close).on("close", close);
  }

  write(text: string): void {
    if (text !== "") this.socket.write(text);
  }

  /** The received text up to and including the wanted one; undefined if the server closed before. */
  async readUntil(wanted: string): Promise<string | undefined> {
    const { address } = this.attempt;
    const quoted = JSON.stringify(wanted);
    for (let searched = this.#taken;;) {
      const start = this.text.indexOf(wanted, searched);
      if (start >= 0) return this.text.slice(this.#taken, this.#taken = start + wanted.length);
      // What arrives next may complete a text that has begun.
      searched = Math.max(this.#taken, this.text.length - wanted.length);
      if (this.#error !== undefined) throw await this.#failure("read from");
      if (this.isClosed) return undefined;
      if (this.bytes > MAX_BYTES) {
        throw new StepError(`${address} sent more than ${MAX_BYTES} bytes without ${quoted}`);
      }
      const arrival = new Promise<void>((resolve) => this.#wake = resolve);
      await this.attempt.during(
        () => `waiting for ${quoted} from ${address}: ${this.#came()}`,
        arrival,
      );
    }
  }

  /** The same; fails if the server closes the connection before. */
  async expect(wanted: string): Promise<string> {
    const reply = await this.readUntil(wanted);
    if (reply !== undefined) return reply;
    throw new StepError(
      `${this.attempt.address} closed the connection before ${
        JSON.stringify(wanted)
      } arrived: ${this.#came()}`,
      this.bytes > 0 ? undefined : this.attempt.certificateHint,
      { isClosed: true, res: { received: this.text, closed: true } },
    );
  }

  /** Waits until all that was written is sent. */
  async finish(): Promise<void> {
    if (this.socket.writableLength === 0 || this.socket.destroyed) return;
    const sent = new Promise<void>((resolve) => this.socket.once("close", resolve).end(resolve));
    await this.attempt.during(`sending to ${this.attempt.address}`, sent);
    if (this.#error !== undefined) throw await this.#failure("send to");
  }

  destroy(): void {
    this.socket.destroy();
  }

  async #failure(action: string): Promise<StepError> {
    const { address } = this.attempt;
    const error = await this.attempt.explain(`cannot ${action} ${address}`, this.#error);
    return new StepError(`${error.message}: ${this.#came()}`, error.hint, error.details);
  }

  #came(): string {
    const came = this.text.slice(this.#taken);
    return came === "" ? "nothing came" : `${this.attempt.excerpt(came)} came`;
  }
}
