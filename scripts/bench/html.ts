import { toFileUrl } from "@std/path/to-file-url";
import { type Page, withPage } from "../../tests/support/programs/browser.ts";
import { type Figure, median, type Workbench } from "./bench.ts";

const STEPS = 10_000;
const ROUNDS = 7;

/** The time until the first rows are on the screen, in milliseconds since the request. */
const WATCH = `window.drawn = new Promise((resolve) => {
  const look = () => document.querySelector(".row")
    ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    : requestAnimationFrame(look);
  look();
});`;

/** The time until the HTML report of many requests can be read, in a headless Chromium. */
export async function* benchHtml(workbench: Workbench): AsyncGenerator<Figure> {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => Response.json({ items: [{ id: 1, name: "tea" }, { id: 2, name: "mug" }], total: 16.5 }),
  );
  const url = `http://127.0.0.1:${server.addr.port}/`;
  const request = `{ uses: http, with: { get: "${url}" }, test: res.body.total == 16.5 }`;
  const reports: string[] = [];
  for (const count of [1, STEPS]) {
    const file = await workbench.write(
      `requests_${count}.yml`,
      `name: n\njobs:\n  - name: j\n    repeat: { count: ${count}, async: true }\n` +
        `    steps: [${request}]\n`,
    );
    const report = workbench.path(`report_${count}.html`);
    await workbench.runner("--report", `html=${report}`, file);
    reports.push(report);
  }
  await server.shutdown();
  const [one, many] = await withPage(async (page) => {
    await page.send("Page.addScriptToEvaluateOnNewDocument", { source: WATCH });
    const times: number[][] = [[], []];
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, report] of reports.entries()) {
        times[index]!.push(await firstPaint(page, report));
      }
    }
    return times.map(median);
  });
  const { size } = await Deno.stat(reports[1]!);
  yield {
    what: "HTML report of 10,000 requests, until rows are drawn",
    value: many!,
    unit: "ms",
    note: `${(size / 1e6).toFixed(1)} MB`,
    goal: { max: 500 },
  };
  yield { what: "the same of one request", value: one!, unit: "ms" };
}

async function firstPaint(page: Page, report: string): Promise<number> {
  await page.open(toFileUrl(report).href);
  return Number(await page.evaluate("window.drawn"));
}
