import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { toFileUrl } from "@std/path/to-file-url";
import { type Page, withPage } from "../../support/programs/browser.ts";
import {
  chooseScheme,
  click,
  fill,
  findBarriers,
  findBrokenWords,
  setSize,
  textsOf,
  withReport,
} from "../../support/programs/html_report.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

const MANY = `
name: Many
jobs:
  - name: All of them
    repeat: { count: 10000, async: true }
    steps:
      - { name: number, uses: echo, with: { message: "{{repeat_index}}" }, test: repeat_index != 5 }
`;

const ONE = "name: n\njobs: [{ name: j, steps: [{ uses: hello, test: 'res.to == \"x\"' }] }]\n";

/** Every state and every kind of detail. */
const ALL_KINDS = `
name: All kinds
description: Of steps and jobs
vars: { url: "{{SERVER_URL}}" }
jobs:
  - name: Requests
    id: requests
    steps:
      - name: fails with values
        uses: http
        with: { post: "{{vars.url}}/", body: { a: [1, { b: null }] } }
        test: res.body == {"a":[1, {"b":2}]}
        echo: "two\\nlines"
      - name: passes the second time
        id: second
        uses: http
        with: { get: "{{vars.url}}/flaky" }
        retry: { max_attempts: 3, interval: 1ms }
        test: res.code == 200
        outputs: { all: res.body }
      - { name: not tested, uses: shell, with: { cmd: exit 3 } }
      - { name: left out, uses: hello, skipif: "true" }
      - { name: cannot be, uses: http, with: { get: "http://127.0.0.1:1/" } }
  - { name: Waits in vain, needs: [requests], steps: [{ uses: hello }] }
  - { name: Beside it, steps: [{ uses: hello, test: "true" }] }
`;

async function assertNoBarriers(page: Page): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await chooseScheme(page, scheme);
    assertEquals([scheme, await findBarriers(page)], [scheme, []]);
  }
}

Deno.test("axe finds no problems in any view of the HTML report", async () => {
  let asked = 0;
  await using server = withServer(({ url }) =>
    new URL(url).pathname === "/flaky" && asked++ === 0
      ? new Response("later", { status: 503 })
      : Response.json({ a: [1, { b: 3 }], list: Array.from({ length: 150 }, (_, i) => i) })
  );
  await withReport(ALL_KINDS, async ({ page }) => {
    await assertNoBarriers(page);
    await fill(page, "#show", "all");
    await page.evaluate("document.querySelectorAll('.panel').forEach((one) => one.open = true)");
    await page.press("?");
    await assertNoBarriers(page);
    await page.press("Escape");
    const rows = await textsOf(page, ".row");
    assertEquals(rows.length, 9);
    for (const index of rows.keys()) {
      await click(page, `#row-${index}`);
      await assertNoBarriers(page);
    }
    await fill(page, "#search", "nothing of the kind");
    await assertNoBarriers(page);
    await fill(page, "#search", "");
    await setSize(page, 400, 700);
    await assertNoBarriers(page);
    assertEquals(page.errors, []);
  }, { env: { SERVER_URL: server.url } });
});

Deno.test("axe finds no problems in an HTML report of one step, or of 10,000", async () => {
  for (const workflow of [ONE, MANY]) {
    await withReport(workflow, async ({ page }) => {
      await assertNoBarriers(page);
      await fill(page, "#show", "all");
      await click(page, "#row-0");
      await assertNoBarriers(page);
    });
  }
});

Deno.test("axe finds no problems in a graph of 300 jobs", async () => {
  const jobs = Array.from({ length: 300 }, (_, index) => ({
    id: `job-${index}`,
    name: `Job ${index}`,
    needs: index < 10 ? [] : [`job-${index - 10}`],
    steps: [{ uses: "hello" }],
  }));
  await withReport(JSON.stringify({ name: "n", jobs }, null, 1), async ({ page }) => {
    await assertNoBarriers(page);
  });
});

Deno.test("axe finds a problem if there is one", async () => {
  await withReport(ONE, async ({ page }) => {
    await page.evaluate(`document.querySelector("label[for=search]").remove()`);
    await page.evaluate(`document.getElementById("search").removeAttribute("placeholder")`);
    await page.evaluate(`document.querySelector(".muted").style.color = "#dddddd"`);
    const found = (await findBarriers(page)).join("\n");
    for (const rule of ["label", "color-contrast"]) assertStringIncludes(found, `${rule} `);
  });
});

Deno.test("axe finds no problems in the history and the coverage of an HTML report", async () => {
  await using server = withServer(() => Response.json({ id: 7 }));
  const files = {
    "w.yml": `name: n
vars: { url: "{{SERVER_URL}}" }
jobs:
  - name: j
    steps:
      - { uses: http, with: { get: "{{vars.url}}/item", openapi: api.yml } }
      - name: twice
        uses: shell
        with: { cmd: "[ -e made ] || { touch made; exit 1; }" }
        test: res.code == 0
        retry: { max_attempts: 2, interval: 1ms }
  - name: Load
    load: { rate: 50/s, for: 100ms }
    steps: [{ name: ask, uses: http, with: { get: "{{vars.url}}/" }, test: "true" }]
`,
    "api.yml": `openapi: 3.1.0
info: { title: Shop, version: "1" }
paths:
  /item: { get: { responses: { "200": { description: good }, "404": { description: none } } } }
`,
  };
  await withFiles(files, async (cwd) => {
    const args = ["--report", "html=report.html", "--history", "history", "w.yml"];
    const env = { SERVER_URL: server.url };
    for (const _ of [1, 2]) assertEquals((await runMain(args, { cwd, env })).code, 0);
    await withPage(async (page) => {
      await setSize(page, 1280, 900);
      await page.open(toFileUrl(`${cwd}/report.html`).href);
      await page.evaluate("document.querySelectorAll('.panel').forEach((one) => one.open = true)");
      assertStringIncludes((await textsOf(page, "#history-part"))[0]!, "j › twice");
      assertStringIncludes((await textsOf(page, ".api-coverage"))[0]!, "✗ 404");
      const names =
        `[...document.querySelectorAll("#history-charts svg")].map((one) => one.ariaLabel)`;
      const [durations = "", shares, times] = await page.evaluate(names) as string[];
      assertMatch(durations, /^Duration\. duration: [\d.]+m?s to [\d.]+m?s, last [\d.]+m?s$/);
      assertStringIncludes(
        shares!,
        ". passed: 100% to 100%, last 100%; flaky: 0% to 14.3%, last 0%",
      );
      assertMatch(
        times!,
        /^p95 under load\. Load: [\d.]+m?s to .*; Load › ask: .*, last [\d.]+m?s$/,
      );
      assertMatch(
        (await textsOf(page, "#history-part"))[0]!,
        /Load › ask[\d.]+m?s(▲ slower, )?[-+]?\d+%/,
      );
      // The legend shows the values where the pointer is.
      await page.evaluate(`document.querySelectorAll("#history-charts svg")[1]
        .dispatchEvent(new PointerEvent("pointermove", { clientX: 10000, clientY: 100 }))`);
      const values = await textsOf(page, "#history-charts figure:nth-child(2) strong");
      assertEquals(values.map((value) => value.trim()), ["100%", "0%"]);
      await assertNoBarriers(page);
      for (const width of [1400, 1024, 400]) {
        await setSize(page, width, 844);
        assertEquals([width, await findBrokenWords(page)], [width, []]);
      }
      await assertNoBarriers(page);
      const fits = "document.documentElement.scrollWidth <= innerWidth";
      assertEquals(await page.evaluate(fits), true);
      assertEquals(page.errors, []);
    });
  });
});
