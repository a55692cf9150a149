import { StepError } from "../../base/errors.ts";
import { suggest } from "../../base/text/suggest.ts";
import { writeStepFile } from "../../action/step_file.ts";
import type { OpenBrowser } from "./open_browser.ts";
import { keepPicture, type PageActor, responseOf, type Results } from "./page_actor.ts";
import type { Page } from "./puppeteer.ts";
import type { ActionContext } from "../../action/action.ts";
import { type Candidate, listCandidates, pageText } from "./page_scripts.ts";
import { excerpt } from "../../action/received.ts";
import { addressOf } from "../../action/net/endpoint.ts";

/** Milliseconds that a page has to show what it looks like after a failure. */
const PATIENCE = 2000;

/** The error of a command, with the state of the page. */
export async function explainFailure(
  message: string,
  error: unknown,
  { page, tabs, command: { name, selector, frame }, attempt }: PageActor,
  browser: OpenBrowser,
  results: Results,
  directory: string | undefined,
): Promise<StepError> {
  const { context } = attempt;
  // A page whose script runs without end answers nothing.
  const ask = async <T>(question: Promise<T>): Promise<T | undefined> => {
    const late = Promise.withResolvers<undefined>();
    const limit = context.deadline.after(PATIENCE, () => late.resolve(undefined));
    return await Promise.race([question.catch(() => undefined), late.promise])
      .finally(() => limit.cancel());
  };
  // Until a page that is being opened is given up, the one before does not answer.
  if (name === "navigate" || tabs.isOpening) {
    await ask(tabs.current.devtools.send("Page.stopLoading"));
  }
  const shown = await ask(describePage(page, context));
  const isMissing = selector !== undefined && !frame && message.includes("no element matches");
  const near = isMissing ? await ask(nearestTo(page, selector)) : undefined;
  const picture = shown && await ask(page.screenshot({ type: "webp", quality: 60 }));
  if (picture) keepPicture(results, "failure", picture, "webp");
  const res = shown && await ask(responseOf(browser, results));
  if (!res) {
    // The next step needs a page that responds.
    attempt.isBroken = true;
    await browser.close();
  }
  const path = picture && directory !== undefined
    ? await writeFailure(directory, picture, context)
    : undefined;
  const hints = [
    ...error instanceof StepError && error.hint !== undefined ? [error.hint] : [],
    ...near === undefined ? [] : [`the nearest element is ${near}`],
    ...res ? [] : ["the page does not answer: a script may be running without end"],
    ...path === undefined ? [] : [`the screenshot is ${path}`],
  ];
  const cause = error instanceof StepError ? error.details.cause : undefined;
  return new StepError(message, hints.length === 0 ? undefined : hints.join("; "), {
    cause,
    res: { ...res, ...shown, code: 1 },
  });
}

/** Saves the picture of a failure under a name of its own. */
async function writeFailure(
  directory: string,
  picture: Uint8Array,
  context: ActionContext,
): Promise<string> {
  const name = context.label.replace(/[^\w-]+/g, "-").slice(0, 60);
  const time = new Date(context.host.clock.now()).toISOString().replace(/[:.]/g, "-");
  const path = `${directory}/${name}-${time}.webp`;
  const what = "the screenshot";
  return await writeStepFile({ path, what, parameter: "screenshots" }, picture, context);
}

async function describePage(page: Page, { secrets }: ActionContext) {
  const text = excerpt(await page.evaluate(pageText), secrets, 1000);
  return { url: page.url(), title: await page.title(), text };
}

/** Where the element is that a selector may mean. */
async function nearestTo(page: Page, selector: string): Promise<string | undefined> {
  const candidates = await page.evaluate(listCandidates);
  return nearest(selector, candidates)?.path;
}

/** The element that a selector that matches nothing may mean: most of its parts, and nearly. */
export function nearest(
  selector: string,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const wanted = partsOf(selector);
  let best: Candidate | undefined;
  let bestScore = 0;
  for (const candidate of candidates) {
    let score = 0;
    for (const { part, isTag } of wanted) {
      if (candidate.names.includes(part)) score += isTag ? 1 : 4;
      else if (!isTag) score += nearness(part, candidate.names);
    }
    // What contains the element has the same text.
    const isInBest = best !== undefined && candidate.path.startsWith(`${best.element} > `);
    if (score > bestScore || score === bestScore && isInBest) {
      [best, bestScore] = [candidate, score];
    }
  }
  // A tag alone is everywhere.
  return bestScore > 2 ? best : undefined;
}

/** An id is more likely a misspelled id than something else that is spelled alike. */
function nearness(part: string, names: readonly string[]): number {
  const bare = (name: string) => name.replace(/^[#.]/, "");
  const near = names.filter((name) => suggest(bare(part), [bare(name)]) !== undefined);
  const kindOf = (name: string) => /^[#.]?/.exec(name)![0];
  if (near.some((name) => kindOf(name) === kindOf(part))) return 3;
  return near.length > 0 ? 2.5 : 0;
}

interface Part {
  readonly part: string;
  readonly isTag: boolean;
}

/** The ids, classes, attribute values and tags of the last element in a selector. */
function partsOf(selector: string): Part[] {
  const text = /^text=(.*)$/s.exec(selector)?.[1];
  if (text !== undefined) return [{ part: text.trim(), isTag: false }];
  const last = selector.trim().split(/\s*[>+~]\s*|\s+(?![^[]*\])|\/+/).at(-1) ?? "";
  const values = last.matchAll(/=\s*["']?([^"'\]]+)["']?\s*\]/g);
  const names = last.replace(/\[[^\]]*\]/g, "").matchAll(/[#.]?[\w-]+/g);
  return [
    ...Array.from(values, ([, value]) => ({ part: value!, isTag: false })),
    ...Array.from(names, ([part]) => ({ part, isTag: !/^[#.]/.test(part) })),
  ];
}

/** What the codes of the browser mean, and what to try. */
const REASONS: Readonly<Record<string, readonly [reason: string, hint?: string]>> = {
  ERR_CONNECTION_REFUSED: ["{address} refused the connection", "is the server running there?"],
  ERR_NAME_NOT_RESOLVED: ['cannot resolve host "{host}"', "check the host name"],
  ERR_CONNECTION_TIMED_OUT: ["{address}: connection timed out"],
  ERR_ADDRESS_UNREACHABLE: ["{address} is unreachable"],
  ERR_INTERNET_DISCONNECTED: ["{address} is unreachable"],
  ERR_NETWORK_CHANGED: ["{address} is unreachable"],
  ERR_CONNECTION_RESET: ["{address} closed the connection"],
  ERR_CONNECTION_CLOSED: ["{address} closed the connection"],
  ERR_EMPTY_RESPONSE: ["{address} closed the connection"],
  ERR_SSL_PROTOCOL_ERROR: [
    "{address} does not speak TLS as a browser does",
    "is it http:// there?",
  ],
  ERR_UNSAFE_PORT: ["browsers open no page of {address}"],
  ERR_TOO_MANY_REDIRECTS: ["redirect loop"],
  ERR_FILE_NOT_FOUND: ["no such file"],
  ERR_ABORTED: ["it is a download and not a page, or it was left before it loaded"],
  ERR_BLOCKED_BY_CLIENT: [
    'it is among what "block" names, or it redirects to a host that is not allowed',
  ],
  ERR_INVALID_AUTH_CREDENTIALS: ["{address} refused the user name or the password"],
};

/** Why a page could not be opened, by the code of the browser; undefined for other errors. */
export function explainNetwork(
  error: unknown,
  url: URL,
  isInsecure: boolean,
): StepError | undefined {
  const message = error instanceof Error ? error.message : "";
  const [, code] = /net::(ERR_\w+)/.exec(message) ?? [];
  if (code === undefined) return undefined;
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const [reason, hint] = code.startsWith("ERR_CERT_")
    ? ["the certificate of {address} is invalid", isInsecure ? undefined : certificateHint(code)]
    : REASONS[code] ?? ["the browser reports an error"];
  const filled = reason.replace("{address}", addressOf({ host, port })).replace("{host}", host);
  const cause = `${filled} (net::${code})`;
  return new StepError(`cannot open ${url.href}: ${cause}`, hint, { cause });
}

function certificateHint(code: string): string {
  const trust = code === "ERR_CERT_AUTHORITY_INVALID"
    ? 'trust its authority with "tls: { ca: ca.pem }" or --cacert ca.pem; '
    : "";
  return `${trust}"tls: { verify: false }" accepts any certificate`;
}
