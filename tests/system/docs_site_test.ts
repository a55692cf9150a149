import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path/join";
import { type Page, withPage } from "../support/programs/browser.ts";
import { CHECKOUT } from "../support/documents.ts";
import { chooseScheme, findBarriers, setSize } from "../support/programs/html_report.ts";

/** Search terms, and the pages one of which must be found first. */
const SEARCHES: Readonly<Record<string, RegExp>> = {
  parallel: /jobs|concepts\/|keys/,
  concurrency: /file-format|concepts\/|keys/,
  matrix: /matrix|jobs/,
  "if else": /expressions/,
  "hash of a file": /download/,
  download: /download/,
  env: /environment/,
  assert: /assert/,
  assertion: /assertion/,
  "exit code": /command-line|how-a-run|cli|shell|first-workflow/,
  teardown: /cleanup|suites/,
  cleanup: /cleanup/,
  cache: /ci\/|cli/,
  vscode: /editors/,
  environment: /environment/,
  staging: /variables|environment|data|recipes|cookbook/,
  upload: /upload/,
  cookie: /cookies/,
  login: /sign-in|login/,
  OAuth: /sign-in|openid/,
  GraphQL: /graphql/,
  database: /db|database/,
  performance: /jobs|load|performance|response-time|thresholds|comparison/,
};

Deno.test("the site builds, its links work, and readers find what they look for", async (test) => {
  const directory = await Deno.makeTempDir({ prefix: "runner_test_site_" });
  try {
    for (const name of ["docs", "examples", "site"]) {
      await copyDirectory(join(CHECKOUT, name), join(directory, name));
    }
    for (const name of ["src/base", "src/cli/help"]) {
      await Deno.mkdir(join(directory, name), { recursive: true });
    }
    for (const file of ["CHANGELOG.md", "src/base/home.ts", "src/cli/help/synonyms.json"]) {
      await Deno.copyFile(join(CHECKOUT, file), join(directory, file));
    }
    await npm(directory, "ci", "--ignore-scripts", "--no-audit", "--no-fund");
    await npm(directory, "run", "build");
    const site = join(directory, "site", "dist");
    const pages = await readPages(site, "");

    await test.step("every link has an existing target", async () => {
      assert(pages.size >= 20, `only ${pages.size} pages`);
      assertEquals(await findBroken(site, pages), []);
    });

    await test.step("the lists at the side name every page", () => {
      const unnamed = [...pages.keys()].filter((path) => {
        if (["/index.html", "/404.html", "/changelog.html"].includes(path)) return false;
        const list = path.startsWith("/examples/") ? "/examples/index.html" : "/docs.html";
        return path !== "/examples/index.html" && !pages.get(list)!.includes(`href="${path}"`);
      });
      assertEquals(unnamed, []);
    });

    await test.step("every page has a title and a description of its own", () => {
      const seen = new Map<string, string>();
      for (const [path, html] of pages) {
        const title = /<title>(.+?)<\/title>/.exec(html)?.[1];
        const about = /<meta name="description" content="(.+?)">/.exec(html)?.[1];
        if (path === "/404.html") continue;
        assert(title && about, `${path} has no title or description`);
        assertEquals(seen.get(about), undefined, `${path}: ${about}`);
        seen.set(about, path);
      }
    });

    await test.step("llms.txt lists every page, and llms-full.txt contains it", async () => {
      const [list, full] = await Promise.all(
        ["llms.txt", "llms-full.txt"].map((name) => Deno.readTextFile(join(site, name))),
      );
      const files = [...list!.matchAll(/^- \[.+\]\((\S+)\)/gm)].map(([, file]) => file!);
      for (const path of pages.keys()) {
        const file = path.slice(1).replace(".html", ".md");
        const isListed = !/^(index|404|docs|changelog|examples\/index)\.md$/.test(file);
        assertEquals(files.includes(file), isListed, file);
      }
      for (const file of files) {
        assertStringIncludes(full!, (await Deno.readTextFile(join(site, file))).trim());
      }
    });

    const stop = new AbortController();
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen: () => {} },
      (request) => serve(site, new URL(request.url).pathname),
    );
    const url = `http://127.0.0.1:${server.addr.port}`;
    try {
      await withPage((page) => tryInBrowser(test, page, url));
      await withPage((page) => measureInBrowser(test, page, url, [...pages.keys()]));
    } finally {
      stop.abort();
      await server.finished.catch(() => {});
    }
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

async function tryInBrowser(test: Deno.TestContext, page: Page, url: string): Promise<void> {
  await setSize(page, 1280, 800);

  await test.step("the first page shows runs, one at a time", async () => {
    await page.open(`${url}/`);
    const shown = `[...document.querySelectorAll("[role=tabpanel]")]
      .find((panel) => panel.offsetHeight > 0).innerText`;
    assertStringIncludes(String(await page.evaluate(shown)), "order.yml:26:15: test is false");
    await page.evaluate(`document.querySelector("#run-tab-3").click()`);
    await page.evaluate(WHEN + `when(() => ${shown}.includes('did you mean "http"?'))`);
    assertEquals(await page.evaluate(`document.querySelectorAll("[role=tabpanel]").length`), 5);
  });

  await test.step("a page shows its content, including templates", async () => {
    await page.open(`${url}/reference/expressions.html`);
    const heading = `document.querySelector("h1").firstChild.data.trim()`;
    assertEquals(await page.evaluate(heading), "Expressions");
    const text = String(await page.evaluate(`document.querySelector("main").innerText`));
    assertStringIncludes(text, "{{API_TOKEN ?? ''}}");
  });

  await test.step("a block that is a file has its name", async () => {
    await page.open(`${url}/migrate/hurl.html`);
    const labels = `[...document.querySelectorAll(".lang.file")].map((it) => it.innerText)`;
    assertEquals(await page.evaluate(labels), ["orders.hurl", "orders.yml"]);
  });

  await test.step("the output of a failing run has colours", async () => {
    await page.open(`${url}/concepts/reports.html`);
    const failed = `[...document.querySelectorAll(".terminal .red")].map((it) => it.innerText)`;
    const texts = await page.evaluate(failed) as string[];
    assert(texts.some((text) => text.endsWith(": test is false")), texts.join("\n"));
    const permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"];
    await page.send("Browser.grantPermissions", { permissions, origin: url });
    await page.evaluate(`document.querySelector(".terminal button.copy").click()`);
    await page.evaluate(
      WHEN + `when(() => document.querySelector(".terminal button.copied") && 1)`,
    );
    const copied = String(await page.evaluate(`navigator.clipboard.readText()`));
    assertStringIncludes(copied, "✗ two is less than one\n");
  });

  await test.step("the search finds a function by its name", async () => {
    const found = await search(page, "random_str");
    const at = found.indexOf("/reference/functions.html");
    assert(at >= 0, found.join("\n"));
    await page.evaluate(`document.querySelectorAll(".results a")[${at}].click()`);
    const text = await page.evaluate(
      WHEN + `when(() => {
        const text = document.querySelector("main").innerText;
        return text.includes("random_str(length: number)") && text;
      })`,
    );
    assertStringIncludes(String(text), "random letters and digits");
  });

  await test.step("the search finds the words that people use", async () => {
    const wrong: string[] = [];
    for (const [query, wanted] of Object.entries(SEARCHES)) {
      const found = await search(page, query);
      if (!wanted.test(found[0] ?? "")) wrong.push(`${query}: ${found.join(", ")}`);
    }
    assertEquals(wrong, []);
    const found = await search(page, "changelog");
    assertEquals(found.filter((path) => path === "/changelog.html"), []);
  });

  await test.step("nothing fails, and nothing is loaded from other hosts", () => {
    assertEquals(page.errors, []);
    const elsewhere = page.requests.filter((request) => !/^(data|blob|about):/.test(request))
      .filter((request) => !request.startsWith(url));
    assertEquals(elsewhere, []);
  });
}

/** `when(find)` waits until it finds something in the page. */
const WHEN = `var when = (find) => new Promise((resolve) => {
  const look = () => {
    const found = find();
    if (found) resolve(found);
    else setTimeout(look, 20);
  };
  look();
});`;

/** The paths of the pages that the search finds, the best first. */
async function search(page: Page, query: string): Promise<string[]> {
  return await page.evaluate(`(async () => { ${WHEN}
      if (!document.querySelector("#localsearch-input")) {
        document.querySelector(".DocSearch-Button").click();
      }
      const input = await when(() => document.querySelector("#localsearch-input"));
      const type = (text) => {
        input.value = text;
        input.dispatchEvent(new Event("input", { bubbles: true }));
      };
      const first = () => document.querySelector(".results a");
      type("");
      await when(() => !first());
      type(${JSON.stringify(query)});
      await when(first);
      return [...document.querySelectorAll(".results a")].map(({ href }) => new URL(href).pathname);
    })()`) as string[];
}

/** A page of each kind: the first, prose with output, tables, examples. */
const KINDS = [
  "",
  "start/first-workflow.html",
  "concepts/reports.html",
  "reference/keys.html",
  "about/comparison.html",
  "examples/embedded.html",
  "examples/",
];

async function measureInBrowser(
  test: Deno.TestContext,
  page: Page,
  url: string,
  paths: readonly string[],
): Promise<void> {
  await test.step("axe finds no problems, in light and dark, on a screen and on a phone", async () => {
    for (const path of KINDS) {
      for (const [width, scheme] of [[1280, "light"], [390, "dark"]] as const) {
        await setSize(page, width, 800);
        await chooseScheme(page, scheme);
        await page.open(`${url}/${path}`);
        assertEquals([path, scheme, await findBarriers(page)], [path, scheme, []]);
      }
    }
  });

  await test.step("the headings of a page are listed beside it from 1024 px on", async () => {
    for (const width of [1024, 1280, 1440, 1600]) {
      await setSize(page, width, 800);
      await page.open(`${url}/concepts/jobs.html`);
      const [left, right, end] = await page.evaluate(
        WHEN + `when(() => document.querySelector(".VPDocAsideOutline a")).then((link) => {
          const { left, right, height } = link.getBoundingClientRect();
          const text = document.querySelector(".content-container").getBoundingClientRect();
          return [left - text.right, height > 0 ? right : Infinity, innerWidth];
        })`,
      ) as [number, number, number];
      assert(left > 0 && right < end, `${width}: ${left}, ${right}`);
    }
  });

  await test.step("no page scrolls sideways, and no code and no table does on a screen", async () => {
    for (const width of [1280, 1024, 390]) {
      await setSize(page, width, 800);
      await page.open(`${url}/docs.html`);
      // The document takes the content of each page by turns, which is faster than loading it.
      const wide = await page.evaluate(`(async () => {
        const CODE = "main .vp-doc > div > div[class*=language-] > pre > code";
        const wide = [];
        for (const path of ${JSON.stringify(paths)}) {
          const html = await (await fetch(path)).text();
          const read = new DOMParser().parseFromString(html, "text/html");
          document.querySelector("#app").innerHTML = read.querySelector("#app").innerHTML;
          const root = document.documentElement;
          if (root.scrollWidth > root.clientWidth) wide.push(path);
          // The first page has files beside outputs; lines may wrap there.
          if (${width} < 1280 || path === "/index.html") continue;
          for (const table of document.querySelectorAll(".vp-doc .table")) {
            if (table.scrollWidth > table.clientWidth) wide.push(path + ": " + table.innerText);
          }
          for (const code of document.querySelectorAll(CODE)) {
            const line = document.createElement("span");
            line.append("0".repeat(100));
            line.style.cssText = "white-space: pre; position: absolute";
            code.append(line);
            const { paddingLeft, paddingRight } = getComputedStyle(code);
            const room = code.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
            if (code.clientWidth > 0 && line.offsetWidth > room || code.scrollWidth > code.clientWidth) {
              wide.push(path + ": " + code.innerText);
            }
          }
        }
        return wide;
      })()`);
      assertEquals([width, wide], [width, []]);
    }
  });
}

async function npm(directory: string, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await new Deno.Command("npm", {
    args,
    cwd: join(directory, "site"),
    env: { NO_COLOR: "1" },
  }).output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(code, 0, `npm ${args.join(" ")}:\n${said}`);
}

/** Copies the sources of the checkout without anything generated. */
async function copyDirectory(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (["node_modules", "dist", "cache", ".pages"].includes(name)) continue;
    if (isDirectory) await copyDirectory(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

/** The HTML of all pages, by their paths from the root of the site. */
async function readPages(site: string, directory: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(join(site, directory))) {
    const path = `${directory}/${name}`;
    if (isDirectory) {
      for (const [inner, html] of await readPages(site, path)) pages.set(inner, html);
    } else if (name.endsWith(".html")) {
      pages.set(path, await Deno.readTextFile(join(site, path)));
    }
  }
  return pages;
}

async function findBroken(site: string, pages: ReadonlyMap<string, string>): Promise<string[]> {
  const broken: string[] = [];
  for (const [path, html] of pages) {
    for (const [, link = ""] of html.matchAll(/\s(?:href|src)="([^"]*)"/g)) {
      const url = new URL(link, `http://site${path}`);
      if (url.host !== "site" || url.protocol !== "http:") continue;
      const file = url.pathname.endsWith("/") ? `${url.pathname}index.html` : url.pathname;
      const target = pages.get(file);
      const isThere = target !== undefined || await isFile(join(site, decodeURI(file)));
      const heading = decodeURIComponent(url.hash.slice(1));
      const hasHeading = heading === "" || target?.includes(`id="${heading}"`);
      if (!isThere || !hasHeading) broken.push(`${path}: ${link}`);
    }
  }
  return broken;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
  json: "application/json",
  png: "image/png",
  woff2: "font/woff2",
};

async function serve(site: string, path: string): Promise<Response> {
  const file = path.endsWith("/") ? `${path}index.html` : path;
  try {
    const type = TYPES[file.split(".").at(-1) ?? ""] ?? "application/octet-stream";
    const bytes = await Deno.readFile(join(site, file));
    return new Response(bytes, { headers: { "content-type": type } });
  } catch {
    return new Response("not found", { status: 404 });
  }
}
