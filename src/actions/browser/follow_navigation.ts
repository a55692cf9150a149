import type { DevTools } from "./puppeteer.ts";

/** The navigations of a page that clicks and keys begin. */
export interface Navigation {
  /** Resolves when the page that is being opened is there; undefined if none is. */
  readonly pending: Promise<void> | undefined;
}

/** Follows the navigations of a page. */
export async function followNavigation(devtools: DevTools): Promise<Navigation> {
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
