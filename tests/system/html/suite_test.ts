import { assert, assertEquals } from "@std/assert";
import { toFileUrl } from "@std/path/to-file-url";
import { type Page, withPage } from "../../support/programs/browser.ts";
import {
  fill,
  findBarriers,
  findBrokenWords,
  setSize,
  textsOf,
} from "../../support/programs/html_report.ts";
import { until } from "../../support/run/processes.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const WORKFLOWS = 100;
const STEPS = 50;

/** Many workflows; one of them fails, cleans up and tolerates a failure. */
function manyWorkflows(): Record<string, string> {
  const steps = `    steps:\n${
    '      - { name: a step, uses: hello, with: { text: "some words" }, test: status == 0 }\n'
      .repeat(STEPS)
  }`;
  const files: Record<string, string> = {};
  for (let number = 0; number < WORKFLOWS; number++) {
    const name = `flows/${String(number).padStart(3, "0")}.yml`;
    files[name] = `name: Flow ${number}\njobs:\n  - name: Work\n${steps}`;
  }
  files["flows/007.yml"] = `name: Agent
jobs:
  - name: Mission
    id: mission
    steps: [{ name: fails, uses: hello, test: "false" }]
    finally: [{ name: leaves nothing behind, uses: hello, test: job.state == 'failed' }]
  - name: Load
    load: { rate: 1000/s, count: 4, expect: stats.failed == 1 }
    steps: [{ name: now and then, uses: hello, test: round.index != 2 }]
finally:
  - { name: goes home, uses: hello, test: run.state == 'failed' }
`;
  return files;
}

/** The time until the index is on the screen, in milliseconds since the page was asked for. */
const WATCH = `window.drawn = new Promise((resolve) => {
  const look = () => document.querySelector("#index-count")?.textContent
    ? requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    : requestAnimationFrame(look);
  look();
});`;

/** The page may be loaded anew meanwhile, which ends an evaluation. */
async function untilShown(page: Page, expression: string): Promise<void> {
  const isShown = () => page.evaluate(expression).then((value) => value === true, () => false);
  await until(isShown, expression);
}

Deno.test("the HTML page of 100 workflows shows an index within a second, and each workflow", () =>
  withFiles(manyWorkflows(), async (cwd) => {
    const { code } = await runMain(["--report", "html=report.html", "flows"], { cwd });
    assertEquals(code, 1);
    const url = toFileUrl(`${cwd}/report.html`).href;
    await withPage(async (page) => {
      await setSize(page, 1400, 900);
      await page.send("Page.addScriptToEvaluateOnNewDocument", { source: WATCH });
      const times: number[] = [];
      for (let round = 0; round < 3; round++) {
        await page.open(url);
        times.push(Number(await page.evaluate("window.drawn")));
      }
      assert(Math.min(...times) < 1000, `drawn after ${times} ms`);

      const visible = "tbody tr:not([hidden])";
      assertEquals(await textsOf(page, `${visible} a`), ["Agent"]);
      assertEquals(await findBarriers(page), []);
      await fill(page, "#index-show", "all");
      assertEquals((await textsOf(page, visible)).length, WORKFLOWS);
      for (const width of [400, 1024, 1400]) {
        await setSize(page, width, 900);
        assertEquals(await findBrokenWords(page), []);
        const fits = "document.documentElement.scrollWidth <= innerWidth";
        assertEquals([width, await page.evaluate(fits)], [width, true]);
      }
      await fill(page, "#index-search", "flow 42");
      assertEquals(await textsOf(page, `${visible} a`), ["Flow 42"]);
      assertEquals(await textsOf(page, "#index-count"), [`1 of ${WORKFLOWS} workflows`]);
      // What steps said is found, too.
      await fill(page, "#index-search", "some words");
      assertEquals(await textsOf(page, "#index-count"), [`99 of ${WORKFLOWS} workflows`]);
      await fill(page, "#index-search", "leaves nothing behind");
      assertEquals(await textsOf(page, `${visible} a`), ["Agent"]);
      await fill(page, "#index-search", "flow 42");
      assertEquals(await page.evaluate("location.hash"), "#show=all&find=flow%2042");
      const follow = `document.querySelector("${visible} a").click()`;
      await page.evaluate(follow);
      await untilShown(page, "document.querySelectorAll('.row').length > 10");
      // The way back leads to the same list.
      await page.evaluate("history.back()");
      await untilShown(
        page,
        "document.querySelector('#index-count')?.textContent.startsWith('1 of ')",
      );
      assertEquals(await textsOf(page, `${visible} a`), ["Flow 42"]);
      await page.evaluate(follow);
      await untilShown(page, "document.querySelectorAll('.row').length > 10");
      assertEquals(await textsOf(page, "header:not([hidden] *) .counts li:nth-child(2)"), [
        `${STEPS} steps: ${STEPS} passed`,
      ]);

      await page.evaluate("location.hash = '#run-7'");
      await untilShown(page, "document.querySelector('#rows')?.textContent.includes('fails')");
      await fill(page, "#show", "all");
      const rows = (await textsOf(page, ".row")).join("\n");
      for (const name of ["leaves nothing behind", "goes home", "now and then"]) {
        assert(rows.includes(name), rows);
      }
      const graph = (await textsOf(page, "#graph text")).join("\n");
      for (const name of ["Mission", "Load", "cleanup"]) assert(graph.includes(name), graph);
      await fill(page, "#show", "allowed");
      assertEquals(await textsOf(page, "#count"), ["1 of 7 steps"]);
      assertEquals(await findBarriers(page), []);
      assertEquals(page.errors, []);
      const picture = Deno.env.get("PICTURE");
      if (picture) {
        await fill(page, "#show", "all");
        const { data } = await page.send("Page.captureScreenshot", { format: "png" });
        await Deno.writeFile(picture, Uint8Array.from(atob(String(data)), (c) => c.charCodeAt(0)));
      }
    });
  }));
