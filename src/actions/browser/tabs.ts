import type { Permissions } from "../../action/permissions/permissions.ts";
import { listResponses, untilRead } from "./page_scripts.ts";
import { type PageWatch, refusalOf } from "./page_watch.ts";
import type { Browser, Device, DevTools, Page, Viewport } from "./puppeteer.ts";

/** A tab of a browser, with its page. */
export interface Tab {
  readonly page: Page;
  readonly devtools: DevTools;
}

/** The tabs of a browser. Actions act in the one that was opened last. */
export interface Tabs {
  readonly current: Tab;
  /** Aborted when another tab is the current one, or a frame has left its page. */
  readonly changed: AbortSignal;
  /** Whether its page is leaving for another one. */
  readonly isOpening: boolean;
  /** Gives the current tab and all later ones a device and a size. */
  shape(shape: Shape): Promise<void>;
  /** Resolves when the tabs and pages that are being opened are there; at once if none is. */
  settled(): Promise<void>;
  /** Waits for them no longer. */
  giveUp(): void;
  /** Closes the current tab; false if it is the only one. */
  close(): Promise<boolean>;
}

/** The device that a tab emulates. */
export interface Shape {
  readonly device?: Device | undefined;
  readonly viewport?: Viewport | undefined;
}

type OpenTab = Tab & { readonly navigation: Navigation };

/** Follows the first tab of a browser, and all that are opened later. */
export async function openTabs(
  browser: Browser,
  first: Shape,
  watch: PageWatch,
  permissions: Permissions | undefined,
): Promise<Tabs> {
  let shape = first;
  const tabs: OpenTab[] = [];
  let changed = new AbortController();
  const change = () => {
    changed.abort();
    changed = new AbortController();
  };
  // By their ids, until they are there, turn out to be a download, or have gone.
  const opening = new Map<string, PromiseWithResolvers<void>>();
  const end = (id: string) => {
    opening.get(id)?.resolve();
    opening.delete(id);
  };

  const add = async (page: Page, devtools: DevTools) => {
    await applyShape(shape, page);
    await devtools.send("Emulation.setFocusEmulationEnabled", { enabled: true });
    await watch.add(page, devtools);
    const tab = { page, devtools, navigation: await followNavigation(devtools) };
    page.on("close", () => {
      const at = tabs.indexOf(tab);
      if (at < 0 || tabs.length < 2) return;
      tabs.splice(at, 1);
      change();
      tabs.at(-1)!.page.bringToFront().catch(() => {});
    });
    page.on("framedetached", change);
    tabs.push(tab);
    change();
  };
  const adopt = async (page: Page) => {
    const id = await idOf(page);
    try {
      const devtools = await attached.get(id);
      const url = page.url();
      const refusal = permissions && refusalOf(url, permissions);
      if (!devtools) return;
      if (refusal === undefined) {
        await add(page, devtools);
        return await noteLoaded(tabs.at(-1)!, watch);
      }
      watch.noteRequest(url, null, refusal);
      await page.close();
    } finally {
      end(id);
    }
  };

  const [page = await browser.newPage()] = await browser.pages();
  const devtools = await page.createCDPSession();
  await watch.hearDialogs(devtools);
  await add(page, devtools);
  const root = await browser.target().createCDPSession();
  const all = root.connection()!;
  // A page may open a dialog at once, so each waits until somebody listens.
  const attached = new Map<string, Promise<DevTools>>();
  root.on("Target.attachedToTarget", ({ sessionId, targetInfo, waitingForDebugger }) => {
    if (!waitingForDebugger) return;
    const devtools = all.session(sessionId)!;
    const ready = Promise.all([
      watch.hearDialogs(devtools),
      devtools.send("Runtime.runIfWaitingForDebugger"),
    ]).then(() => devtools);
    ready.catch(() => {});
    attached.set(targetInfo.targetId, ready);
  });
  await root.send("Target.setAutoAttach", {
    ...{ autoAttach: true, waitForDebuggerOnStart: true, flatten: true },
    filter: [{ type: "page", exclude: false }, { exclude: true }],
  });
  all.on("Target.targetCreated", ({ targetInfo: { targetId, type, subtype } }: TargetEvent) => {
    if (type === "page" && !subtype) opening.set(targetId, Promise.withResolvers());
  });
  all.on("Target.targetDestroyed", ({ targetId }) => {
    attached.delete(targetId);
    end(targetId);
  });
  all.on("Browser.downloadWillBegin", ({ frameId }) => end(frameId));
  await all.send("Browser.setDownloadBehavior", { behavior: "default", eventsEnabled: true });
  browser.on("targetcreated", async (target) => {
    // A tab may close at any moment, and then fails at anything.
    const page = target.type() === "page" ? await target.page().catch(() => null) : null;
    if (page) await adopt(page).catch(() => {});
  });

  return {
    get current() {
      return tabs.at(-1)!;
    },
    get changed() {
      return changed.signal;
    },
    async shape({ device, viewport }) {
      if (!device && !viewport) return;
      shape = device ? { device, viewport } : { ...shape, viewport };
      await applyShape({ device, viewport }, tabs.at(-1)!.page);
    },
    async settled() {
      for (;;) {
        const [pending] = opening.values();
        const waiting = pending?.promise ?? tabs.at(-1)!.navigation.pending;
        if (!waiting) return;
        await waiting;
      }
    },
    giveUp: () => opening.clear(),
    get isOpening() {
      return tabs.at(-1)!.navigation.pending !== undefined;
    },
    async close() {
      if (tabs.length < 2) return false;
      await tabs.at(-1)!.page.close();
      return true;
    },
  };
}

/** Waits until a tab that was opened has been read, and notes what had failed before. */
async function noteLoaded({ page, devtools }: Tab, watch: PageWatch): Promise<void> {
  await page.evaluate(untilRead);
  const { frameTree } = await devtools.send("Page.getFrameTree") as unknown as FrameTree;
  const { unreachableUrl } = frameTree.frame;
  if (unreachableUrl !== undefined) watch.noteRequest(unreachableUrl, null, "it did not load");
  for (const [url, code] of await page.evaluate(listResponses)) {
    if (code >= 400) watch.noteRequest(url, code, "");
  }
}

interface FrameTree {
  readonly frameTree: { readonly frame: { readonly unreachableUrl?: string } };
}

/** A target of the browser, which is a page or something else. */
interface TargetEvent {
  readonly targetInfo: {
    readonly targetId: string;
    readonly type: string;
    readonly subtype?: string;
  };
}

async function idOf(page: Page): Promise<string> {
  const devtools = await page.createCDPSession();
  const { targetInfo } = await devtools.send("Target.getTargetInfo") as unknown as TargetEvent;
  await devtools.detach();
  return targetInfo.targetId;
}

async function applyShape({ device, viewport }: Shape, page: Page): Promise<void> {
  if (device) await page.emulate(device);
  if (viewport) await page.setViewport(viewport);
}

/** The navigations of a page that clicks and keys begin. */
interface Navigation {
  /** Resolves when the page that is being opened is there; undefined if none is. */
  readonly pending: Promise<void> | undefined;
}

async function followNavigation(devtools: DevTools): Promise<Navigation> {
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
