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

/** What is sent, and how a request of it is written. */
interface Content<T, Request> {
  readonly noun: string;
  readonly make: (items: readonly T[]) => Request;
  readonly serializer: {
    serializeRequest(request: Request): Uint8Array | undefined;
    /** Reads what was refused. Throws if it is no answer of a collector. */
    deserializeResponse(answer: Uint8Array): { readonly partialSuccess?: PartialSuccess };
  };
}

interface PartialSuccess {
  readonly rejectedSpans?: number;
  readonly rejectedDataPoints?: number;
  readonly errorMessage?: string;
}

/** Items of a request, items that wait for one, and attempts of one. */
const [BATCH, MOST_WAITING, MOST_ATTEMPTS] = [512, 8192, 4];

/** Milliseconds after the first attempt, and those at the end of a run for all that is left. */
const [FIRST_PAUSE, END_TIME] = [250, 5000];

/** Parts of an error of `fetch` that say nothing new. */
const ADDRESS_OR_NUMBER =
  /^error sending request for url \(.*?\): |client error \(\w+\): | \(os error \d+\)/g;

/** A request that has failed; it may be sent again after that many milliseconds, if there are any. */
class NotSent extends Error {
  constructor(message: string, readonly pause?: number, readonly hint?: string) {
    super(message);
  }
}

/** Sends batches of items, one after the other, while the run goes on. */
export class Sender<T, Request> {
  readonly #endpoint: Endpoint;
  readonly #content: Content<T, Request>;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #waiting: T[] = [];
  #sending: Promise<void> | undefined;
  /** When what is left is given up, in ticks of the clock. */
  #end = Infinity;
  #all = 0;
  #lost = 0;
  #problem = new NotSent("they came faster than they could be sent");

  constructor(endpoint: Endpoint, content: Content<T, Request>, clock: Clock) {
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
    const { origin, pathname } = this.#endpoint.url;
    const what = `${this.#lost} of ${countOf(this.#all, this.#content.noun)}`;
    const { message, hint } = this.#problem;
    return new RunnerError(`cannot send ${what} to ${origin}${pathname}: ${message}`, hint);
  }

  /** Gives up what is left. */
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
        const { serializer, make } = this.#content;
        const answer = await this.#post(serializer.serializeRequest(make(batch)));
        const { rejectedSpans, rejectedDataPoints, errorMessage } = this.#read(answer);
        const refused = Number(rejectedSpans ?? rejectedDataPoints ?? 0);
        this.#lost += refused;
        if (refused) this.#problem = new NotSent(`the collector has refused them: ${errorMessage}`);
      } catch (error) {
        this.#lost += batch.length;
        this.#problem = error as NotSent;
      }
    }
  }

  /** An answer of something else refuses nothing: its status has said so. */
  #read(answer: Uint8Array): PartialSuccess {
    try {
      return this.#content.serializer.deserializeResponse(answer).partialSuccess ?? {};
    } catch {
      return {};
    }
  }

  /** Sends a request until it is answered. Throws `NotSent`. */
  async #post(body: Uint8Array | undefined): Promise<Uint8Array> {
    let last: unknown;
    for (let attempt = 1;; attempt++) {
      try {
        return await this.#request(body);
      } catch (error) {
        // That time is over explains less than what was wrong before.
        if (this.#stop.signal.aborted) throw last ?? error;
        const { pause } = error as NotSent;
        if (pause === undefined || attempt === MOST_ATTEMPTS) throw error;
        const backoff = FIRST_PAUSE * 2 ** (attempt - 1) * (0.5 + Math.random());
        const { promise, resolve } = Promise.withResolvers<void>();
        if (this.#clock.ticks() + (pause || backoff) >= this.#end) throw error;
        const cancel = this.#clock.after(pause || backoff, resolve);
        this.#stop.signal.addEventListener("abort", () => resolve());
        await promise;
        cancel();
        last = error;
      }
    }
  }

  async #request(body: Uint8Array | undefined): Promise<Uint8Array> {
    const { url, headers, timeout } = this.#endpoint;
    const late = new AbortController();
    const cancel = this.#clock.after(timeout, () => late.abort());
    const signal = AbortSignal.any([late.signal, this.#stop.signal]);
    try {
      const port = url.port || (url.protocol === "https:" ? "443" : "80");
      demand({ name: "net", host: `${url.hostname}:${port}` });
      const response = await fetch(url, {
        method: "POST",
        headers,
        body: body as Uint8Array<ArrayBuffer>,
        // A redirect may lead to others, who must not see the headers.
        redirect: "manual",
        signal,
      });
      const answer = new Uint8Array(await response.arrayBuffer());
      if (!response.ok) throw refusalOf(response, answer, this.#clock);
      return answer;
    } catch (error) {
      if (error instanceof NotSent) throw error;
      const time = late.signal.aborted ? timeout : END_TIME;
      if (signal.aborted) throw new NotSent(`no answer within ${formatDuration(time)}`, 0);
      const denial = explainDenial(error);
      if (denial) throw new NotSent(denial.message, undefined, denial.hint);
      const { cause, message } = error as Error;
      const reason = cause instanceof Error ? cause.message : message;
      throw new NotSent(reason.replace(ADDRESS_OR_NUMBER, ""), 0);
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
  const after = headers.get("retry-after") ?? "";
  const pause = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - clock.now();
  return new NotSent(
    `HTTP ${status}${text && ": "}${text}`,
    [429, 502, 503, 504].includes(status) ? Math.max(0, pause || 0) : undefined,
  );
}
