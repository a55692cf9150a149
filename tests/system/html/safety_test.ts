import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "../../support/programs/browser.ts";
import { click, fill, textsOf, withReport } from "../../support/programs/html_report.ts";
import { until } from "../../support/run/processes.ts";
import { withServer } from "../../support/servers/with_server.ts";

const MARKUP = [
  "<script>window.hacked = 1</script>",
  "</script><script>window.hacked = 2</script>",
  `"><img src=x onerror="window.hacked = 3">`,
  "<!--<script>",
  "</noscript></style></title><iframe src=about:blank onload='window.hacked = 4'></iframe>",
];

/** All of it on one line, so that a header can hold it. */
const HOSTILE = MARKUP.join(" ");

const quoted = (text: string) => JSON.stringify(text);

/** Every text of the workflow and everything that the server says is markup. */
const WORKFLOW = `
name: ${quoted(HOSTILE)}
description: ${quoted(HOSTILE)}
vars: { url: "{{SERVER_URL}}", text: ${quoted(HOSTILE)} }
jobs:
  - name: ${quoted(`job ${HOSTILE}`)}
    id: first
    steps:
      - name: ${quoted(`fails ${HOSTILE}`)}
        uses: http
        with:
          url: "{{vars.url}}/"
          method: POST
          headers: { x-text: "{{vars.text}}" }
          body: { "<img src=x onerror='window.hacked = 5'>": "{{vars.text}}" }
        test: res.body["<b>"] == vars.text + "<img src=x onerror='window.hacked = 6'>"
        echo: "{{vars.text}}"
      - name: passes
        id: passes
        uses: http
        with: { get: "{{vars.url}}/html" }
        test: res.headers["X-Text"] == vars.text && res.body contains "<script>"
        echo: "{{vars.text}}"
        outputs: { text: res.body }
      - name: cannot be carried out
        uses: http
        with: { get: "http://127.0.0.1:1/<script>" }
        retry: { max_attempts: 2, interval: 1ms }
      - name: a command
        uses: shell
        with: { cmd: "printf '%s' \\"$TEXT\\"; exit 1", env: { TEXT: "{{vars.text}}" } }
        test: res.code == 0
  - name: ${quoted(HOSTILE)}
    needs: [first]
    steps: [{ uses: hello }]
`;

/** Finds elements that are not the page's own. */
const FOREIGN = `[...document.querySelectorAll(
  "img, iframe, object, embed, link:not([rel=icon]), base, form, b, svg script, [onerror], [onload], body style"
)].map((element) => element.outerHTML)`;

const SCRIPTS = "document.querySelectorAll('script').length";

async function assertHarmless(page: Page): Promise<void> {
  assertEquals(await page.evaluate(FOREIGN), []);
  assertEquals(await page.evaluate(SCRIPTS), 3);
  assertEquals(await page.evaluate("typeof window.hacked"), "undefined");
}

Deno.test("untrusted content becomes no element of the HTML report, and does not run", async () => {
  await using server = withServer(({ url }) => {
    const headers = { "x-text": HOSTILE };
    return new URL(url).pathname === "/html"
      ? new Response(`<html>${HOSTILE}</html>`, {
        headers: { ...headers, "content-type": "text/html" },
      })
      : Response.json({ "<b>": HOSTILE, list: MARKUP }, { headers });
  });
  await withReport(WORKFLOW, async ({ page, url, result }) => {
    assertEquals(result.code, 1);
    await assertHarmless(page);
    assertEquals(await textsOf(page, "h1"), [`✗ ${HOSTILE}`]);
    assertEquals(await textsOf(page, ".description"), [HOSTILE]);
    await fill(page, "#show", "all");
    const rows = await textsOf(page, ".row");
    assertEquals(rows.length, 6);
    const shown: string[] = [];
    for (const index of rows.keys()) {
      await click(page, `#row-${index}`);
      // Unfold all, and what is below that.
      for (let depth = 0; depth < 5; depth++) {
        await page.evaluate(
          "document.querySelectorAll('details').forEach((one) => one.open = true)",
        );
      }
      await assertHarmless(page);
      shown.push((await textsOf(page, "#details"))[0]!);
    }
    // All of it is there, and as it came.
    assert(shown.every((text) => text.includes(HOSTILE) || text.includes("127.0.0.1:1")));
    const [, fails, passes] = shown;
    for (const text of [`x-text${HOSTILE}`, `"<b>"`, quoted(MARKUP[2]!)]) {
      assertStringIncludes(fails!.replace(/x-text/i, "x-text"), text);
    }
    assertStringIncludes(passes!, `<html>${HOSTILE}</html>`);
    await fill(page, "#search", MARKUP[1]!);
    assertEquals(await textsOf(page, ".row .icon"), ["✗", "✗", "✓", "✗", "✗", "-"]);
    await assertHarmless(page);
    assertEquals([page.errors, page.requests], [[], [url]]);
  }, { env: { SERVER_URL: server.url } });
});

Deno.test("untrusted content becomes no element of the list without scripts", async () => {
  await withReport(WORKFLOW, async ({ page, url }) => {
    await page.send("Emulation.setScriptExecutionDisabled", { value: true });
    await page.open(url);
    const { root } = await page.send("DOM.getDocument", { depth: -1 }) as { readonly root: Node };
    const names = elementsOf(root).map((name) => name.toLowerCase());
    for (const name of ["img", "iframe", "b"]) assert(!names.includes(name), name);
    assertEquals(names.filter((name) => name === "script").length, 3);
    assert(names.filter((name) => name === "pre").length >= 3);
    assertEquals(page.requests, [url, url]);
  }, { env: { SERVER_URL: "http://127.0.0.1:1" } });
});

interface Node {
  readonly nodeName: string;
  readonly children?: readonly Node[];
}

function elementsOf({ nodeName, children = [] }: Node): string[] {
  return [nodeName, ...children.flatMap(elementsOf)];
}

Deno.test("the HTML report loads and runs nothing but its own script", async () => {
  const asked: string[] = [];
  await using server = withServer(({ url }) => {
    asked.push(url);
    return new Response("");
  });
  await withReport("name: n\njobs: [{ name: j, steps: [{ uses: hello }] }]\n", async ({ page }) => {
    const came = await page.evaluate(`(async () => {
      window.refused = new Set();
      addEventListener("securitypolicyviolation", ({ effectiveDirective }) =>
        refused.add(effectiveDirective));
      const add = (tag, attributes, text = "") => {
        const element = document.createElement(tag);
        for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
        element.textContent = text;
        document.body.append(element);
      };
      const there = ${quoted(server.url)};
      add("img", { src: there + "/img" });
      add("img", { src: "data:image/gif;base64,R0lGODlhAQABAAAAACw=" });
      add("script", { src: there + "/script" });
      add("script", {}, "window.hacked = 1");
      add("style", {}, "body { color: rgb(1, 2, 3) }");
      add("link", { rel: "stylesheet", href: there + "/style" });
      add("p", { style: "color: rgb(1, 2, 3)" });
      add("p", { onclick: "window.hacked = 2" });
      add("iframe", { src: there + "/frame" });
      add("object", { data: there + "/object" });
      add("video", { src: there + "/video" });
      document.querySelector("p[onclick]").click();
      return await fetch(there + "/fetch").then(() => "yes", () => "no");
    })()`);
    assertEquals(came, "no");
    const refused = async () => await page.evaluate("[...refused].sort().join()");
    const all = "connect-src,frame-src,img-src,media-src,object-src,script-src-attr," +
      "script-src-elem,style-src-attr,style-src-elem";
    await until(async () => await refused() === all, "everything was refused");
    const colour = await page.evaluate("getComputedStyle(document.body).color");
    assertEquals([await page.evaluate("typeof hacked"), colour], ["undefined", "rgb(31, 35, 40)"]);
    assertEquals(asked, []);
  });
});
