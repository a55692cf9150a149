import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { toFileUrl } from "@std/path/to-file-url";
import { type Page, withPage } from "../../support/programs/browser.ts";
import {
  chooseScheme,
  click,
  fill,
  findBarriers,
  setSize,
  textsOf,
  withReport,
} from "../../support/programs/html_report.ts";
import { until } from "../../support/run/processes.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

const steps = (count: number) =>
  Array.from(
    { length: count },
    (_, index) => `      - { name: step ${index + 1}, uses: hello, test: "true" }\n`,
  ).join("");

const LONG = `name: n
jobs:
  - id: first
    name: First
    steps:
${steps(100)}      - { name: in question, id: asked, uses: hello, test: "false" }
  - id: other job
    name: Other
    steps: [{ uses: hello }]
`.replace("other job", "other");

const heading = async (page: Page) => (await textsOf(page, "#details h2"))[0];

/** Whether the selected row is in the part of the list that is seen. */
const IN_SIGHT = `(() => {
  const row = document.querySelector(".row[aria-selected=true]")?.getBoundingClientRect();
  const list = document.getElementById("rows").getBoundingClientRect();
  return row !== undefined && row.top >= list.top - 1 && row.bottom <= list.bottom + 1;
})()`;

Deno.test("a link opens the report at a step or a job, whatever hides it", async () => {
  await withReport(LONG, async ({ page, url }) => {
    const cases = [
      ["#step=first/90", "First › step 90"],
      ["#job=other", "Other"],
      ["#step=first/asked", "First › in question"],
    ] as const;
    for (const [fragment, title] of cases) {
      await page.open("about:blank");
      await page.open(url + fragment);
      assertEquals([fragment, await heading(page)], [fragment, title]);
      assertEquals([fragment, await page.evaluate(IN_SIGHT)], [fragment, true]);
    }
    // On the page, too, where a filter hides it.
    await fill(page, "#search", "question");
    await page.evaluate("location.hash = '#step=first/2'");
    await until(async () => await heading(page) === "First › step 2", "the step is shown");
    await page.open("about:blank");
    await page.open(`${url}#step=first/nothing`);
    assertEquals(await heading(page), "First › in question");
    assertEquals(page.errors, []);
  });
});

Deno.test("the address follows what is selected, and a button copies it", async () => {
  await withReport(LONG, async ({ page, url }) => {
    assertEquals(await page.evaluate("location.hash"), "");
    await fill(page, "#show", "all");
    await page.evaluate("document.getElementById('rows').focus()");
    await page.press("Home");
    assertEquals(await copied(page, "#details .title .copy"), `${url}#job=first&show=all`);
    await click(page, "#row-3");
    assertEquals(await page.evaluate("location.href"), `${url}#step=first/3&show=all`);
    await fill(page, "#search", "step 10");
    const link = `${url}#step=first/3&show=all&find=step%2010`;
    assertEquals(await copied(page, "#details .title .copy"), link);
    // Whoever follows it sees the same.
    await page.open("about:blank");
    await page.open(link);
    assertEquals(await textsOf(page, ".row.step .name"), ["✓ step 10"]);
    assertEquals(await heading(page), "First › step 3");
    await fill(page, "#show", "failed");
    await fill(page, "#search", "");
    assertEquals(await page.evaluate("location.hash"), "#step=first/3");
  });
});

Deno.test("causes of failures lead to each of them", async () => {
  const workflow = `name: n
jobs:
  - id: j
    name: Job
    steps:
      - { name: "n {{vars.item}}", iteration: "{{1..3}}", uses: hello, test: vars.item > 2 }
      - { name: other, uses: hello, test: "false" }
`;
  await withReport(workflow, async ({ page }) => {
    assertEquals(await textsOf(page, ".panel summary"), [
      "1 job",
      "3 failures, 2 causes",
      "Command line",
    ]);
    await page.evaluate("document.querySelectorAll('.panel')[1].open = true");
    assertEquals(await textsOf(page, ".causes a"), [
      ...["Job › n 1 (entry 1)", "Job › n 2 (entry 2)", "Job › other"],
    ]);
    for (const scheme of ["light", "dark"] as const) {
      await chooseScheme(page, scheme);
      assertEquals(await findBarriers(page), []);
    }
    await page.evaluate("document.querySelectorAll('.causes a')[1].click()");
    await until(async () => await heading(page) === "Job › n 2 (entry 2)", "the step is shown");
    // The list and its details fill the window.
    assertEquals(
      await page.evaluate(
        "Math.round(document.getElementById('main').getBoundingClientRect().top) + 0",
      ),
      0,
    );
    assertEquals(page.errors, []);
  });
});

Deno.test("causes of failures of a suite name the workflows", async () => {
  const file =
    `name: A\njobs: [{ name: Job, steps: [{ name: step, uses: hello, test: "false" }] }]\n`;
  const files = { "flows/a.yml": file, "flows/b.yml": file.replace("A", "B") };
  await withFiles(files, async (cwd) => {
    await runMain(["--report", "html=report.html", "flows"], { cwd });
    await withPage(async (page) => {
      await page.open(toFileUrl(`${cwd}/report.html`).href);
      assertEquals(await textsOf(page, ".panel[open] .causes a"), [
        "A › Job › step",
        "B › Job › step",
      ]);
    });
  });
});

Deno.test("links lead into the workflows of a suite", async () => {
  const file = (name: string) =>
    `name: ${name}\njobs: [{ id: j, name: Job, steps: [{ id: s, name: step, uses: hello }] }]\n`;
  await withFiles({ "flows/a.yml": file("A"), "flows/b.yml": file("B") }, async (cwd) => {
    await runMain(["--report", "html=report.html", "flows"], { cwd });
    const url = toFileUrl(`${cwd}/report.html`).href;
    await withPage(async (page) => {
      await setSize(page, 1280, 800);
      await page.open(`${url}#run-1/step=j/s`);
      assertEquals(await heading(page), "Job › step");
      assertStringIncludes((await textsOf(page, "#head-1 h1"))[0]!, "B");
      await click(page, "#row-0");
      assertEquals(await page.evaluate("location.hash"), "#run-1/job=j");
    });
  });
});

/** Presses a button without a clipboard, as in browsers that refuse it to files. */
async function copied(page: Page, selector: string): Promise<unknown> {
  await page.evaluate(`(() => {
    Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true });
    window.copied = undefined;
    document.addEventListener("copy", () => window.copied = document.activeElement.value, true);
    document.querySelector(${JSON.stringify(selector)}).focus();
  })()`);
  await page.press("Enter");
  await until(async () => await page.evaluate("typeof copied") === "string", "it is copied");
  return await page.evaluate("copied");
}

const COPIES = `
name: n
vars: { url: "{{SERVER_URL}}" }
jobs:
  - name: j
    steps:
      - uses: http
        with: { post: "{{vars.url}}/orders", json: { a: 1 } }
        test: res.code == 201
`;

/** A selector of the button with a text, by position among those. */
const BUTTONS = `[...document.querySelectorAll("#details .copy")].map((one, index) => {
  one.id = "copy-" + index;
  return one.textContent;
})`;

Deno.test("buttons copy the command, the URL, the bodies and the error", async () => {
  await using server = withServer(() => Response.json({ b: [2] }));
  await withReport(COPIES, async ({ page }) => {
    assertEquals(await page.evaluate(BUTTONS), [
      ...["Copy link", "Copy error", "Copy as cURL", "Copy URL", "Copy body", "Copy body"],
    ]);
    const error = await copied(page, "#copy-1") as string;
    for (const text of ["test is false", "w.yml:9:15", "res.code is 200 (int)"]) {
      assertStringIncludes(error, text);
    }
    assertStringIncludes(await copied(page, "#copy-2") as string, `curl -L ${server.url}/orders`);
    assertEquals(await copied(page, "#copy-3"), `${server.url}/orders`);
    assertEquals(await copied(page, "#copy-4"), '{"a":1}');
    assertEquals(await copied(page, "#copy-5"), '{\n  "b": [\n    2\n  ]\n}');
    assertEquals(await textsOf(page, "#copy-5"), ["Copied"]);
    await page.evaluate("document.execCommand = () => false");
    await click(page, "#copy-3");
    assertEquals(await textsOf(page, "#copy-3"), ["Cannot copy"]);
    assertEquals(page.errors, []);
  }, { env: { SERVER_URL: server.url } });
});

Deno.test("a clipboard is used where the browser has one", async () => {
  await withReport(LONG, async ({ page, url }) => {
    await page.evaluate(`Object.defineProperty(navigator, "clipboard", {
      value: { writeText: (text) => { window.copied = text; return Promise.resolve(); } },
    })`);
    await click(page, "#details .title .copy");
    assertEquals(await page.evaluate("copied"), `${url}#step=first/asked`);
  });
});

/** What a Jenkins server sends with the pages that a build has made. */
const JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';";

Deno.test("under the policy of Jenkins the report can be read, without script and style", async () => {
  const workflow = `
name: Shop
jobs:
  - name: Products
    steps:
      - { name: says it, uses: echo, with: { message: an answer }, test: "true", echo: "{{res.message}}" }
      - { name: compares, uses: hello, test: 'res.to == "x"' }
`;
  await withReport(workflow, async ({ url, page }) => {
    const html = await Deno.readTextFile(new URL(url));
    await using server = withServer(() =>
      new Response(html, {
        headers: { "content-type": "text/html", "content-security-policy": JENKINS },
      })
    );
    await page.open(`${server.url}/report.html`);
    const { nodes } = await page.send("Accessibility.getFullAXTree") as {
      readonly nodes: readonly { readonly name?: { readonly value: string } }[];
    };
    const said = nodes.map(({ name }) => name?.value ?? "").join("\n");
    for (
      const text of ["Shop", "1 job: ", "Failures", "Products › compares", "test is false"]
    ) assertStringIncludes(said, text);
    assert(!said.includes("press / to search"));
  });
});
