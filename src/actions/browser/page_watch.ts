import type { Dict } from "../../action/action.ts";
import type { Permissions } from "../../action/permissions/permissions.ts";
import { netRefusal } from "../../action/permissions/host_rule.ts";
import type { DevTools, Page, PageRequest } from "./puppeteer.ts";

/** Records what the pages of a browser do, and restricts what they may load. */
export interface PageWatch {
  /** Errors in the console and uncaught errors since the step began. */
  readonly consoleErrors: readonly Dict[];
  /** Requests without a response, and those with a code of 400 and above. */
  readonly failedRequests: readonly Dict[];
  /** Dialogs that pages opened. */
  readonly dialogs: readonly Dict[];
  /** Begins a step. */
  begin(step: WatchOptions): Promise<void>;
  /** Records the dialogs of one more page, and answers them. */
  hearDialogs(devtools: DevTools): Promise<void>;
  /** Watches one more page for as long as it is open. */
  add(page: Page, devtools: DevTools): Promise<void>;
  /** Records a request that failed, maybe before its page was watched. */
  noteRequest(url: string, code: number | null, error: string): void;
}

/** The options of a step for it. */
export interface WatchOptions {
  /** Types of resources, or URLs with `*`, that are not loaded. */
  readonly block: readonly string[];
  readonly dismissDialogs: boolean;
}

/** Types of resources that `block` may name. */
const RESOURCE_TYPES: readonly string[] = [
  "document",
  "stylesheet",
  "image",
  "media",
  "font",
  "script",
  "xhr",
  "fetch",
  "websocket",
  "other",
];

/** The number of entries that are kept of each kind. */
const MAX_ENTRIES = 100;

/** A watch for the pages of a browser. */
export function makeWatch(permissions: Permissions | undefined): PageWatch {
  const consoleErrors: Dict[] = [];
  const failedRequests: Dict[] = [];
  const dialogs: Dict[] = [];
  let options: WatchOptions = { block: [], dismissDialogs: false };
  let blocks: (request: PageRequest) => boolean = () => false;
  let isIntercepted = false;
  const pages = new Set<Page>();
  const add = (list: Dict[], one: Dict) => void (list.length < MAX_ENTRIES && list.push(one));
  const refused = new WeakMap<PageRequest, string>();
  const blocked = new WeakSet<PageRequest>();

  const watch = async (page: Page, devtools: DevTools) => {
    pages.add(page);
    page.on("close", () => pages.delete(page));
    // The library loses those that come while it notes that a page has been opened.
    devtools.on("Runtime.consoleAPICalled", ({ type, args, stackTrace }: ConsoleCall) => {
      if (type !== "error") return;
      const { url = page.url(), lineNumber } = stackTrace?.callFrames[0] ?? {};
      add(consoleErrors, { text: args.map(textOf).join(" "), url, line: lineOf(lineNumber) });
    });
    devtools.on("Runtime.exceptionThrown", ({ exceptionDetails: thrown }: Thrown) => {
      const text = thrown.exception ? textOf(thrown.exception) : thrown.text;
      const { url = page.url(), lineNumber } = thrown;
      add(consoleErrors, { text, url, line: lineOf(lineNumber) });
    });
    await devtools.send("Runtime.enable");
    page.on("response", (response) => {
      const code = response.status();
      const request = response.request();
      // Every browser asks for it, whether there is one or not.
      if (code < 400 || URL.parse(request.url())?.pathname === "/favicon.ico") return;
      add(failedRequests, { method: request.method(), url: request.url(), code, error: "" });
    });
    page.on("requestfailed", (request) => {
      const error = refused.get(request) ?? request.failure()?.errorText ?? "";
      // A page that is left takes its requests with it.
      if (blocked.has(request) || error === "net::ERR_ABORTED") return;
      add(failedRequests, { method: request.method(), url: request.url(), code: null, error });
    });
    page.on("request", (request) => {
      if (!isIntercepted) return;
      const refusal = permissions && refusalOf(request.url(), permissions);
      if (refusal !== undefined) refused.set(request, refusal);
      else if (blocks(request)) blocked.add(request);
      else return void request.continue().catch(() => {});
      request.abort("blockedbyclient").catch(() => {});
    });
    if (isIntercepted) await page.setRequestInterception(true);
  };
  return {
    consoleErrors,
    failedRequests,
    dialogs,
    async begin(step) {
      for (const list of [consoleErrors, failedRequests, dialogs]) list.length = 0;
      options = step;
      blocks = blockerOf(step.block);
      const wanted = step.block.length > 0 || permissions !== undefined;
      if (wanted === isIntercepted) return;
      isIntercepted = wanted;
      await Promise.all(
        [...pages].map((page) =>
          page.setRequestInterception(wanted).catch((error) => {
            // A tab may close at any moment.
            if (!page.isClosed()) throw error;
          })
        ),
      );
    },
    add: watch,
    async hearDialogs(devtools) {
      devtools.on("Page.javascriptDialogOpening", ({ type, message, defaultPrompt }) => {
        if (type !== "beforeunload") add(dialogs, { type, message });
        const accept = !options.dismissDialogs || type === "beforeunload";
        const answer = type === "prompt" ? { accept, promptText: defaultPrompt } : { accept };
        devtools.send("Page.handleJavaScriptDialog", answer).catch(() => {});
      });
      await devtools.send("Page.enable");
    },
    noteRequest(url, code, error) {
      if (failedRequests.some((one) => one.url === url)) return;
      add(failedRequests, { method: "GET", url, code, error });
    },
  };
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
  return netRefusal(permissions, url)?.message;
}

function blockerOf(block: readonly string[]): (request: PageRequest) => boolean {
  const types = block.filter((one) => RESOURCE_TYPES.includes(one));
  const patterns = block.filter((one) => !RESOURCE_TYPES.includes(one)).map(matcherOf);
  return (request) =>
    types.includes(request.resourceType()) || patterns.some((fits) => fits(request.url()));
}

/** Whether a URL is one with `*` for anything. The parts are found from left to right. */
function matcherOf(pattern: string): (url: string) => boolean {
  const [first = "", ...parts] = pattern.split("*");
  return (url) => {
    if (parts.length === 0) return url === first;
    if (!url.startsWith(first)) return false;
    const last = parts.at(-1)!;
    let at = first.length;
    for (const part of parts.slice(0, -1)) {
      const found = url.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return url.length - last.length >= at && url.endsWith(last);
  };
}
