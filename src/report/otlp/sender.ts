import { RunnerError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { formatDuration } from "../../base/value/duration.ts";
import { demand } from "../../host/deno_permissions.ts";
import { explainDenial } from "../../host/explain_denial.ts";
import type { Clock } from "../../host/host.ts";

/** The address of a collector, and how it is asked. */
export interface Endpoint {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds that a request may take. */
  readonly timeout: number;
}

/** What is sent. */
interface Content<T> {
  readonly noun: string;
  readonly nouns?: string;
  readonly encode: (items: readonly T[]) => Uint8Array | undefined;
  /** Reads how many of them the collector has refused, and why. */
  readonly refused: (answer: Uint8Array) => {
    readonly count?: number | undefined;
    readonly why?: string | undefined;
  };
}

const [BATCH, MOST_WAITING, MOST_ATTEMPTS, FIRST_PAUSE] = [512, 8192, 4, 250];

/** Milliseconds at the end of a run within which the rest is sent. */
const END_TIME = 5000;

const RETRYABLE = [429, 502, 503, 504];

/** A request that was not answered as it should be. */
class NotSent extends Error {
  constructor(message: string, readonly retryAfter?: number, readonly hint?: string) {
    super(message);
  }
}

/** Sends batches of items, one after the other, while the run goes on. */
export class Sender<T> {
  readonly #endpoint: Endpoint;
  readonly #content: Content<T>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #waiting: T[] = [];
  #sending: Promise<void> | undefined;
  /** When what is not sent is given up, in ticks of the clock. */
  #end = Infinity;
  #all = 0;
  #lost = 0;
  #problem = new NotSent("they came faster than they could be sent");

  constructor(endpoint: Endpoint, content: Content<T>, clock: Clock) {
    this.#endpoint = endpoint;
    this.#content = content;
    this.#clock = clock;
  }

  add(item: T): void {
    this.#all++;
    if (this.#waiting.length >= MOST_WAITING) this.#lost++;
    else if (this.#waiting.push(item) >= BATCH) void this.#send();
  }

  /** Sends the rest; the result is a warning if not everything was sent. */
  async finish(): Promise<RunnerError | undefined> {
    this.#end = this.#clock.ticks() + END_TIME;
    const cancel = this.#clock.after(END_TIME, () => this.discard());
    // What is under way may end without the last items.
    await this.#send();
    await this.#send();
    cancel();
    if (this.#lost === 0) return undefined;
    const { url: { origin, pathname } } = this.#endpoint;
    const { noun, nouns } = this.#content;
    const what = `${this.#lost} of ${countOf(this.#all, noun, nouns)}`;
    const { message, hint } = this.#problem;
    return new RunnerError(`cannot send ${what} to ${origin}${pathname}: ${message}`, hint);
  }

  discard(): void {
    this.#stop.abort();
  }

  #send(): Promise<void> {
    return this.#sending ??= this.#sendBatches().finally(() => this.#sending = undefined);
  }

  async #sendBatches(): Promise<void> {
    while (this.#waiting.length >= (this.#end < Infinity ? 1 : BATCH)) {
      const batch = this.#waiting.splice(0, BATCH);
      try {
        const answer = await this.#post(this.#content.encode(batch) ?? new Uint8Array());
        const { count, why } = this.#refused(answer);
        this.#lost += Number(count ?? 0);
        if (count) this.#problem = new NotSent(`the collector has refused them: ${why}`);
      } catch (error) {
        this.#lost += batch.length;
        this.#problem = error as NotSent;
      }
    }
  }

  /** An answer that cannot be read refuses nothing: the code of its status has said so. */
  #refused(answer: Uint8Array): ReturnType<Content<T>["refused"]> {
    try {
      return this.#content.refused(answer);
    } catch {
      return {};
    }
  }

  /** Sends a request until it is answered. Throws `NotSent`. */
  async #post(body: Uint8Array): Promise<Uint8Array> {
    let last: unknown;
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#request(body);
      } catch (error) {
        // That time is over explains less than what was wrong before.
        if (this.#stop.signal.aborted) throw last ?? error;
        const { retryAfter } = error as NotSent;
        if (retryAfter === undefined || attempt === MOST_ATTEMPTS) throw error;
        const pause = retryAfter || FIRST_PAUSE * 2 ** (attempt - 1) * (0.5 + Math.random());
        if (this.#clock.ticks() + pause >= this.#end) throw error;
        last = error;
        await this.#pause(pause);
      }
    }
  }

  async #pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.after(milliseconds, resolve);
    this.#stop.signal.addEventListener("abort", () => resolve());
    await promise;
    cancel();
  }

  /** The body of the answer. Throws `NotSent`, with `retryAfter` where it may be tried again. */
  async #request(body: Uint8Array): Promise<Uint8Array> {
    const { url, headers, timeout } = this.#endpoint;
    const late = new AbortController();
    const cancel = this.#clock.after(timeout, () => late.abort());
    const signal = AbortSignal.any([late.signal, this.#stop.signal]);
    try {
      demand({
        name: "net",
        host: `${url.hostname}:${url.port || (url.protocol === "http:" ? 80 : 443)}`,
      });
      // A redirect may lead to others, who must not see the headers.
      const response = await fetch(url, {
        ...{ method: "POST", redirect: "manual", body: body as Uint8Array<ArrayBuffer> },
        ...{ headers, signal },
      });
      const answer = new Uint8Array(await response.arrayBuffer());
      if (response.ok) return answer;
      throw refusalOf(response, answer, this.#clock);
    } catch (error) {
      if (error instanceof NotSent) throw error;
      if (signal.aborted) {
        const time = late.signal.aborted ? timeout : END_TIME;
        throw new NotSent(`no answer within ${formatDuration(time)}`, 0);
      }
      const denial = explainDenial(error);
      if (denial) throw new NotSent(denial.message, undefined, denial.hint);
      const { cause, message } = error as Error;
      const reason = cause instanceof Error ? cause.message : message;
      throw new NotSent(reason.replace(/^error sending request for url \(.*?\): /, ""), 0);
    } finally {
      cancel();
    }
  }
}

function refusalOf({ status, headers }: Response, answer: Uint8Array, clock: Clock): NotSent {
  const to = headers.get("location");
  if (status < 400 && to !== null) {
    return new NotSent(`it redirects to ${to}`, undefined, "name that address if you trust it");
  }
  const text = new TextDecoder().decode(answer.subarray(0, 200)).replace(/[^ -~]+/g, " ").trim();
  const after = headers.get("retry-after") ?? "0";
  const seconds = Number(after);
  const pause = Number.isNaN(seconds) ? Date.parse(after) - clock.now() : seconds * 1000;
  return new NotSent(
    `HTTP ${status}${text === "" ? "" : `: ${text}`}`,
    RETRYABLE.includes(status) ? Math.max(0, pause) || 0 : undefined,
  );
}
