import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { StepError } from "../../base/errors.ts";
import { isDict } from "../../base/value/value.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { explainConnection } from "../../action/net/explain_connection.ts";
import { openSocket, readTls } from "../../action/net/open_socket.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { readHost } from "../../action/net/tls_switch.ts";
import { onAbort } from "../../action/on_abort.ts";
import { typeWords } from "../../action/parameters.ts";
import { readParameters, required } from "../../action/read_parameters.ts";
import { textOf } from "../../action/text_of.ts";
import { GIVE_CERTIFICATE } from "../../action/tls/explain_tls.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";

/** More than this is not kept, in bytes. */
const MOST = 16 * 1024 * 1024;

/** One turn of the dialogue: what is sent, and what must come. */
interface Turn {
  readonly send: string;
  readonly expect?: string | undefined;
}

/** Connects, sends and waits for the expected data. */
export async function runTcp(params: Dict, given: ActionContext): Promise<ActionResult> {
  const read = readParameters("tcp", params);
  const endpoint = {
    host: readHost("tcp", read.string("host")),
    port: required("tcp", "port", read.integer("port")),
  };
  const { context, release } = limitAction(given, read.duration("timeout"));
  try {
    const tls = await readTls("tcp", params.tls, context);
    const turns = readTurns(textsOf(params, "send"), textsOf(params, "expect"));
    const socket = await openSocket(endpoint, tls, context);
    const reader = new Reader(socket, endpoint, tls, context);
    try {
      const replies = await converse(socket, reader, turns, read.string("read_until"));
      const tlsOf = tls && (await import("../../action/tls/certificate_record.ts")).tlsRecord;
      const res = {
        received: reader.text,
        replies,
        bytes: reader.bytes,
        closed: reader.isClosed,
        address: `${socket.remoteAddress ?? endpoint.host}`,
        tls: tlsOf ? tlsOf(socket as TLSSocket, context.host.clock.now()) : null,
      };
      await reader.finish();
      const req = { ...endpoint, ...params.send === undefined ? {} : { send: params.send } };
      return { req, res, status: 0, brief: "connected" };
    } finally {
      reader.end();
    }
  } finally {
    release();
  }
}

/** Sends and expected texts in turn; the longer list decides how many turns there are. */
function readTurns(sends: readonly string[], expects: readonly string[]): Turn[] {
  const count = Math.max(sends.length, expects.length);
  return Array.from({ length: count }, (_, i) => ({ send: sends[i] ?? "", expect: expects[i] }));
}

function textsOf(params: Dict, name: string): string[] {
  const value = params[name];
  if (value === undefined || value === null) return [];
  if (isDict(value)) {
    const message = `"${name}" must be ${typeWords(["string", "list"])}, not a map`;
    throw new StepError(`cannot run tcp: ${message}`, undefined, { parameter: name });
  }
  return (Array.isArray(value) ? value : [value]).map((one) => one === null ? "" : textOf(one));
}

async function converse(
  socket: Socket,
  reader: Reader,
  turns: readonly Turn[],
  until: string | undefined,
): Promise<string[]> {
  const replies: string[] = [];
  for (const { send, expect } of turns) {
    if (send !== "") socket.write(send);
    if (expect === undefined || expect === "") continue;
    const reply = await reader.readUntil(expect);
    if (reply === undefined) throw reader.closedBefore(expect);
    replies.push(reply);
  }
  if (until !== undefined && until !== "") {
    const reply = await reader.readUntil(until);
    if (reply !== undefined) replies.push(reply);
  }
  return replies;
}

/** Collects what a socket receives, and waits for a text in it. */
class Reader {
  /** All that was received. */
  text = "";
  bytes = 0;
  isClosed = false;
  readonly #socket: Socket;
  readonly #endpoint: Endpoint;
  readonly #tls: TlsOptions | undefined;
  readonly #context: ActionContext;
  readonly #decoder = new TextDecoder();
  /** Up to here `text` belongs to earlier replies. */
  #taken = 0;
  #error: unknown;
  #wake = () => {};

  constructor(
    socket: Socket,
    endpoint: Endpoint,
    tls: TlsOptions | undefined,
    context: ActionContext,
  ) {
    this.#socket = socket;
    this.#endpoint = endpoint;
    this.#tls = tls;
    this.#context = context;
    socket.on("data", (chunk: Uint8Array) => {
      this.bytes += chunk.length;
      this.text += this.#decoder.decode(chunk, { stream: true });
      this.#wake();
    });
    socket.on("error", (error) => this.#error = error);
    socket.on("close", () => {
      this.isClosed = true;
      this.#wake();
    });
    socket.on("end", () => {
      this.isClosed = true;
      this.#wake();
    });
    // A server may have refused the client just after the handshake.
    if (socket.destroyed) {
      this.isClosed = true;
      this.#error = socket.errored ?? undefined;
    }
  }

  /** The received text up to and including a given one; undefined if the connection was closed before. */
  async readUntil(wanted: string): Promise<string | undefined> {
    for (;;) {
      const at = this.text.indexOf(wanted, this.#taken);
      if (at >= 0) {
        const reply = this.text.slice(this.#taken, at + wanted.length);
        this.#taken = at + wanted.length;
        return reply;
      }
      if (this.#error !== undefined) throw await this.#failure("read from", this.#error);
      if (this.isClosed) return undefined;
      if (this.bytes > MOST) {
        throw new StepError(
          `${placeOf(this.#endpoint)} sent more than ${MOST} bytes without ${
            JSON.stringify(wanted)
          }`,
        );
      }
      await this.#more(wanted);
    }
  }

  /** What is thrown where the connection was closed before an expected text arrived. */
  closedBefore(wanted: string): StepError {
    const message = `${placeOf(this.#endpoint)} closed the connection before ${
      JSON.stringify(wanted)
    } arrived: ${this.#came()}`;
    // The runtime does not always say by which alert the server refused a client.
    const hint = this.#tls === undefined || this.bytes > 0
      ? undefined
      : this.#tls.cert === undefined
      ? `it may want a client certificate; ${GIVE_CERTIFICATE}`
      : "it may refuse the client certificate";
    return new StepError(message, hint, {
      isClosed: true,
      res: { received: this.text, closed: true },
    });
  }

  /** Waits until all that was written is sent. */
  async finish(): Promise<void> {
    if (this.#socket.writableLength === 0 || this.#socket.destroyed) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const forget = onAbort(this.#context.signal, (reason) => {
      const doing = `while sending to ${placeOf(this.#endpoint)}`;
      reject(new StepError(`${reason.message} ${doing}`, reason.hint));
    });
    this.#socket.once("close", resolve);
    this.#socket.end(resolve);
    try {
      await promise;
      if (this.#error !== undefined) throw await this.#failure("send to", this.#error);
    } finally {
      forget();
    }
  }

  end(): void {
    this.#socket.destroy();
  }

  #came(): string {
    const came = this.text.slice(this.#taken);
    if (came === "") return "nothing came";
    return `${JSON.stringify(excerpt(came, this.#context.secrets))} came`;
  }

  async #more(wanted: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const forget = onAbort(this.#context.signal, (reason) => {
      const waiting = `while waiting for ${JSON.stringify(wanted)} from`;
      const message = `${reason.message} ${waiting} ${placeOf(this.#endpoint)}: ${this.#came()}`;
      reject(new StepError(message, reason.hint));
    });
    try {
      await promise;
    } finally {
      forget();
    }
  }

  async #failure(doing: string, error: unknown): Promise<StepError> {
    const { words, hint } = await explainConnection(
      error,
      this.#endpoint,
      this.#context.host.clock,
      this.#tls,
    );
    const what = `cannot ${doing} ${placeOf(this.#endpoint)}: ${words}`;
    return new StepError(`${what}: ${this.#came()}`, hint, { cause: words });
  }
}
