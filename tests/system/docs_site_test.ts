import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { type Page, withPage } from "../support/browser.ts";
import { CHECKOUT } from "../support/documents.ts";

Deno.test("the site builds without broken links, and its search works in a browser", async (test) => {
  const folder = await Deno.makeTempDir({ prefix: "runner_test_site_" });
  try {
    await copyFolder(join(CHECKOUT, "docs"), join(folder, "docs"));
    await copyFolder(join(CHECKOUT, "site"), join(folder, "site"));
    await npm(folder, "ci", "--ignore-scripts", "--no-audit", "--no-fund");
    await npm(folder, "run", "build");
    const site = join(folder, "site", "dist");

    await test.step("every link has an existing target", async () => {
      const pages = await readPages(site, "");
      assert(pages.size >= 20, `only ${pages.size} pages`);
      assertEquals(await findBroken(site, pages), []);
      const unnamed = [...pages.keys()].filter((path) =>
        !["/index.html", "/404.html"].includes(path) &&
        !pages.get("/index.html")!.includes(`href="${path}"`)
      );
      assertEquals(unnamed, [], "the list at the side leaves pages out");
    });

    const stop = new AbortController();
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen: () => {} },
      (request) => serve(site, new URL(request.url).pathname),
    );
    const url = `http://127.0.0.1:${server.addr.port}`;
    try {
      await withPage((page) => tryInBrowser(test, page, url));
    } finally {
      stop.abort();
      await server.finished.catch(() => {});
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

async function tryInBrowser(test: Deno.TestContext, page: Page, url: string): Promise<void> {
  await test.step("a page shows its content, including templates", async () => {
    await page.open(`${url}/expressions.html`);
    assertEquals(
      await page.evaluate(`document.querySelector("h1").firstChild.data.trim()`),
      "Expressions",
    );
    const text = String(await page.evaluate(`document.querySelector("main").innerText`));
    assert(text.includes("{{API_TOKEN ?? ''}}"), text);
  });

  await test.step("the search finds a function by its name", async () => {
    await page.evaluate(`document.querySelector(".DocSearch-Button").click()`);
    const found = await page.evaluate(`(async () => {
      const when = (find) => new Promise((resolve) => {
        const look = () => {
          const found = find();
          if (found) resolve(found);
          else requestAnimationFrame(look);
        };
        look();
      });
      const input = await when(() => document.querySelector("#localsearch-input"));
      input.value = "random_str";
      input.dispatchEvent(new Event("input", { bubbles: true }));
      const result = await when(() => document.querySelector(".results a[href*='functions']"));
      const { href } = result;
      result.click();
      await when(() => location.pathname === "/reference/functions.html");
      const page = await when(() => {
        const text = document.querySelector("main").innerText;
        return text.includes("random_str(length: number)") && text;
      });
      return [new URL(href).pathname, page.includes("random letters and digits")];
    })()`);
    assertEquals(found, ["/reference/functions.html", true]);
  });

  await test.step("nothing fails, and nothing is loaded from other hosts", () => {
    assertEquals(page.errors, []);
    const elsewhere = page.requests.filter((request) => !/^(data|blob|about):/.test(request))
      .filter((request) => !request.startsWith(url));
    assertEquals(elsewhere, []);
  });
}

async function npm(folder: string, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await new Deno.Command("npm", {
    args,
    cwd: join(folder, "site"),
    env: { NO_COLOR: "1" },
  }).output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assertEquals(code, 0, `npm ${args.join(" ")}:\n${said}`);
}

/** Copies the sources of the checkout without anything generated. */
async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (["node_modules", "dist", "cache"].includes(name)) continue;
    if (isDirectory) await copyFolder(join(from, name), join(to, name));
    else await Deno.copyFile(join(from, name), join(to, name));
  }
}

/** The HTML of all pages, by their paths from the root of the site. */
async function readPages(site: string, folder: string): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(join(site, folder))) {
    const path = `${folder}/${name}`;
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
