import type { Deadlines } from "../host/deadlines.ts";
import type { ResourceScope } from "./action.ts";
import type { ApiCoverage } from "../base/value/api_coverage.ts";

/** The time that the resources of a scope may take to open or close once the scope ends. */
const CLOSE_TIMEOUT = 10_000;

/** Closes a resource. */
interface Closer {
  readonly key: string;
  readonly close: () => void | Promise<void>;
}

/** The resources of one run, job or step. */
export class Resources implements ResourceScope {
  #known: Map<string, unknown> | undefined;
  /** In the order of opening. */
  #closers: Closer[] | undefined;
  #opening: Set<Promise<void>> | undefined;
  #isClosed = false;

  resource<T>(
    key: string,
    open: () => T,
    close?: (resource: Awaited<T>) => void | Promise<void>,
  ): T {
    this.#known ??= new Map();
    if (this.#known.has(key)) return this.#known.get(key) as T;
    if (this.#isClosed && close) throw new Error(`cannot open "${key}": its scope has ended`);
    const opened = open();
    this.#known.set(key, opened);
    const keep = (resource: Awaited<T>) => {
      if (close) (this.#closers ??= []).push({ key, close: () => close(resource) });
    };
    if (opened instanceof Promise) {
      const opening: Promise<void> = opened.then(keep, () => void this.#known?.delete(key))
        .then(() => void this.#opening!.delete(opening));
      (this.#opening ??= new Set()).add(opening);
    } else {
      keep(opened as Awaited<T>);
    }
    return opened;
  }

  /** Whether nothing was opened. */
  get isEmpty(): boolean {
    return !this.#closers?.length && !this.#opening?.size;
  }

  /** Closes all that was opened, last first; `warn` is called for each that cannot be closed. */
  async close(deadlines: Deadlines, warn: (text: string) => void): Promise<void> {
    this.#isClosed = true;
    const opening = Promise.all(this.#opening ?? []);
    if (this.#opening?.size && !await isDone(opening, deadlines)) {
      warn(`something is still being opened ${CLOSE_TIMEOUT / 1000} seconds after it was needed`);
    }
    for (let last = this.#closers?.pop(); last; last = this.#closers?.pop()) {
      try {
        const closing = last.close();
        if (closing instanceof Promise && !await isDone(closing, deadlines)) {
          warn(`"${last.key}" is still being closed after ${CLOSE_TIMEOUT / 1000} seconds`);
        }
      } catch (error) {
        warn(`cannot close "${last.key}": ${error instanceof Error ? error.message : error}`);
      }
    }
    this.#known = undefined;
  }
}

/** Whether a promise resolves in time; what it rejects with is thrown. */
async function isDone(promise: Promise<unknown>, deadlines: Deadlines): Promise<boolean> {
  const late = Promise.withResolvers<false>();
  const deadline = deadlines.add(CLOSE_TIMEOUT, () => late.resolve(false));
  try {
    return await Promise.race([promise.then(() => true), late.promise]);
  } finally {
    deadline.cancel();
  }
}

/** The part of an API that a run has used. */
interface CountedContract {
  coverage(): ApiCoverage;
}

/** The API descriptions that a run has read, by their paths and options. */
export function contractsOf(scope: ResourceScope): Map<string, Promise<CountedContract>> {
  return scope.resource("API contracts", () => new Map());
}

/** The part of each API that the requests of a run have used. */
export async function coverageOf(scope: ResourceScope): Promise<readonly ApiCoverage[]> {
  const contracts = await Promise.allSettled(contractsOf(scope).values());
  return contracts.flatMap((one) => one.status === "fulfilled" ? one.value.coverage() : []);
}
