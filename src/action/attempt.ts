import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { RunnerError, StepError } from "../base/errors.ts";
import type { ActionContext } from "./action.ts";
import { excerpt } from "./received.ts";
import { codeOf } from "./net/endpoint.ts";
import { describeTarget, explainConnection, type Server, type Target } from "./target.ts";
import { formatDuration } from "../base/value/duration.ts";
import { onAbort } from "./on_abort.ts";
import { readStepFile, readStepText } from "./step_file.ts";
import { GIVE_CERTIFICATE, type TlsExplanation } from "./tls/explain_tls.ts";
import type { TlsOptions } from "./tls/tls_options.ts";
import { type Tls, tlsOptions } from "./tls/tls.ts";

/**
 * What to say about errors of a library whose `CODE message` fits a pattern; the first one counts.
 * `{message}`, `{code}` and `{address}` are replaced.
 */
export interface Refusal {
  /** Matches the code and message of an error. */
  readonly when: RegExp;
  /** What is wrong. */
  readonly say: string;
  /** What to do about it. */
  readonly hint?: string;
}

/** One attempt of an action: what `open` and `run` get from the run. */
export class ActionAttempt {
  /** As the run gives it, with `signal`. */
  readonly context: ActionContext;
  /** Aborted when the attempt must end, or after the `timeout` among the parameters. */
  readonly signal: AbortSignal;
  /** The other side, for messages: `redis at localhost port 6379`. */
  readonly peer: string;
  /** Its address alone: `localhost port 6379`. */
  readonly address: string;
  /** Ends the timeout. */
  readonly end: () => void;
  /** Whether something failed on the connection, which leaves it in an unknown state. */
  isBroken = false;
  /** Milliseconds until it had a connection. */
  connecting = 0;
  readonly #undo: (() => void)[] = [];
  #secure: TlsOptions | undefined;
  #isHandshaking = false;

  /**
   * The seam makes it.
   *
   * @internal
   */
  constructor(
    context: ActionContext,
    readonly target: Target,
    readonly refusals: readonly Refusal[] = [],
    timeout = 0,
  ) {
    ({ peer: this.peer, address: this.address } = describeTarget(target));
    const limited = limitAction(context, timeout);
    this.context = limited.context;
    this.signal = limited.context.signal;
    this.end = limited.release;
  }

  /**
   * Waits for a promise, or for the end of the attempt, whose error then says `… while
   * waiting for the reply`. `failing` begins the message where the promise rejects.
   */
  async during<T>(
    what: string | (() => string),
    promise: Promise<T>,
    failing?: string,
  ): Promise<T> {
    const ended = Promise.withResolvers<never>();
    const forget = onAbort(this.signal, ended.reject);
    try {
      return await Promise.race([promise, ended.promise]);
    } catch (error) {
      this.isBroken = true;
      if (this.signal.aborted && error === this.signal.reason) {
        throw this.ended(typeof what === "string" ? what : what());
      }
      throw failing === undefined ? error : await this.explain(failing, error);
    } finally {
      forget();
    }
  }

  /** Why it ended, and what was under way. */
  ended(what: string): StepError {
    const { message, hint, details } = this.signal.reason as StepError;
    const stage = this.#isHandshaking ? " in the TLS handshake" : "";
    return new StepError(`${message}${stage} while ${what}`, hint, details);
  }

  /** Has something undone where opening the connection fails or is interrupted. */
  undo(undo: () => void): void {
    this.#undo.push(undo);
  }

  /**
   * Undoes what opening has done so far.
   *
   * @internal
   */
  undoAll(): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }

  /** The options for a connection by TLS; undefined where it is a plain one. */
  async secure(tls: Tls): Promise<TlsOptions>;
  /** The same where there may be no TLS. */
  async secure(tls: Tls | false | undefined): Promise<TlsOptions | undefined>;
  async secure(tls: Tls | false | undefined): Promise<TlsOptions | undefined> {
    return this.#secure = tls ? await tlsOptions(tls, this.context) : undefined;
  }

  /** Whether the connection uses TLS. */
  get isSecure(): boolean {
    return this.#secure !== undefined;
  }

  /** The server that the action works with. */
  get server(): Server {
    if ("host" in this.target) return this.target;
    throw new Error("the target is not a server");
  }

  /** Connects to the server that the action works with, by TLS where options are given. */
  async socket(options?: TlsOptions): Promise<Socket | TLSSocket> {
    const { host, port } = this.server;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = options
      ? (await import("./tls/secure_socket.ts")).secureSocket(options, { host, port }, resolve)
      : (await import("node:net")).connect({ host, port }, resolve);
    this.undo(() => socket.destroy());
    if (options) socket.once("connect", () => this.#isHandshaking = true);
    // It stays: a later error belongs to the reader, and must not crash the program.
    socket.on("error", reject);
    const { opening, failing } = describeTarget(this.target);
    try {
      await this.during(opening, promise, failing);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      this.#isHandshaking = false;
    }
  }

  /** Reads a file that a parameter names. */
  async read(path: string, parameter: string, what = "the file"): Promise<Uint8Array> {
    return await readStepFile({ path, parameter, what }, this.context);
  }

  /** Reads a text file that a parameter names. */
  async readText(path: string, parameter: string, what = "the file"): Promise<string> {
    return await readStepText({ path, parameter, what }, this.context);
  }

  /** The beginning of a received text for a message, without its secrets. */
  excerpt(text: string): string {
    return JSON.stringify(excerpt(text, this.context.secrets));
  }

  /** Why something failed, in plain words with the code that people search for. */
  async explain(failing: string, error: unknown): Promise<StepError> {
    if (error instanceof StepError) return error;
    // That a library cannot be loaded is not the fault of the server.
    if (error instanceof RunnerError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const known: Record<string, string> = { message, code: codeOf(error), address: this.address };
    const refusal = this.refusals.find(({ when }) => when.test(`${known.code} ${message}`.trim()));
    if (refusal?.hint) {
      return new StepError(`${failing}: ${fill(refusal.say, known)}`, refusal.hint);
    }
    const { message: reason, hint } = refusal
      ? { message: fill(refusal.say, known) }
      : await this.#explainConnection(error);
    // A server that refuses a client without a certificate may close before it says so.
    const isShut = hint === undefined && /closed/.test(reason);
    const details = refusal ? {} : { cause: reason };
    return new StepError(`${failing}: ${reason}`, isShut ? this.certificateHint : hint, details);
  }

  /** A hint for a TLS connection that the server closes without a message. */
  get certificateHint(): string | undefined {
    if (!this.#secure) return undefined;
    return this.#secure.cert === undefined
      ? `it may want a client certificate; ${GIVE_CERTIFICATE}`
      : "it may refuse the client certificate";
  }

  async #explainConnection(error: unknown): Promise<TlsExplanation> {
    // A file has no connection that could be explained: this is a bug of ours.
    if (!("host" in this.target)) throw error;
    return await explainConnection(error, this.target, this.context.host.clock, this.#secure);
  }
}

/**
 * The signal that ends an action: when the attempt ends, or after the `timeout` that the step
 * gives to its action, in milliseconds. Undefined and 0 leave it to the attempt.
 */
export function limitAction(
  context: ActionContext,
  timeout: number | undefined,
): { readonly context: ActionContext; readonly release: () => void } {
  if (!timeout) return { context, release: () => {} };
  const abort = new AbortController();
  const forget = onAbort(context.signal, (reason) => abort.abort(reason));
  const limit = context.deadline.after(timeout, () => {
    abort.abort(new StepError(`timed out after ${formatDuration(timeout)}`));
  });
  return {
    context: Object.create(context, {
      signal: { value: abort.signal },
      onStop: { value: (stop: (reason: StepError) => void) => onAbort(abort.signal, stop) },
    }),
    release: () => {
      forget();
      limit.cancel();
    },
  };
}

function fill(template: string, known: Readonly<Record<string, string>>): string {
  return template.replace(/\{(\w+)\}/g, (_, name) => known[name] ?? "");
}
