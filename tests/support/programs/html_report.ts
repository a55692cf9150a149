import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import { type Page, withPage } from "./browser.ts";
import type { CliResult } from "../run/run_cli.ts";
import { runMain } from "../run/run_main.ts";
import { withFiles } from "../temp_dir.ts";

const AXE = fromFileUrl(
  new URL("../../tools/node_modules/axe-core/axe.min.js", import.meta.url),
);

/** A run whose HTML report is open in a browser. */
export interface OpenReport {
  readonly page: Page;
  readonly result: CliResult;
  /** Where the report is. */
  readonly url: string;
}

/** Runs a workflow, opens its HTML report in a browser, and closes the browser at the end. */
export async function withReport<T>(
  workflow: string,
  use: (report: OpenReport) => Promise<T>,
  { env = {}, files = {} }: {
    readonly env?: Readonly<Record<string, string>>;
    readonly files?: Readonly<Record<string, string>>;
  } = {},
): Promise<T> {
  return await withFiles({ "w.yml": workflow, ...files }, async (cwd) => {
    const result = await runMain(["--report", "html=report.html", "w.yml"], { cwd, env });
    return await withPage(async (page) => {
      const url = toFileUrl(`${cwd}/report.html`).href;
      await setSize(page, 1400, 900);
      await page.open(url);
      return await use({ page, result, url });
    });
  });
}

/** Resizes the window, in pixels. */
export async function setSize(page: Page, width: number, height: number): Promise<void> {
  const size = { width, height, deviceScaleFactor: 1, mobile: false };
  await page.send("Emulation.setDeviceMetricsOverride", size);
}

/** Opens a page with the dark or light colour scheme of the system. */
export async function chooseScheme(page: Page, scheme: "dark" | "light"): Promise<void> {
  await page.send("Emulation.setEmulatedMedia", {
    features: [{ name: "prefers-color-scheme", value: scheme }],
  });
}

/** The problems that axe finds in the current page, one line per element. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.addScript(AXE);
  return await page.evaluate(`(async () => {
    const { violations } = await axe.run(document);
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => id + " " + target.join(" ") + ": " + failureSummary)
    );
  })()`) as string[];
}

const BROKEN = `[...document.querySelectorAll("td, th")].flatMap((cell) => {
  const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const broken = [];
  while (walker.nextNode()) {
    for (const { 0: word, index } of walker.currentNode.textContent.matchAll(/\\S+/g)) {
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + word.length);
      // A word of two fonts has two boxes, side by side.
      if (new Set([...range.getClientRects()].map(({ bottom }) => bottom)).size > 1) broken.push(word);
    }
  }
  return broken;
})`;

/** The words of tables that are on two lines. */
export async function findBrokenWords(page: Page): Promise<string[]> {
  return await page.evaluate(BROKEN) as string[];
}

/** The texts of the elements that a selector finds. */
export async function textsOf(page: Page, selector: string): Promise<string[]> {
  const found = `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
  return await page.evaluate(`${found}.map((element) => element.textContent)`) as string[];
}

/** Clicks on the first element that a selector finds. */
export async function click(page: Page, selector: string): Promise<void> {
  await page.evaluate(`document.querySelector(${JSON.stringify(selector)})
    .dispatchEvent(new MouseEvent("click", { bubbles: true }))`);
}

/** Gives a field another value, as if it were typed or chosen. */
export async function fill(page: Page, selector: string, value: string): Promise<void> {
  await page.evaluate(`(() => {
    const field = document.querySelector(${JSON.stringify(selector)});
    field.value = ${JSON.stringify(value)};
    for (const type of ["input", "change"]) field.dispatchEvent(new Event(type, { bubbles: true }));
  })()`);
}
