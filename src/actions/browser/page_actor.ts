import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { onAbort } from "../../action/on_abort.ts";
import type { Command } from "./commands.ts";
import { nextFrame, obstacleOf, type Wanted } from "./page_scripts.ts";
import type { Handle, Page, PageFrame } from "./puppeteer.ts";
import type { Tab, Tabs } from "./tabs.ts";
import type { Dict, Value } from "../../action/action.ts";
import type { OpenBrowser } from "./open_browser.ts";

const NO_ANSWER = "the page did not answer";
const NOT_LOADED = "the page that it opens did not load";

/** Milliseconds after which the end of a page is known here. */
const PAUSE = 50;

/** Looks at an element; returns what is still missing, if anything. */
type Look = (handle: Handle) => Promise<string | undefined>;

/** Acts in the page of the current tab for one command, until the signal ends it. */
export class PageActor {
  readonly #quoted: string;
  #waiting = NO_ANSWER;

  constructor(
    readonly tabs: Tabs,
    readonly command: Command,
    readonly signal: AbortSignal,
    readonly attempt: ActionAttempt,
  ) {
    this.#quoted = JSON.stringify(command.selector);
  }

  /** The page of the current tab. */
  get page(): Page {
    return this.tabs.current.page;
  }

  /** What the command waits for, which explains a timeout. */
  get waiting(): string {
    return this.#waiting === NO_ANSWER && this.tabs.isOpening ? NOT_LOADED : this.#waiting;
  }

  /** Waits for something that the browser does. */
  async wait<T>(promise: Promise<T>, what?: string): Promise<T> {
    if (what !== undefined) this.#waiting = what;
    return await unlessAborted(promise, this.signal);
  }

  /** The element of the selector once it is as wanted, and the look at it finds nothing missing. */
  async element(wanted: Wanted, look?: Look): Promise<Handle> {
    return await this.#inTab(async (page, signal) => {
      const frame = await this.#frame(page, signal);
      const query = await this.#query(frame, this.command.selector!);
      this.#waiting = `no element matches ${this.#quoted}`;
      let found: Handle;
      const locator = frame.locator(query).setTimeout(0).filterHandle(async (handle) => {
        found = handle;
        const obstacle = await handle.evaluate(obstacleOf, wanted);
        const missing = obstacle === undefined
          ? await look?.(handle)
          : `the element ${this.#quoted} ${obstacle}`;
        this.#waiting = missing ?? `the element ${this.#quoted} keeps moving`;
        return missing === undefined;
      });
      // To scroll by nothing waits until it is in view and does not move. The command itself is not
      // left to the locator, which would repeat it where its page closes.
      await (wanted.reachable ? locator.scroll({ signal }) : locator.waitHandle({ signal }));
      return found!;
    });
  }

  /** Reads something of the element of the selector. */
  async read<T>(wanted: Wanted, read: (handle: Handle) => Promise<T>): Promise<T> {
    let value: T;
    await this.element(wanted, async (handle) => void (value = await read(handle)));
    return value!;
  }

  /** Waits until the element of the selector is hidden or gone. */
  async gone(): Promise<void> {
    await this.#inTab(async (page, signal) => {
      const frame = await this.#frame(page);
      if (!frame) return;
      const query = await this.#query(frame, this.command.selector!);
      this.#waiting = `the element ${this.#quoted} is still visible`;
      await frame.waitForSelector(query, { hidden: true, timeout: 0, signal });
    });
  }

  /** Waits until a look at the page finds nothing missing. */
  async until(look: (page: Page) => Promise<string | undefined>): Promise<void> {
    await this.#inTab(async (page, signal) => {
      const locator = page.locator(":root").setTimeout(0).filterHandle(async () => {
        const missing = await look(page);
        if (missing !== undefined) this.#waiting = missing;
        return missing === undefined;
      });
      await locator.waitHandle({ signal });
    });
  }

  /** The page, or the frame in it that the command is about. */
  async frame(): Promise<PageFrame> {
    return await this.#inTab((page, signal) => this.#frame(page, signal));
  }

  /** Acts, and waits for the page that this opens, if any. */
  async perform(start: () => Promise<unknown>): Promise<void> {
    const { page, tabs } = this;
    // What closes its page gets no answer from it.
    const unlessGone = async (error: unknown) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = this.attempt.context.deadline.after(PAUSE, resolve);
      await this.wait(promise).finally(() => timer.cancel());
      if (this.page === page) throw error;
    };
    await this.wait(start(), NO_ANSWER).catch(unlessGone);
    // Scripts and forms begin to open a page a moment after the click.
    await this.wait(page.evaluate(nextFrame)).catch(async (error) => {
      if (!isLeaving(error)) await unlessGone(error);
    });
    await this.wait(tabs.settled(), NOT_LOADED).catch((error) => {
      tabs.giveUp();
      throw error;
    });
  }

  /** Waits in the page of the current tab; again where another tab or frame takes its place. */
  async #inTab<T>(wait: (page: Page, signal: AbortSignal) => Promise<T>): Promise<T> {
    for (;;) {
      const { page, tabs: { changed } } = this;
      const signal = AbortSignal.any([this.signal, changed]);
      try {
        // A locator does not notice a signal that is aborted already.
        return await unlessAborted(wait(page, signal), signal);
      } catch (error) {
        if (this.signal.aborted || !changed.aborted) throw error;
      }
    }
  }

  /** Without a signal, it does not wait for a frame that is not there. */
  async #frame(page: Page, signal: AbortSignal): Promise<PageFrame>;
  async #frame(page: Page): Promise<PageFrame | undefined>;
  async #frame(page: Page, signal?: AbortSignal): Promise<PageFrame | undefined> {
    let frame: PageFrame = page;
    for (const selector of this.command.frame ?? []) {
      const query = await this.#query(frame, selector);
      this.#waiting = `no frame matches ${JSON.stringify(selector)}`;
      const handle = signal
        ? await frame.locator(query).setTimeout(0).waitHandle({ signal })
        : await frame.$(query);
      if (!handle) return undefined;
      const inner = await handle.contentFrame();
      if (!inner) throw new StepError(`the element ${JSON.stringify(selector)} is not a frame`);
      frame = inner;
    }
    return frame;
  }

  /** A selector as the library takes it. A locator would wait for one that is invalid. */
  async #query(frame: PageFrame, selector: string): Promise<string> {
    const query = toQuery(selector);
    try {
      await frame.$(query);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (
        /not a valid (?:selector|XPath)|SyntaxError|Failed to execute 'evaluate'/i.test(message)
      ) {
        throw new StepError(
          `invalid selector ${JSON.stringify(selector)}`,
          "it is a CSS selector, an XPath that begins with / or (, or text=…",
        );
      }
    }
    return query;
  }
}

/** Waits for a promise, or for the signal, whose reason it throws. */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const forget = onAbort(signal, stopped.reject);
  promise.catch(() => {});
  return await Promise.race([promise, stopped.promise]).finally(forget);
}

function toQuery(selector: string): string {
  const text = selector.trim();
  if (/^\(*\.?\//.test(text)) return `::-p-xpath(${text})`;
  if (text.startsWith("xpath=")) return `::-p-xpath(${text.slice(6)})`;
  if (text.startsWith("text=")) return `::-p-text(${text.slice(5)})`;
  return text;
}

/** Whether an error only says that another page is being opened. */
function isLeaving(error: unknown): boolean {
  const message = error instanceof Error ? error.message : "";
  return /context was destroyed|Cannot find context|detached|Protocol error \(Runtime\./i
    .test(message);
}

/** What the commands of a step have brought so far. */
export interface Results {
  readonly results: Record<string, Value>;
  readonly filepaths: Record<string, string>;
  /** Pictures for reports, as data URIs. */
  readonly screenshots: Record<string, string>;
  /** The time that each command took, in seconds. */
  readonly timing: number[];
  /** The code of the last page that was opened. */
  http_code: number | null;
}

/** A picture larger than this is in no report: characters of a data URI. */
const LARGEST = 2_000_000;

export function keepPicture(
  { screenshots }: Results,
  id: string,
  bytes: Uint8Array,
  type: "png" | "jpeg" | "webp",
): void {
  const uri = `data:image/${type};base64,${bytes.toBase64()}`;
  if (uri.length <= LARGEST) screenshots[id] = uri;
}

/** The results, and the state of the page. */
export async function responseOf({ tabs, watch }: OpenBrowser, results: Results) {
  const { page } = tabs.current;
  return {
    ...results,
    url: page.url(),
    title: await page.title().catch(() => ""),
    cookies: await cookiesOf(tabs.current),
    console_errors: [...watch.consoleErrors],
    failed_requests: [...watch.failedRequests],
    dialogs: [...watch.dialogs],
  };
}

/** The cookies that a page would send, as `res` has them. */
async function cookiesOf({ devtools }: Tab): Promise<readonly Dict[]> {
  const { cookies } = await devtools.send("Network.getCookies") as {
    readonly cookies: readonly {
      readonly name: string;
      readonly value: string;
      readonly domain: string;
      readonly path: string;
      readonly expires: number;
      readonly httpOnly: boolean;
      readonly secure: boolean;
    }[];
  };
  return cookies.map(({ name, value, domain, path, expires, httpOnly, secure }) => ({
    name,
    value,
    domain,
    path,
    expires: expires < 0 ? null : new Date(expires * 1000).toISOString(),
    http_only: httpOnly,
    secure,
  }));
}
