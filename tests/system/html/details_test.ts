import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
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
import type { Page } from "../../support/programs/browser.ts";
import { until } from "../../support/run/processes.ts";
import { withServer } from "../../support/servers/with_server.ts";

const VALUES = `name: n
vars: { found: { outermost: [{ a: 1 }, { b: [2, 3] }], e: [] }, right: { e: [], f: 1 } }
jobs:
  - name: j
    steps:
      - name: unlike
        uses: hello
        test: vars.found == vars.right
      - name: says
        id: says
        uses: hello
        test: "true"
        outputs: { none: "nil", empty: "''" }
`;

Deno.test("a value is indented like JSON", async () => {
  await withReport(VALUES, async ({ page }) => {
    const places = await page.evaluate(`(() => {
      const table = document.querySelector("#details .failure .plain");
      const left = (text) => {
        const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
        const range = document.createRange();
        while (walker.nextNode()) {
          if (walker.currentNode.textContent !== text) continue;
          range.selectNodeContents(walker.currentNode);
          const { left, width } = range.getBoundingClientRect();
          // The end of what is folded is there, too.
          if (width > 0) return Math.round(left);
        }
      };
      return ["{", '"outermost": ', "],", '"a": ', '"b": ', '"e": '].map(left);
    })()`) as number[];
    const [outer, key, end, a, b, e] = places;
    assertEquals([key, e], [end, end], "a key is above the end of its value");
    assertEquals(a, b, "keys are below each other");
    const step = key! - outer!;
    assert(step > 5 && step < 40, `${step} pixels`);
    // One for the list and one for the map in it.
    assertEquals(a! - key!, 2 * step);
  });
});

Deno.test("a failure starts with its line, and differences are coloured", async () => {
  await withReport(VALUES, async ({ page }) => {
    const [source] = await textsOf(page, "#details .failure pre");
    assertEquals(source, "test: vars.found == vars.right");
    assertEquals(await textsOf(page, "#details .sides th"), [
      ...["expected: vars.right", "received: vars.found"],
    ]);
    assertEquals(await textsOf(page, "#details .expected"), ['  "f": 1']);
    assert((await textsOf(page, "#details .received")).includes('  "outermost": ['));
  });
});

Deno.test("tables break no words and make no page scroll sideways, and literals are no parts", async () => {
  const long = "A_text_without_spaces_that_is_as_long_as_some_tokens_are_".repeat(2);
  const workflow = `name: n
vars: { order: { id: 7, state: ${long}, name: a name of several words, tags: [{ a: 1 }, { b: ${long} }] } }
jobs:
  - name: j
    steps:
      - name: unlike
        uses: hello
        test: vars.order == {"id":7,"state":vars.order.name,"tags":[vars.order.id],"other":{"longer":"value"}}
      - { uses: hello, test: vars.order.state == vars.order.name + "${long}" }
`;
  await withReport(workflow, async ({ page }) => {
    await fill(page, "#show", "all");
    for (const width of [400, 1024, 1400]) {
      await setSize(page, width, 900);
      for (const row of [1, 2]) {
        await click(page, `#row-${row}`);
        const wide = "document.documentElement.scrollWidth > innerWidth";
        assertEquals([width, await findBrokenWords(page)], [width, []]);
        assertEquals([width, await page.evaluate(wide)], [width, false]);
        const parts = await textsOf(page, "#details .plain td:first-child");
        assert(parts.length > 0 && parts.every((part) => part.startsWith("vars.")), `${parts}`);
        assertEquals(await findBarriers(page), []);
      }
    }
    const cell = "document.querySelector('#details .plain td').style";
    await page.evaluate(
      `Object.assign(${cell}, { display: "block", width: "3em", overflowWrap: "anywhere" })`,
    );
    assert((await findBrokenWords(page)).length > 0, "the check finds what is broken");
    assertEquals(page.errors, []);
  });
});

Deno.test("expected and received are side by side where there is room", async () => {
  await withReport(VALUES, async ({ page }) => {
    const places = `["expected", "received"].map((name) =>
      document.querySelector("#details .sides ." + name).getBoundingClientRect().left)`;
    for (const [width, isBeside] of [[1400, true], [1024, false], [400, false]] as const) {
      await setSize(page, width, 900);
      const [left, right] = await page.evaluate(places) as number[];
      assertEquals([width, left! < right!], [width, isBeside]);
    }
  });
});

Deno.test("headers are a list, and times have units", async () => {
  await using server = withServer(() => Response.json({ a: 1 }, { headers: { "x-one": "first" } }));
  const workflow = `name: n
vars: { url: "{{SERVER_URL}}" }
jobs: [{ name: j, steps: [{ uses: http, with: { get: "{{vars.url}}/" }, test: res.code == 201 }] }]
`;
  await withReport(workflow, async ({ page }) => {
    const entries = await page.evaluate(`Object.fromEntries(
      [...document.querySelectorAll("#details dl dl dt")].map((name) =>
        [name.textContent, name.nextSibling.textContent]))`) as Record<string, string>;
    assertEquals([entries["X-One"], entries["Accept"]], ["first", "*/*"]);
    assert(/^[\d.]+m?s$/.test(entries.total!), entries.total);
    assertEquals(await textsOf(page, "#details dd .tree .key"), ['"a": ']);
  }, { env: { SERVER_URL: server.url } });
});

Deno.test("a repeated job shows the distribution of the response times of its steps", async () => {
  await using server = withServer(() => Response.json({}));
  const workflow = `name: n
vars: { url: "{{SERVER_URL}}" }
jobs:
  - name: j
    repeat: { count: 50 }
    steps: [{ name: ask, uses: http, with: { get: "{{vars.url}}/" }, test: res.code == 200 }]
`;
  await withReport(workflow, async ({ page }) => {
    for (const width of [1400, 400]) {
      await setSize(page, width, 900);
      await click(page, "#row-0");
      assertEquals(await textsOf(page, ".chart-figure figcaption"), [
        "ask: 50 times, on a logarithmic axis",
      ]);
      const titles = await textsOf(page, ".chart .count title");
      const counts = titles.map((title) => Number(/: (\d+)$/.exec(title)![1]));
      assertEquals(counts.reduce((sum, count) => sum + count, 0), 50);
      const legend = await textsOf(page, ".chart-figure .legend li");
      assertEquals(legend.map((text) => text.split(" ")[0]), ["p50", "p95", "p99"]);
      assertEquals(await findBarriers(page), []);
      assertEquals(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    }
    // Steps are counted as in the header, although only two rows are shown.
    assertEquals(await textsOf(page, "#count"), ["50 of 50 steps"]);
    assertEquals(page.errors, []);
  }, { env: { SERVER_URL: server.url } });
});

Deno.test("a load job shows its curves, distributions, thresholds and causes of failures", async () => {
  let asked = 0;
  await using server = withServer(() =>
    Response.json({ asked }, { status: asked++ % 10 === 5 ? 503 : 200 })
  );
  const workflow = `name: n
vars: { url: "{{SERVER_URL}}" }
jobs:
  - name: Checkout
    id: checkout
    load:
      warm_up: 100ms
      stages: [{ rate: 100/s, for: 400ms }, { rate: 200/s, for: 300ms, ramp: true }]
      expect: [stats.count > 0, stats.failed == 0]
    steps:
      - { name: pay, id: pay, uses: http, with: { get: "{{vars.url}}/" }, test: res.code == 200 }
`;
  await withReport(workflow, async ({ page }) => {
    const titles = ["Rounds per second", "Time of a round", "ailed", "Rounds under way"];
    const loaded = "#details .chart[aria-label^='Rounds per second.']";
    // It is what the page begins with.
    assertEquals(await textsOf(page, "#details h2"), ["Checkout"]);
    for (const [width, scheme] of [[1400, "light"], [400, "dark"]] as const) {
      await chooseScheme(page, scheme);
      await setSize(page, width, 900);
      await click(page, "#row-0");
      const [good, bad] = await textsOf(page, "#details .thresholds li");
      assertMatch(good!, /^✓ stats\.count > 0 \d+$/);
      assertMatch(bad!, /^✗ stats\.failed == 0 \d+$/);
      assertEquals(await textsOf(page, "#details th[scope=row]"), ["all rounds", "pay"]);
      const [count] = await textsOf(page, "#details .numbers td");
      assertEquals(count, /\d+$/.exec(good!)![0]);
      const charts = await textsOf(page, "#details .chart-figure figcaption");
      for (const [index, title] of titles.entries()) assertStringIncludes(charts[index]!, title);
      assertEquals(
        charts.slice(4),
        ["All rounds", "pay"].map((name) => `${name}: ${count} times, on a logarithmic axis`),
      );
      const labels =
        `[...document.querySelectorAll("#details .chart")].map((one) => one.ariaLabel)`;
      const [rates = "", times = ""] = await page.evaluate(labels) as string[];
      assertMatch(rates, /asked: .* to .*\/s, last .*\/s; achieved: .*\/s$/);
      assertMatch(times, /p50: .*; p95: .*; p99: .*m?s, last .*m?s$/);
      const stages = await textsOf(page, `${loaded} .band title`);
      assertEquals(stages, ["warm-up", "100/s", "to 200/s"]);
      const bars = await textsOf(page, "#details .chart-figure:last-child .count title");
      const counts = bars.map((title) => Number(/: (\d+)$/.exec(title)![1]));
      assertEquals(counts.reduce((sum, one) => sum + one, 0), Number(count));
      // All charts show their values where the pointer is in one.
      await page.evaluate(`document.querySelector("${loaded}").dispatchEvent(
        new PointerEvent("pointermove", { clientX: 10000, clientY: 100 }))`);
      const values = await textsOf(page, "#details .chart-figure:nth-of-type(2) .legend strong");
      assertEquals(values.slice(0, 3).map((value) => /^ [\d.]+m?s$/.test(value)), [
        true,
        true,
        true,
      ]);
      await click(page, "#details .part summary");
      const heads = await textsOf(page, "#details .part th");
      assertEquals(heads.slice(0, 5), ["time", "asked", "achieved", "p50", "p95"]);
      assertMatch((await textsOf(page, "#details .part tbody td"))[2]!, /^[\d.]+\/s$/);
      assertEquals(await findBarriers(page), []);
      assertEquals(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true);
    }
    assertEquals(await textsOf(page, "#details .causes strong"), [
      "test is false: res.code is 503 (int)",
    ]);
    await page.evaluate(`document.querySelector("#details .causes a").click()`);
    await until(
      async () => /^Checkout › pay/.test((await textsOf(page, "#details h2"))[0]!),
      "the step is shown",
    );
    assertStringIncludes((await textsOf(page, "#details"))[0]!, "Service Unavailable");
    assertEquals(page.errors, []);
  }, { env: { SERVER_URL: server.url } });
});

Deno.test("passed steps of a job fold beside one that failed", async () => {
  const steps = [1, 2, 3, 4, 5].map((step) =>
    `      - { name: step ${step}, uses: hello, test: "${step !== 4}" }\n`
  );
  await withReport(
    `name: n\njobs:\n  - name: j\n    steps:\n${steps.join("")}`,
    async ({ page }) => {
      await click(page, "#row-0");
      const lines = () =>
        page.evaluate(
          `[...document.querySelectorAll("#details .step-line")].filter((line) =>
          line.checkVisibility()).map((line) => line.children[line.children.length - 2].innerText)`,
        );
      assertEquals(await lines(), ["3 passed", "step 4\n\ntest is false", "step 5"]);
      await click(page, "#details .steps summary");
      const open = ["3 passed", "step 1", "step 2", "step 3", "step 4\n\ntest is false", "step 5"];
      assertEquals(await lines(), open);
      assertEquals(await findBarriers(page), []);
    },
  );
});

Deno.test("an empty request is not shown", async () => {
  await withReport(VALUES, async ({ page }) => {
    assertEquals(await textsOf(page, "#details .part h3"), ["Response"]);
  });
});

Deno.test("outputs are shown even if they are nil or empty", async () => {
  await withReport(VALUES, async ({ page }) => {
    await fill(page, "#show", "all");
    await click(page, "#row-2");
    const [, outputs] = await textsOf(page, "#details section");
    assertStringIncludes(outputs!, 'Outputs{ 2 keys }"none": null,"empty": ""}');
  });
});

const ROWS = `name: n
jobs:
  - name: j
    defaults: { db: { dsn: ":memory:" } }
    steps:
      - uses: db
        with: { query: "SELECT 1 AS id, 'Ann' AS name UNION SELECT 2, NULL" }
        test: res.rows_affected == 3
`;

Deno.test("rows of a database are a table", async () => {
  await withReport(ROWS, async ({ page }) => {
    assertEquals(await textsOf(page, "#details dd table th"), ["id", "name"]);
    assertEquals(await textsOf(page, "#details dd table td"), ["1", "Ann", "2", "null"]);
  });
});

Deno.test("an integer beyond 2^53 is shown with all its digits, in a text of JSON too", async () => {
  const workflow = ROWS.replace("SELECT 2, NULL", "SELECT 9007199254740993, '[9007199254740995]'");
  await withReport(workflow, async ({ page }) => {
    const cells = (await textsOf(page, "#details dd table td")).join(" ");
    assertStringIncludes(cells, "9007199254740993");
    assertStringIncludes(cells, "9007199254740995");
  });
});

Deno.test("a snapshot and what came instead are side by side", async () => {
  const workflow = `name: n
vars: { order: { id: 7, state: open, tags: [a] } }
jobs:
  - id: j
    name: j
    steps:
      - { uses: hello, id: s, snapshot: { of: vars.order } }
`;
  const files = {
    "__snapshots__/w/j.s.json": '{"id": 7, "state": "paid", "total": 3, "tags": ["a"]}',
  };
  await withReport(workflow, async ({ page }) => {
    const rows = await page.evaluate(`[...document.querySelectorAll("#details .sides tr")].map(
      (row) => [...row.cells].map((cell) => cell.textContent + "|" + cell.className),
    )`);
    assertEquals(rows, [
      ["expected: __snapshots__/w/j.s.json|", "received: vars.order|"],
      ["@ .state, .total|", "@ .state, .total|"],
      ["{|", "{|"],
      ['  "id": 7|', '  "id": 7|'],
      ['  "state": "paid"|expected', '  "state": "open"|received'],
      ['  "tags": [|', '  "tags": [|'],
      ['    "a"|', '    "a"|'],
      ["  ]|", "  ]|"],
      ['  "total": 3|expected', "|none"],
      ["}|", "}|"],
    ]);
  }, { files });
});

const WORKFLOW = `
name: n
vars: { url: "{{SERVER_URL}}" }
jobs:
  - id: api
    name: API
    steps:
      - name: comes up
        id: up
        uses: http
        with: { post: "{{vars.url}}/up", json: { order: tea } }
        retry: { max_attempts: 20, interval: 1ms }
        test: res.code == 200
      - name: as described
        uses: http
        with: { get: "{{vars.url}}/item", openapi: api.yml }
`;

const API = `
openapi: 3.1.0
info: { title: Shop, version: "1" }
paths:
  /item:
    get:
      responses:
        "200":
          description: an item
          content:
            application/json:
              schema: { type: object, required: [stock], properties: { id: { type: integer } } }
`;

/** A server that is good at the attempt of this number. */
function serverOf(goodAt: number) {
  let asked = 0;
  return withServer(async (request) => {
    if (new URL(request.url).pathname === "/item") return Response.json({ id: "7" });
    await request.text();
    asked++;
    return asked < goodAt
      ? Response.json({ reason: `attempt ${asked} is early` }, { status: 503 })
      : Response.json({ ok: true });
  });
}

/** The attempts that are shown, and the text of those that are open. */
async function attemptsOf(page: Page) {
  const titles = await textsOf(page, "#details .attempt h3:has(.passed, .failed)");
  return { titles, open: await textsOf(page, "#details .attempt[open]") };
}

Deno.test("each attempt has its request, response and failure; the last one is open", async () => {
  await using server = serverOf(3);
  await withReport(WORKFLOW, async ({ page }) => {
    await fill(page, "#show", "all");
    await click(page, "#row-1");
    const { titles, open } = await attemptsOf(page);
    assertEquals(titles, ["✗ Attempt 1", "✗ Attempt 2", "✓ Attempt 3"]);
    assertEquals(open.length, 1);
    assertStringIncludes(open[0]!, '"ok": true');
    await page.evaluate("document.querySelector('.attempt summary').focus()");
    await page.press("Enter");
    const [first] = (await attemptsOf(page)).open;
    for (const text of ["failed after", "test is false", '"order": "tea"', "attempt 1 is early"]) {
      assertStringIncludes(first!, text);
    }
    assertEquals(await findBarriers(page), []);
    // What only an earlier attempt received is found, too.
    await fill(page, "#search", "attempt 2 early");
    assertEquals(await textsOf(page, ".row.step .name"), ["✓ comes up"]);
    // The words are marked in what is shown.
    await fill(page, "#search", "order");
    const marked = `[...CSS.highlights.get("found")].map(String)`;
    assertEquals(new Set(await page.evaluate(marked) as string[]), new Set(["order"]));
    await fill(page, "#search", "");
    assertEquals(await page.evaluate("CSS.highlights.size"), 0);
    assertEquals(page.errors, []);
  }, { env: { SERVER_URL: server.url }, files: { "api.yml": API } });
});

Deno.test("of many attempts, the first and the latest have details, and the others a message", async () => {
  await using server = serverOf(20);
  await withReport(WORKFLOW, async ({ page }) => {
    await fill(page, "#show", "all");
    await click(page, "#row-1");
    const { titles } = await attemptsOf(page);
    const numbers = Array.from({ length: 19 }, (_, index) => `✗ Attempt ${index + 1}`);
    assertEquals(titles, [...numbers, "✓ Attempt 20"]);
    const texts = await textsOf(page, "#details .attempt");
    const detailed = texts.flatMap((text, index) => text.includes("Response") ? [index + 1] : []);
    assertEquals(detailed, [1, ...Array.from({ length: 10 }, (_, index) => index + 11)]);
    assertStringIncludes(texts[1]!, "test is false");
    assertEquals(page.errors, []);
  }, { env: { SERVER_URL: server.url }, files: { "api.yml": API } });
});

Deno.test("violations of a contract show what was expected and received side by side", async () => {
  await using server = serverOf(1);
  await withReport(WORKFLOW, async ({ page }) => {
    const cells = await textsOf(page, "#details .sides th, #details .sides td");
    assertEquals(cells, [
      ...["expected: api.yml:12:23", "received: body.stock", "required", "missing"],
      ...["expected: api.yml:12:76", "received: body.id", "type integer", '"7"'],
    ]);
  }, { env: { SERVER_URL: server.url }, files: { "api.yml": API } });
});

Deno.test("the phases of a request are a bar, with the time of each", async () => {
  await using server = serverOf(1);
  await withReport(WORKFLOW, async ({ page }) => {
    const legend = await textsOf(page, "#details .legend li");
    assert(legend.length >= 2, legend.join());
    for (const text of legend) {
      assert(/^(DNS|Connect|TLS|Waiting|Download) [\d.]+m?s$/.test(text), text);
    }
    const [bar, parts] = await page.evaluate(`(() => {
      const width = (one) => one.getBoundingClientRect().width;
      const bar = document.querySelector("#details .phase-bar");
      return [width(bar), [...bar.children].map(width)];
    })()`) as [number, number[]];
    assertEquals(parts.length, legend.length);
    const sum = parts.reduce((all, one) => all + one, 0);
    assert(Math.abs(bar - sum) < 2, `${bar} ${sum}`);
  }, { env: { SERVER_URL: server.url }, files: { "api.yml": API } });
});
