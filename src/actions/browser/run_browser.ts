import { StepError } from "../../base/errors.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import { inTurn, type Turns } from "../../action/net/in_turn.ts";
import { limitAction } from "../../action/net/step_deadline.ts";
import { onAbort } from "../../action/on_abort.ts";
import { shareConnection } from "../../action/shared_connection.ts";
import { writeStepFile } from "../../action/step_file.ts";
import { carryOut } from "./carry_out.ts";
import { describePage, nearestTo } from "./explain_failure.ts";
import { type BrowserOptions, type OpenBrowser, openBrowser } from "./open_browser.ts";
import { describeOrder, type Order, type OrderOutcome } from "./order.ts";
import { makeActor } from "./page_actor.ts";
import { cookiesOf, setCookies } from "./page_cookies.ts";
import { makeWatch, type PageWatch } from "./page_watch.ts";
import type { Page } from "./puppeteer.ts";
import { readSetup, type Setup } from "./read_setup.ts";
import { captureFailure, keep } from "./screenshots.ts";
import { openTabs, type Tabs } from "./tabs.ts";

/** Milliseconds that a page has to show what it looks like after a failure. */
const PATIENCE = 2000;

/** A browser, its tabs and the watch over their pages. */
type WatchedBrowser = OpenBrowser & { readonly tabs: Tabs; readonly watch: PageWatch };

/** A browser for the steps that share it, one at a time; absent until needed, and once lost. */
interface SharedBrowser extends Turns {
  open: WatchedBrowser | undefined;
}

/** The progress of the actions of a step. */
interface Progress extends OrderOutcome {
  readonly req: Dict;
  /** The time that each action took, in seconds. */
  readonly timing: number[];
}

/** Carries out actions in the page of a browser. An action that fails is an error. */
export async function runBrowser(params: Dict, context: ActionContext): Promise<ActionResult> {
  const setup = await readSetup(params, context);
  const { options, orders, timeout, trace } = setup;
  const session = shareConnection(
    "browser",
    params,
    context.scope,
    JSON.stringify(options),
    (): SharedBrowser => ({ open: undefined, turn: Promise.resolve() }),
    ({ open }) => open?.close(),
  );
  return await inTurn(session, context, async () => {
    if (session.open?.isLost()) await giveUp(session);
    const clock = context.host.clock;
    const began = clock.ticks();
    const open = session.open ??= await openPage(options, context);
    const start = clock.ticks() - began;
    const ask = <T>(activity: string, act: () => Promise<T>) =>
      within(timeout, activity, session, context, act);
    const { page } = open.tabs.current;
    const progress = await ask("preparing the page", async () => {
      if (trace !== undefined) await page.tracing.start({ screenshots: true });
      return await prepare(open, setup, params);
    });
    try {
      await carryOutAll(setup, session, progress, context);
    } finally {
      if (trace !== undefined && session.open) {
        await ask("writing the trace", () => writeTrace(trace, page, context));
      }
    }
    const res = await ask("reading the state of the page", () => responseOf(open, progress));
    return {
      req: progress.req,
      res: { ...res, code: 0 },
      status: 0,
      brief: `${orders.length} action${orders.length === 1 ? "" : "s"}`,
      phases: { ...start < 1 ? {} : { start }, actions: clock.ticks() - began - start },
    };
  });
}

/** Waits for what the browser does beside the actions, for as long as one action may take. */
async function within<T>(
  milliseconds: number,
  activity: string,
  session: SharedBrowser,
  context: ActionContext,
  act: () => Promise<T>,
): Promise<T> {
  const limit = limitAction(context, milliseconds);
  const { signal } = limit.context;
  const stopped = Promise.withResolvers<never>();
  const forget = onAbort(signal, stopped.reject);
  try {
    return await Promise.race([act(), stopped.promise]);
  } catch (error) {
    if (error !== signal.reason || !(error instanceof StepError)) throw error;
    await giveUp(session);
    throw new StepError(`${error.message} while ${activity}`, error.hint);
  } finally {
    forget();
    limit.release();
  }
}

async function openPage(options: BrowserOptions, context: ActionContext) {
  const open = await openBrowser(options, context);
  try {
    const { permissions } = context;
    const watch = makeWatch(permissions);
    const { width, height } = options;
    const shape = { viewport: { width, height } };
    return { ...open, watch, tabs: await openTabs(open, shape, watch, permissions) };
  } catch (error) {
    await open.close();
    throw error;
  }
}

async function giveUp(session: SharedBrowser): Promise<void> {
  const { open } = session;
  session.open = undefined;
  await open?.close();
}

/** Sets up the page as the step wants it. */
async function prepare(
  open: WatchedBrowser,
  setup: Setup,
  params: Dict,
): Promise<Progress> {
  const { tabs, watch } = open;
  const { orders, cookies } = setup;
  await watch.begin(setup);
  await tabs.shape(setup);
  await setCookies(cookies, orders, tabs.current);
  const { cookies: _cookies, actions: _actions, ...rest } = params;
  return {
    req: { ...rest, actions: orders.map(requestOf) },
    timing: [],
    results: {},
    filepaths: {},
    screenshots: {},
    httpCode: null,
  };
}

/** An action as `req` has it. */
function requestOf(order: Order): Dict {
  const { name, id, url = "", selector = "", value = "", attributes, paths, quality = 0 } = order;
  return {
    name,
    id,
    url,
    selector,
    value,
    attribute: attributes,
    path: paths[0] ?? "",
    quality,
    does: describeOrder(order),
  };
}

async function carryOutAll(
  setup: Setup,
  session: SharedBrowser,
  progress: Progress,
  context: ActionContext,
): Promise<void> {
  const { orders } = setup;
  const open = session.open!;
  const { clock } = context.host;
  for (const [index, order] of orders.entries()) {
    const began = clock.ticks();
    const limit = limitAction(context, order.timeout);
    const actor = makeActor(open, order.frames, limit.context);
    const took = () => void progress.timing.push(Math.round(clock.ticks() - began) / 1000);
    try {
      const lost = Promise.withResolvers<never>();
      const forget = onAbort(limit.context.signal, lost.reject);
      await Promise.race([carryOut(order, actor, progress, limit.context), lost.promise])
        .finally(forget);
      took();
      context.log(
        `${describeOrder(order)} took ${formatDuration(Math.round(clock.ticks() - began))}`,
      );
    } catch (error) {
      took();
      const which = `action ${index + 1} of ${orders.length}, ${describeOrder(order)}`;
      if (context.signal.aborted) {
        await giveUp(session);
        const reason = context.signal.reason as StepError;
        throw new StepError(`${reason.message} in ${which}`, reason.hint, { req: progress.req });
      }
      if (session.open?.isLost()) {
        await giveUp(session);
        throw new StepError(`the browser ended during ${which}`, undefined, { req: progress.req });
      }
      const isLate = error === limit.context.signal.reason;
      const message = isLate
        ? `${which}, timed out after ${formatDuration(order.timeout)}: ${actor.waiting()}`
        : `${which}, failed: ${error instanceof Error ? error.message : error}`;
      throw await failure(message, error, order, session, progress, setup, context);
    } finally {
      limit.release();
    }
  }
}

/** The error of an action, with the state of the page. */
async function failure(
  message: string,
  error: unknown,
  { name, selector, frames }: Order,
  session: SharedBrowser,
  progress: Progress,
  { screenshots: directory }: Setup,
  context: ActionContext,
): Promise<StepError> {
  const open = session.open!;
  const { page, devtools } = open.tabs.current;
  // A page whose script runs without end answers nothing.
  const ask = async <T>(question: Promise<T>): Promise<T | undefined> => {
    const late = Promise.withResolvers<undefined>();
    const limit = context.deadline.after(PATIENCE, () => late.resolve(undefined));
    return await Promise.race([question.catch(() => undefined), late.promise])
      .finally(() => limit.cancel());
  };
  // Until a page that is being opened is given up, the one before does not answer.
  if (name === "navigate" || open.tabs.isOpening) {
    await ask(devtools.send("Page.stopLoading"));
  }
  const shown = await ask(describePage(page, context.secrets));
  const near =
    selector !== undefined && frames.length === 0 && message.includes("no element matches")
      ? await ask(nearestTo(page, selector))
      : undefined;
  const picture = shown && await ask(captureFailure(page));
  if (picture) keep(progress, "failure", picture, "webp");
  const res = shown && await ask(responseOf(open, progress));
  // The next step needs a page that responds.
  if (!res) await giveUp(session);
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
    ...cause === undefined ? {} : { cause },
    req: progress.req,
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

async function responseOf(
  open: WatchedBrowser,
  { results, filepaths, screenshots, httpCode, timing }: Progress,
): Promise<Dict> {
  const { tabs, watch: { consoleErrors, failedRequests, dialogs } } = open;
  const { page } = tabs.current;
  return {
    results,
    filepaths,
    url: page.url(),
    title: await page.title().catch(() => ""),
    http_code: httpCode,
    cookies: await cookiesOf(tabs.current),
    console_errors: [...consoleErrors],
    failed_requests: [...failedRequests],
    dialogs: [...dialogs],
    timing,
    screenshots,
  };
}

async function writeTrace(path: string, page: Page, context: ActionContext): Promise<void> {
  const bytes = await page.tracing.stop();
  if (!bytes) return;
  await writeStepFile({ path, what: "the trace", parameter: "trace" }, bytes, context);
}
