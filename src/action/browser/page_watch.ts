import type { Dict } from "../action.ts";
import type { Permissions } from "../permissions/permissions.ts";
import { netRefusal } from "../permissions/host_rule.ts";
import type { DevTools, Page, Request } from "./puppeteer.ts";

/** Records what a page does, and restricts what it may load. */
export interface PageWatch {
  /** Errors in the console and uncaught errors since the step began. */
  readonly consoleErrors: readonly Dict[];
  /** Requests without a response, and those with a code of 400 and above. */
  readonly failedRequests: readonly Dict[];
  /** Dialogs that the page opened. */
  readonly dialogs: readonly Dict[];
  /** Begins a step. */
  begin(step: WatchOptions): Promise<void>;
  /** Resolves when the page that is being opened is there; at once if none is. */
  settled(): Promise<void>;
}

/** The options of a step for it. */
export interface WatchOptions {
  /** Types of resources, or URLs with `*`, that are not loaded. */
  readonly block: readonly string[];
  readonly dismissDialogs: boolean;
}

/** Types of resources that `block` may name. */
export const RESOURCE_TYPES: readonly string[] = [
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

/** Of each kind, so many are kept. */
const MOST = 100;

/** Watches a page for as long as it is open. */
export async function watchPage(
  page: Page,
  devtools: DevTools,
  permissions: Permissions | undefined,
): Promise<PageWatch> {
  const consoleErrors: Dict[] = [];
  const failedRequests: Dict[] = [];
  const dialogs: Dict[] = [];
  let options: WatchOptions = { block: [], dismissDialogs: false };
  let blocks: (request: Request) => boolean = () => false;
  let isIntercepted = false;
  const add = (list: Dict[], one: Dict) => void (list.length < MOST && list.push(one));
  const refused = new WeakMap<Request, string>();
  const blocked = new WeakSet<Request>();

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
  page.on("dialog", (dialog) => {
    const type = dialog.type();
    if (type !== "beforeunload") add(dialogs, { type, message: dialog.message() });
    const isDismissed = options.dismissDialogs && type !== "beforeunload";
    (isDismissed ? dialog.dismiss() : dialog.accept()).catch(() => {});
  });
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

  const navigation = await watchNavigation(devtools);
  return {
    consoleErrors,
    failedRequests,
    dialogs,
    async begin(step) {
      for (const list of [consoleErrors, failedRequests, dialogs]) list.length = 0;
      options = step;
      blocks = blockerOf(step.block);
      const wanted = step.block.length > 0 || permissions !== undefined;
      if (wanted !== isIntercepted) await page.setRequestInterception(isIntercepted = wanted);
    },
    settled: () => navigation.pending ?? Promise.resolve(),
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
  if (!url || /^(?:data|blob|about):$/.test(url.protocol)) return undefined;
  if (url.protocol === "file:") {
    return permissions.read ? `--allow-read allows no page to read ${url.pathname}` : undefined;
  }
  return netRefusal(permissions, url)?.message;
}

function blockerOf(block: readonly string[]): (request: Request) => boolean {
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

/** Follows the navigations of a page that clicks and keys begin. */
async function watchNavigation(
  devtools: DevTools,
): Promise<{ readonly pending: Promise<void> | undefined }> {
  await devtools.send("Page.enable");
  const tree = await devtools.send("Page.getFrameTree") as {
    readonly frameTree: { readonly frame: { readonly id: string } };
  };
  const main = tree.frameTree.frame.id;
  let pending: PromiseWithResolvers<void> | undefined;
  const begin = () => pending ??= Promise.withResolvers<void>();
  const end = () => {
    pending?.resolve();
    pending = undefined;
  };
  devtools.on("Page.frameRequestedNavigation", ({ frameId, disposition }) => {
    if (frameId === main && disposition === "currentTab") begin();
  });
  devtools.on("Page.frameStartedNavigating", ({ frameId, navigationType }) => {
    if (frameId === main && !/sameDocument/i.test(navigationType)) begin();
  });
  for (const event of ["Page.frameStoppedLoading", "Page.navigatedWithinDocument"]) {
    devtools.on(event, ({ frameId }) => frameId === main && end());
  }
  for (const event of ["Page.domContentEventFired", "Page.downloadWillBegin"]) {
    devtools.on(event, end);
  }
  return {
    get pending() {
      return pending?.promise;
    },
  };
}
