import type { Dict } from "../../action/action.ts";
import type { Permissions } from "../../action/permissions/permissions.ts";
import { netDenial } from "../../action/permissions/rules.ts";
import type { DevTools, Page, PageRequest } from "./puppeteer.ts";

/** The number of entries that are kept of each kind. */
const MAX_ENTRIES = 100;

/** Records what the pages of a browser do, and restricts what they may load. */
export class PageWatch {
  /** Errors in the console and uncaught errors since the step began. */
  readonly consoleErrors: Dict[] = [];
  /** Requests without a response, and those with a code of 400 and above. */
  readonly failedRequests: Dict[] = [];
  readonly dialogs: Dict[] = [];
  readonly #pages = new Set<Page>();
  #isBlocked: (request: PageRequest) => boolean = () => false;
  #dismissesDialogs = false;
  #isIntercepted = false;

  constructor(readonly permissions: Permissions | undefined) {}

  /** Begins a step. `block` has types of resources, and URLs with `*`, that are not loaded. */
  async begin(block: readonly string[], dismissesDialogs: boolean): Promise<void> {
    for (const list of [this.consoleErrors, this.failedRequests, this.dialogs]) list.length = 0;
    this.#isBlocked = blockerOf(block);
    this.#dismissesDialogs = dismissesDialogs;
    const isIntercepted = block.length > 0 || this.permissions !== undefined;
    if (isIntercepted === this.#isIntercepted) return;
    this.#isIntercepted = isIntercepted;
    for (const page of this.#pages) {
      await page.setRequestInterception(isIntercepted).catch((error) => {
        // A tab may close at any moment.
        if (!page.isClosed()) throw error;
      });
    }
  }

  /** Records the dialogs of one more page, and answers them. */
  async hearDialogs(devtools: DevTools): Promise<void> {
    devtools.on("Page.javascriptDialogOpening", ({ type, message, defaultPrompt }) => {
      const isLeaving = type === "beforeunload";
      if (!isLeaving) add(this.dialogs, { type, message });
      devtools.send("Page.handleJavaScriptDialog", {
        accept: !this.#dismissesDialogs || isLeaving,
        ...type === "prompt" && { promptText: defaultPrompt },
      }).catch(() => {});
    });
    await devtools.send("Page.enable");
  }

  /** Watches one more page for as long as it is open. */
  async add(page: Page, devtools: DevTools): Promise<void> {
    this.#pages.add(page);
    page.on("close", () => this.#pages.delete(page));
    // The library loses those that come while it notes that a page has been opened.
    devtools.on("Runtime.consoleAPICalled", ({ type, args, stackTrace }: ConsoleCall) => {
      if (type !== "error") return;
      const { url = page.url(), lineNumber } = stackTrace?.callFrames[0] ?? {};
      const text = args.map(textOf).join(" ");
      add(this.consoleErrors, { text, url, line: lineOf(lineNumber) });
    });
    devtools.on("Runtime.exceptionThrown", ({ exceptionDetails: thrown }: Thrown) => {
      const text = thrown.exception ? textOf(thrown.exception) : thrown.text;
      const { url = page.url(), lineNumber } = thrown;
      add(this.consoleErrors, { text, url, line: lineOf(lineNumber) });
    });
    await devtools.send("Runtime.enable");
    page.on("response", (response) => {
      const code = response.status();
      const request = response.request();
      // Every browser asks for it, whether there is one or not.
      if (code < 400 || URL.parse(request.url())?.pathname === "/favicon.ico") return;
      add(this.failedRequests, { method: request.method(), url: request.url(), code, error: "" });
    });
    const refusals = new WeakMap<PageRequest, string>();
    page.on("requestfailed", (request) => {
      const error = refusals.get(request) ?? request.failure()?.errorText ?? "";
      // A page that is left takes its requests with it.
      if (/^net::ERR_(ABORTED$|BLOCKED_BY_CLIENT)/.test(error)) return;
      add(this.failedRequests, {
        method: request.method(),
        url: request.url(),
        code: null,
        error,
      });
    });
    page.on("request", (request) => {
      if (!this.#isIntercepted) return;
      const refusal = this.permissions && refusalOf(request.url(), this.permissions);
      if (refusal !== undefined) refusals.set(request, refusal);
      const isLoaded = refusal === undefined && !this.#isBlocked(request);
      (isLoaded ? request.continue() : request.abort("blockedbyclient")).catch(() => {});
    });
    if (this.#isIntercepted) await page.setRequestInterception(true);
  }

  /** Records a request that failed, maybe before its page was watched. */
  noteRequest(url: string, code: number | null, error: string): void {
    if (this.failedRequests.some((one) => one.url === url)) return;
    add(this.failedRequests, { method: "GET", url, code, error });
  }
}

function add(list: Dict[], entry: Dict): void {
  if (list.length < MAX_ENTRIES) list.push(entry);
}

/** A value of a page; `description` has an object as text, an error with its stack. */
interface PageValue {
  readonly value?: unknown;
  readonly description?: string;
}

interface ConsoleCall {
  readonly type: string;
  readonly args: readonly PageValue[];
  readonly stackTrace?: {
    readonly callFrames: readonly { readonly url: string; readonly lineNumber: number }[];
  };
}

interface Thrown {
  readonly exceptionDetails: {
    readonly text: string;
    readonly url?: string;
    readonly lineNumber: number;
    readonly exception?: PageValue;
  };
}

/** A value as text, an error without its stack. */
function textOf({ value, description }: PageValue): string {
  return description?.replace(/\n +at .*/s, "") ?? String(value);
}

function lineOf(lineNumber: number | undefined): number | null {
  return lineNumber === undefined ? null : lineNumber + 1;
}

/** Why a URL may not be loaded, by the permissions of the run. */
export function refusalOf(text: string, permissions: Permissions): string | undefined {
  const url = URL.parse(text);
  if (!url || /^(?:data|blob|about|chrome-error):$/.test(url.protocol)) return undefined;
  if (url.protocol === "file:") {
    return permissions.read ? `--allow-read allows no page to read ${url.pathname}` : undefined;
  }
  return netDenial(permissions, url)?.message;
}

/** Types of resources that `block` may name. */
const RESOURCE_TYPES: ReadonlySet<string> = new Set([
  ...["document", "stylesheet", "image", "media", "font", "script", "xhr", "fetch", "websocket"],
  "other",
]);

function blockerOf(block: readonly string[]): (request: PageRequest) => boolean {
  const patterns = block.filter((one) => !RESOURCE_TYPES.has(one)).map((pattern) =>
    new RegExp(`^${pattern.split("*").map(RegExp.escape).join("[^]*")}$`)
  );
  return (request) =>
    block.includes(request.resourceType()) ||
    patterns.some((pattern) => pattern.test(request.url()));
}
