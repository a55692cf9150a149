import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { onAbort } from "../../action/on_abort.ts";
import {
  cornerOf,
  type ElementBox,
  isLoaded,
  nextFrame,
  type Probe,
  probe,
} from "./page_scripts.ts";
import type { Handle, Page, PageFrame } from "./puppeteer.ts";
import type { Tabs } from "./tabs.ts";

/** The state of an element that an action waits for. */
export interface Wanted {
  readonly visible?: true;
  readonly enabled?: true;
  /** In view, not moving and not covered, so that the mouse reaches it. */
  readonly reachable?: true;
}

/** Acts in a page for one action, as long as its time lasts. */
export interface PageActor {
  /** The page of the current tab, which is another one when a tab is opened or closed. */
  readonly page: Page;
  /** A description of the last wait, which explains a timeout. */
  readonly waiting: () => string;
  /** The page itself or a frame in it, where the elements are; a description if it is not there. */
  location(): Promise<PageLocation | string>;
  /** The element of a selector, without waiting; else a description of what is missing. */
  find(selector: string): Promise<Handle | string>;
  /** The element of a selector once it is as wanted. */
  element(selector: string, wanted: Wanted): Promise<FoundElement>;
  /** Waits until a look at the page is good: it returns what is still missing, or nothing. */
  until(look: () => Promise<string | undefined>): Promise<void>;
  /** Waits for something that the browser does. */
  wait<T>(promise: Promise<T>, what?: string): Promise<T>;
  /** The beginning of a text of the page, for a description. */
  excerpt(text: string): string;
  /** Closes the current tab; false if it is the only one. */
  closeTab(): Promise<boolean>;
  /** Acts, and waits for the page that this opens, if any. */
  act(act: () => Promise<unknown>): Promise<void>;
}

/** A page or a frame, and where it begins in the window. */
export interface PageLocation {
  readonly frame: PageFrame;
  readonly corner: readonly [x: number, y: number];
}

/** An element and its state. */
export interface FoundElement extends Probe {
  readonly handle: Handle;
  readonly middle: readonly [x: number, y: number];
}

const NO_ANSWER = "the page did not answer";
const NOT_LOADED = "the page that it opens did not load";

/** Milliseconds between two looks. */
const PAUSE = 50;

/** An actor for one action, in the frames of these selectors; the signal of the context ends it. */
export function makeActor(
  { tabs, isLost }: { readonly tabs: Tabs; readonly isLost: () => boolean },
  frames: readonly string[],
  context: ActionContext,
): PageActor {
  const { signal, deadline } = context;
  let waiting = NO_ANSWER;

  const wait = async <T>(promise: Promise<T>, what?: string): Promise<T> => {
    if (what !== undefined) waiting = what;
    const stopped = Promise.withResolvers<never>();
    const forget = onAbort(signal, stopped.reject);
    promise.catch(() => {});
    try {
      return await Promise.race([promise, stopped.promise]);
    } finally {
      forget();
    }
  };
  const pause = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = deadline.after(PAUSE, resolve);
    await wait(promise).finally(() => timer.cancel());
  };
  const hasGone = async (page: Page) => {
    await pause();
    return tabs.current.page !== page;
  };
  const until = async (look: () => Promise<string | undefined>) => {
    for (;;) {
      const { page } = tabs.current;
      try {
        const missing = await wait(look());
        if (missing === undefined) return;
        waiting = missing;
      } catch (error) {
        if (isLost() || !isPassing(error) && !await hasGone(page)) throw error;
      }
      await pause();
    }
  };
  const location = async (): Promise<PageLocation | string> => {
    let frame: PageFrame = tabs.current.page;
    let corner: PageLocation["corner"] = [0, 0];
    for (const selector of frames) {
      const handle = await findElement(frame, selector);
      if (!handle) return `no frame matches ${JSON.stringify(selector)}`;
      const inner = await handle.contentFrame();
      if (!inner) throw new StepError(`the element ${JSON.stringify(selector)} is not a frame`);
      const [x, y] = await handle.evaluate(cornerOf);
      corner = [corner[0] + x, corner[1] + y];
      frame = inner;
    }
    return { frame, corner };
  };
  const find = async (selector: string): Promise<Handle | string> => {
    const found = await location();
    if (typeof found === "string") return found;
    return await findElement(found.frame, selector) ??
      `no element matches ${JSON.stringify(selector)}`;
  };
  const element = async (selector: string, wanted: Wanted): Promise<FoundElement> => {
    let found: FoundElement | undefined;
    await until(async () => {
      const handle = await find(selector);
      if (typeof handle === "string") return handle;
      const state = await handle.evaluate(probe, wanted.reachable === true);
      const { hidden, isDisabled, isStable, cover } = state;
      const it = `the element ${JSON.stringify(selector)}`;
      const missing = wanted.visible && hidden !== undefined
        ? `${it} is not visible: ${hidden}`
        : wanted.enabled && isDisabled
        ? `${it} is disabled`
        : wanted.reachable && !isStable
        ? `${it} keeps moving`
        : wanted.reachable && cover !== undefined
        ? `${it} is covered by ${cover}`
        : undefined;
      if (missing !== undefined) {
        await handle.dispose();
        return missing;
      }
      // Scrolling the element into view may have moved the frames.
      const now = await location();
      if (typeof now === "string") return now;
      found = { ...state, handle, middle: middleOf(state.box, now.corner) };
      return undefined;
    });
    return found!;
  };
  return {
    get page() {
      return tabs.current.page;
    },
    waiting: () => waiting === NO_ANSWER && tabs.isOpening ? NOT_LOADED : waiting,
    location,
    find,
    element,
    until,
    wait,
    excerpt: (text) => excerpt(text, context.secrets),
    closeTab: tabs.close,
    async act(act) {
      const { page } = tabs.current;
      const unlessGone = async (error: unknown) => {
        if (!await hasGone(page)) throw error;
      };
      await wait(act(), NO_ANSWER).catch(unlessGone);
      // Scripts and forms begin to open a page a moment after the click.
      await wait(page.evaluate(nextFrame)).catch(async (error) => {
        if (!isPassing(error)) await unlessGone(error);
      });
      await wait(tabs.settled(), NOT_LOADED).catch((error) => {
        tabs.giveUp();
        throw error;
      });
    },
  };
}

/** Waits until the page is loaded. */
export async function untilLoaded(actor: PageActor): Promise<void> {
  await actor.until(async () =>
    await actor.page.evaluate(isLoaded) ? undefined : "the page is still loading"
  );
}

function middleOf(
  { x, y, width, height }: ElementBox,
  [left, top]: PageLocation["corner"],
): [number, number] {
  return [left + x + width / 2, top + y + height / 2];
}

/** The first element that a selector matches. */
async function findElement(frame: PageFrame, selector: string): Promise<Handle | null> {
  try {
    return await frame.$(toQuery(selector));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (!/not a valid (?:selector|XPath)|SyntaxError|Failed to execute 'evaluate'/i.test(message)) {
      throw error;
    }
    throw new StepError(
      `invalid selector ${JSON.stringify(selector)}`,
      "it is a CSS selector, an XPath that begins with / or (, or text=…",
    );
  }
}

/** A selector as the library takes it. */
function toQuery(selector: string): string {
  const text = selector.trim();
  if (/^\(*\.?\//.test(text)) return `::-p-xpath(${text})`;
  if (text.startsWith("xpath=")) return `::-p-xpath(${text.slice(6)})`;
  if (text.startsWith("text=")) return `::-p-text(${text.slice(5)})`;
  return text;
}

/** Whether an error only says that another page is being opened, or the element was replaced. */
function isPassing(error: unknown): boolean {
  const message = error instanceof Error ? error.message : "";
  return /context was destroyed|Cannot find context|detached|Node is|JSHandle|same JavaScript world|No node|Protocol error \((?:DOM|Runtime)\./i
    .test(message);
}
