import { assert, assertEquals } from "@std/assert";
import { type Page, withPage } from "../../support/programs/browser.ts";
import {
  chooseScheme,
  findBarriers,
  setSize,
  textsOf,
} from "../../support/programs/html_report.ts";
import { RepeatedRun } from "../../support/run/repeated_run.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Jobs that pass, that fail now and then, and that are skipped. */
function workflow(status: number): string {
  return `name: A shop with a name that is rather long for a small screen
jobs:
  - name: Products
    id: products
    steps:
      - { uses: hello, test: "true" }
      - { name: search, uses: hello, test: res.status == ${status} }
  - { name: ${"Checkout".repeat(12)}, needs: [products], steps: [{ uses: hello, test: "true" }] }
finally:
  - { name: tell the team, uses: hello, skipif: run.state == "passed" }
`;
}

async function assertReadable(page: Page, count: number): Promise<void> {
  for (const width of [1400, 400]) {
    await setSize(page, width, 900);
    for (const scheme of ["light", "dark"] as const) {
      await chooseScheme(page, scheme);
      assertEquals([width, scheme, await findBarriers(page)], [width, scheme, []]);
      const screenshots = Deno.env.get("MONITOR_SCREENSHOTS");
      if (screenshots) {
        const { data } = await page.send("Page.captureScreenshot");
        const path = `${screenshots}/${count}-${width}-${scheme}.png`;
        await Deno.writeFile(path, Uint8Array.fromBase64(data as string));
      }
    }
    const beyond = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
    assert(Number(beyond) <= 0, `${width}: nothing is wider than the window`);
  }
}

Deno.test("axe finds no problems in the page of --serve, which fits small and large windows", () =>
  withFiles({ "w.yml": workflow(0) }, (cwd) =>
    withPage(async (page) => {
      let problem: unknown;
      const run = new RepeatedRun(async (count, run) => {
        try {
          // After one run, while a job is down, and when it is well again.
          if (count === 1 || count === 39 || count === 40) {
            await page.open(run.address);
            await assertReadable(page, count);
          }
        } catch (error) {
          problem = error;
        }
        if (count === 40 || problem) run.send("SIGTERM");
        // Three of thirteen runs fail.
        const isDown = count % 13 >= 10 && count !== 39;
        await Deno.writeTextFile(`${cwd}/w.yml`, workflow(isDown ? 1 : 0));
      });
      await run.run(cwd, "--serve", "0");
      if (problem) throw problem;
      assertEquals(await textsOf(page, "h1, h2"), [
        "✓ A shop with a name that is rather long for a small screen",
        "w.yml",
      ]);
      assertEquals(page.errors, []);
    })));
