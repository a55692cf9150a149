import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { toFileUrl } from "@std/path/to-file-url";
import { withPage } from "../../support/programs/browser.ts";
import { click, fill, textsOf, withReport } from "../../support/programs/html_report.ts";
import { withRig } from "../../support/run/rig.ts";
import { startCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

const SHOP = `
name: Shop
vars: { url: "{{SHOP_URL}}" }
jobs:
  - name: Products
    id: products
    steps:
      - name: list them
        uses: http
        with: { get: "{{vars.url}}/products" }
        test: res.code == 200 && len(res.body.items) == 3
        echo: "three of them"
        outputs: { first: "res.body.items[0].name" }
        id: list
      - name: the first is a mug
        uses: http
        with: { get: "{{vars.url}}/products" }
        test: res.code == 200 && res.body.items[0].name == "mug"
  - name: Orders
    id: orders
    steps:
      - name: comes late
        uses: http
        with: { get: "{{vars.url}}/late" }
        retry: { max_attempts: 5, interval: 1ms }
        test: res.code == 200
  - name: Release
    needs: [products]
    steps: [{ name: never, uses: hello }]
`;

async function withShop<T>(use: (env: Readonly<Record<string, string>>) => Promise<T>): Promise<T> {
  let late = 0;
  await using server = withServer(({ url }) =>
    new URL(url).pathname === "/late" && late++ < 2
      ? new Response("not yet", { status: 503 })
      : Response.json({ items: [{ name: "tea" }, { name: "mug" }, { name: "pot" }], "a b": "x" })
  );
  return await use({ SHOP_URL: server.url });
}

Deno.test("the HTML report shows jobs, steps, values, exchanges and attempts", async () => {
  await withShop(async (env) => {
    await withReport(SHOP, async ({ page, url }) => {
      const counts = await textsOf(page, "header .counts li");
      assertEquals(counts.slice(0, 3), [
        "3 jobs: 1 passed, 1 failed, 1 skipped",
        "4 steps: 2 passed, 1 failed, 1 skipped",
        "1 flaky step",
      ]);
      // Failures are shown at once.
      assertEquals(
        await textsOf(page, ".row .name"),
        ["▾✗ Products", "✗ the first is a mug"],
      );
      assertEquals(await textsOf(page, "#details h2"), ["Products › the first is a mug"]);
      assertEquals(await textsOf(page, "#details .failure mark"), [
        'res.body.items[0].name == "mug"',
      ]);
      assertEquals(await textsOf(page, "#details tbody td"), [
        ...["res.body.items[0].name", "string", '"tea"'],
      ]);
      const [request, response] = await page.evaluate(
        `[...document.querySelectorAll("#details .part")].map((part) => part.innerText)`,
      ) as string[];
      assertStringIncludes(request!, `GET ${env.SHOP_URL}/products`);
      assertEquals(
        response!.split(/^(?:body|version)$/m)[1]!.replace(/\s+/g, " ").trim(),
        '{ "items": [ { "name": "tea" }, { "name": "mug" }, { "name": "pot" } ], "a b": "x" }',
      );

      await fill(page, "#show", "all");
      assertEquals(await textsOf(page, ".row .name"), ROWS);
      await click(page, "#row-1");
      assertEquals(await textsOf(page, "#details h2"), ["Products › list them"]);
      const said = (await textsOf(page, "#details section")).join("\n");
      for (const text of ["three of them", "len(res.body.items)", "first"]) {
        assertStringIncludes(said, text);
      }
      await click(page, "#row-4");
      assertEquals(await textsOf(page, "#details h2"), ["Orders › comes late"]);
      assertEquals(await textsOf(page, "#details .attempt > summary > h3"), [
        ...["✗ Attempt 1", "✗ Attempt 2", "✓ Attempt 3"],
      ]);
      assertEquals(await page.evaluate("document.querySelectorAll('#row-4 .bar').length"), 4);
      await click(page, "#row-5");
      assertStringIncludes((await textsOf(page, "#details"))[0]!, "Needs Products");
      assertEquals([page.errors, page.requests], [[], [url]]);
    }, { env });
  });
});

const ROWS = [
  ...["▾✗ Products", "✓ list them", "✗ the first is a mug"],
  ...["▾✓ Orders", "✓ comes late", "- Release"],
];

Deno.test("the waterfall has an axis of time, and a bar where each step was", async () => {
  await withReport(
    `
name: n
jobs:
  - { name: a, id: a, steps: [{ name: x, uses: shell, with: { cmd: sleep 0.2 } }] }
  - { name: b, needs: [a], steps: [{ name: y, uses: shell, with: { cmd: sleep 0.2 } }] }
  - { name: c, steps: [{ name: z, uses: echo, with: { message: z } }] }
`,
    async ({ page }) => {
      const places = await page.evaluate(`(() => {
        const box = (selector) =>
          [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
        const { duration, steps } = JSON.parse(document.getElementById("data").textContent);
        const track = box(".row .track")[0];
        const at = (x) => (x - track.left) / track.width * duration;
        const bars = box(".row.step .bar").map(({ left, right }) => [at(left), at(right)]);
        const ticks = [...document.querySelectorAll(".tick")].map((tick) =>
          [tick.textContent, at(tick.getBoundingClientRect().left)]
        );
        return { bars, ticks, steps, pixel: duration / track.width };
      })()`);
      const { bars, ticks, steps, pixel } = places as {
        bars: [number, number][];
        ticks: [string, number][];
        steps: { start: number; duration: number }[];
        pixel: number;
      };
      assertEquals(bars.length, 3);
      bars.forEach(([from, to], index) => {
        const { start, duration } = steps[index]!;
        // A bar is at least three pixels wide.
        const off = [from - start, to - start - duration].map((time) => time / pixel);
        assert(off.every((pixels) => Math.abs(pixels) < 4), `bar ${index} is off: ${off}`);
      });
      assert(ticks.length > 2);
      for (const [label, at] of ticks) {
        const time = parseFloat(label) * (/\ds$/.test(label) ? 1000 : 1);
        assert(Math.abs(time - at) / pixel < 4, label);
      }
      // The longest way: a, then b.
      assertEquals(await textsOf(page, ".row.job .tag"), ["critical path", "critical path"]);
      assertEquals(await textsOf(page, ".row:has(.tag) .name"), ["▾✓ a", "▾✓ b"]);
      assertEquals(await page.evaluate("document.querySelectorAll('.critical .edge').length"), 1);
    },
  );
});

Deno.test("the filters of the HTML report work, and the search finds bodies", async () => {
  await withShop(async (env) => {
    await withReport(SHOP, async ({ page }) => {
      const shown = async (filter: string, query: string) => {
        await fill(page, "#show", filter);
        await fill(page, "#search", query);
        const names = await textsOf(page, ".row .name");
        return names.map((name) => name.replace(/^▾?\\S /, "").replace(/^▾?. /, "")).join();
      };
      const count = async () => (await textsOf(page, "#count"))[0];
      const table = [
        ["all", "", "Products,list them,the first is a mug,Orders,comes late,Release", 4],
        ["failed", "", "Products,the first is a mug", 1],
        ["flaky", "", "Orders,comes late", 1],
        ["skipped", "", "Release", 1],
        ["untested", "", "", 0],
        ["all", "COMES", "Orders,comes late", 1],
        // "first" is the name of an output of the other step.
        ["all", "first mug", "Products,list them,the first is a mug", 2],
        ["all", "pot", "Products,list them,the first is a mug,Orders,comes late", 3],
        ["failed", "pot", "Products,the first is a mug", 1],
        ["all", "three of", "Products,list them", 1],
        ["all", "releas", "Release", 1],
        ["all", "no such thing", "", 0],
      ] as const;
      for (const [filter, query, rows, steps] of table) {
        assertEquals([await shown(filter, query), await count()], [rows, `${steps} of 4 steps`]);
      }
      assertEquals(await page.evaluate("document.getElementById('nothing').hidden"), false);
      await fill(page, "#search", "");
      await fill(page, "#show", "failed");
      await fill(page, "#search", "COMES");
      assertEquals(await count(), "1 of 4 steps", "steps of every state are searched");
      await fill(page, "#search", "");
      const filter = await page.evaluate(`document.querySelector("#show").value`);
      assertEquals([await count(), filter], ["1 of 4 steps", "failed"]);
      await fill(page, "#show", "slow");
      assertEquals(await count(), "1 of 4 steps");
      assertEquals(page.errors, []);
    }, { env });
  });
});

Deno.test("steps of embedded jobs are below the step that embeds them, and fold", async () => {
  const files = {
    "part.yml": `
name: Part
steps:
  - { name: inner one, uses: echo, with: { message: a }, test: 'res.message == "a"' }
  - { name: deeper, uses: embedded, with: { path: deep.yml } }
`,
    "deep.yml": `
name: Deep
steps: [{ name: innermost, uses: echo, with: { message: b }, test: 'res.message == "x"' }]
`,
  };
  const workflow = `
name: n
jobs:
  - { name: j, steps: [{ name: outer, uses: embedded, with: { path: part.yml } }, { uses: hello }] }
`;
  await withReport(workflow, async ({ page }) => {
    await fill(page, "#show", "all");
    const levels = async () =>
      await page.evaluate(
        `[...document.querySelectorAll(".row")].map((row) => row.getAttribute("aria-level") +
          row.querySelector(".name").textContent.replace(/^[^a-z]*/, " "))`,
      );
    assertEquals(await levels(), [
      ...["1 j", "2 outer", "3 inner one", "3 deeper", "4 innermost", "2 hello"],
    ]);
    const left = `[...document.querySelectorAll(".row .icon")].map((icon) =>
      Math.round(icon.getBoundingClientRect().left))`;
    const [job, outer, inner, , innermost] = await page.evaluate(left) as number[];
    assert(job! < outer! && outer! < inner! && inner! < innermost!);
    await click(page, "#row-1 .twist");
    assertEquals(await levels(), ["1 j", "2 outer", "2 hello"]);
    await click(page, "#row-1 .twist");
    await fill(page, "#show", "failed");
    assertEquals(await levels(), ["1 j", "2 outer", "3 deeper", "4 innermost"]);
    assertEquals(page.errors, []);
  }, { files });
});

Deno.test("a run that was interrupted is shown as such", async () => {
  await withRig((rig) =>
    withFiles({
      "w.yml":
        `name: n\njobs:\n  - { name: j, steps: [{ name: hangs, uses: http, with: { get: "${rig.url}/hang" } }, { uses: hello }] }\n`,
    }, async (cwd) => {
      const child = startCli(["--report", "html=report.html", "w.yml"], { cwd });
      await rig.untilSeen("/hang");
      child.kill("SIGINT");
      await Promise.all([child.status, child.stdout.cancel(), child.stderr.cancel()]);
      await withPage(async (page) => {
        await page.open(toFileUrl(`${cwd}/report.html`).href);
        assertEquals(await textsOf(page, ".alert"), ["interrupted by SIGINT"]);
        assertEquals(await textsOf(page, "h1"), ["✗ n"]);
        assertEquals(await textsOf(page, ".row.step .name"), ["✗ hangs"]);
        assertEquals(page.errors, []);
      });
    })
  );
});

Deno.test("without scripts the HTML report lists failures", async () => {
  await withShop(async (env) => {
    await withReport(SHOP, async ({ page, url }) => {
      await page.send("Emulation.setScriptExecutionDisabled", { value: true });
      await page.open(url);
      const { nodes } = await page.send("Accessibility.getFullAXTree") as {
        readonly nodes: readonly { readonly name?: { readonly value: string } }[];
      };
      const said = nodes.map(({ name }) => name?.value ?? "").join("\n");
      assertStringIncludes(said, "scripts, which are switched off");
      assertStringIncludes(said, "Products › the first is a mug");
      assertStringIncludes(said, 'res.body.items[0].name is "tea" (string)');
      assert(!said.includes("press / to search"));
    }, { env });
  });
});

Deno.test("an HTML report without steps, and one without jobs that ran", async () => {
  await withReport(
    "name: n\njobs: [{ name: j, skipif: 'true', steps: [{ uses: hello }] }]\n",
    async ({ page }) => {
      assertEquals(await textsOf(page, "#count"), ["1 of 1 step"]);
      assertEquals(await textsOf(page, ".row .name"), ["- j"]);
      await click(page, "#row-0");
      assertEquals(await textsOf(page, "#details h2"), ["j"]);
      assertEquals(page.errors, []);
    },
  );
});

Deno.test("10,000 entries are drawn as they scroll into view", async () => {
  const workflow = `
name: n
jobs:
  - name: j
    steps:
      - name: number
        iteration: "{{0..9999}}"
        uses: echo
        with: { message: "{{vars.item}}" }
        test: vars.item != 7777
`;
  await withReport(workflow, async ({ page }) => {
    assertEquals(await textsOf(page, "#count"), ["1 of 10000 steps"]);
    assertEquals(await textsOf(page, "#details h2"), ["j › number (entry 7778)"]);
    await fill(page, "#show", "all");
    const rows = "document.querySelectorAll('.row').length";
    assert(await page.evaluate(rows) as number < 100);
    await page.evaluate("document.getElementById('rows').focus()");
    await page.press("End");
    assertEquals((await textsOf(page, ".row .name")).at(-1), "✓ number (entry 10000)");
    assertEquals(await textsOf(page, "#details h2"), ["j › number (entry 10000)"]);
    assert(await page.evaluate(rows) as number < 100);
    await fill(page, "#search", "entry 1234)");
    assertEquals(await textsOf(page, ".row.step .name"), ["✓ number (entry 1234)"]);
    // A number beside a word is a whole one.
    await fill(page, "#search", "entry 123");
    assertEquals(await textsOf(page, ".row.step .name"), [
      "✓ number (entry 123)",
      "✓ number (entry 124)",
    ]);
    assertEquals(page.errors, []);
  });
});

Deno.test("10,000 rounds are one step with the numbers of all, the first run and the first failure", async () => {
  const workflow = `
name: n
jobs:
  - name: j
    repeat: { count: 10000, async: true }
    steps: [{ name: number, uses: echo, with: { message: x }, test: repeat_index != 7777 }]
`;
  await withReport(workflow, async ({ page }) => {
    assertEquals(await textsOf(page, ".row .name"), ["▾✗ j", "✗ number (repeat_index 7777)"]);
    await fill(page, "#show", "all");
    const names = ["▾✗ j", "✓ number (repeat_index 0)", "✗ number (repeat_index 7777)"];
    assertEquals(await textsOf(page, ".row .name"), names);
    await click(page, "#row-0");
    assertStringIncludes((await textsOf(page, "#details"))[0]!, "9999/10000 passed (99.9%)");
    assertEquals(page.errors, []);
  });
});

Deno.test("the report of a program in a bundle is the same page", async () => {
  await withFiles({ "w.yml": SHOP }, async (cwd) => {
    const bundle = new Deno.Command(Deno.execPath(), {
      args: [
        ...["bundle", "--quiet", "--minify", "--code-splitting", "--external=*.node"],
        ...["--outdir", `${cwd}/bundle`],
        new URL("../../../cli.ts", import.meta.url).pathname,
      ],
    });
    assertEquals((await bundle.output()).success, true);
    await withShop(async (env) => {
      const run = new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "bundle/cli.js", "--report", "html=r.html", "w.yml"],
        cwd,
        env,
      });
      assertEquals((await run.output()).code, 1);
    });
    await withPage(async (page) => {
      await page.open(toFileUrl(`${cwd}/r.html`).href);
      await fill(page, "#show", "all");
      assertEquals(await textsOf(page, ".row .name"), ROWS);
      await click(page, "#graph [role=button]");
      assertEquals(await textsOf(page, "#details h2"), ["Products"]);
      assertEquals(page.errors, []);
    });
  });
});

Deno.test("the page stays usable with a long body, long names and 300 jobs", async () => {
  const long = "long ".repeat(200);
  const jobs = Array.from({ length: 300 }, (_, index) => ({
    id: `job-${index}`,
    name: index % 3 === 0 ? `${long}${index}` : `job ${index}`,
    needs: index < 30 ? [] : [`job-${index - 30}`, `job-${index % 30}`],
    steps: [{ name: long, uses: "echo", with: { message: "x".repeat(10_000) }, test: "false" }],
  }));
  await withReport(JSON.stringify({ name: long, jobs }, null, 1), async ({ page }) => {
    assertEquals(
      await page.evaluate("document.querySelectorAll('#graph [role=button]').length"),
      300,
    );
    const sizes = await page.evaluate(`(() => {
      const graph = document.getElementById("graph");
      const rows = document.getElementById("rows");
      return {
        page: document.documentElement.scrollWidth <= innerWidth,
        graph: [graph.scrollHeight > graph.clientHeight, graph.clientHeight < innerHeight / 2,
          document.querySelector("#graph-part summary").innerText],
        rows: rows.clientHeight > 100 && rows.getBoundingClientRect().top < innerHeight - 100,
      };
    })()`);
    assertEquals(sizes, {
      page: true,
      graph: [true, true, "300 jobs · scroll for more"],
      rows: true,
    });
    assertEquals(page.errors, []);
  });
});
