import { toFileUrl } from "@std/path/to-file-url";
import { type Page, withPage } from "../../tests/support/programs/browser.ts";
import { openShop } from "../demo_server.ts";
import { CHECKOUT } from "./run_for_picture.ts";

/** The HTML report of examples/demo.yml with a wrong password. */
export async function takeReport(): Promise<Uint8Array> {
  return await withRun(
    ["--report", "html=report.html"],
    "examples/demo.yml",
    {
      SHOP_PASSWORD: "guessed",
    },
    async (directory) =>
      await takePicture(`${directory}/report.html`, { width: 1280, height: 760 }, async (page) => {
        // The failed step is selected already; the rest shows what a run looks like.
        await page.evaluate(`(() => {
        const show = document.getElementById("show");
        show.value = "all";
        show.dispatchEvent(new Event("change"));
        // The machine that takes the picture is of no interest.
        for (const item of document.querySelectorAll(".origin span")) {
          if (item.textContent.startsWith("on ")) item.remove();
        }
      })()`);
      }),
  );
}

/** The summary that a run of site/runs/order.yml writes for GitHub, as GitHub shows it. */
export async function takeSummary(): Promise<Uint8Array> {
  return await withRun([], "site/runs/order.yml", {
    GITHUB_ACTIONS: "true",
    GITHUB_STEP_SUMMARY: "summary.md",
  }, async (directory) => {
    const summary = await Deno.readTextFile(`${directory}/summary.md`);
    await Deno.writeTextFile(`${directory}/summary.html`, `${HEAD}${await toHtml(summary)}`);
    return await takePicture(`${directory}/summary.html`, { width: 900, height: 620 });
  });
}

async function withRun<T>(
  args: readonly string[],
  file: string,
  env: Readonly<Record<string, string>>,
  use: (directory: string) => Promise<T>,
): Promise<T> {
  const directory = await Deno.makeTempDir({ prefix: "runner_screenshot_" });
  const shop = openShop();
  try {
    await Deno.symlink(`${CHECKOUT}${file.split("/")[0]}`, `${directory}/${file.split("/")[0]}`);
    await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", `${CHECKOUT}cli.ts`, ...args, file],
      cwd: directory,
      env: { SHOP_URL: shop.url, SHOP_PASSWORD: shop.password, ...env },
      stdout: "null",
    }).output();
    return await use(directory);
  } finally {
    await shop.close();
    await Deno.remove(directory, { recursive: true });
  }
}

async function takePicture(
  path: string,
  size: { readonly width: number; readonly height: number },
  prepare: (page: Page) => Promise<void> = () => Promise.resolve(),
): Promise<Uint8Array> {
  return await withPage(async (page) => {
    const metrics = { ...size, deviceScaleFactor: 1, mobile: false };
    await page.send("Emulation.setDeviceMetricsOverride", metrics);
    await page.send("Emulation.setScrollbarsHidden", { hidden: true });
    await page.open(toFileUrl(path).href);
    await prepare(page);
    const { data } = await page.send("Page.captureScreenshot", { format: "png" });
    return Uint8Array.from(atob(String(data)), (letter) => letter.charCodeAt(0));
  });
}

/** Markdown as HTML, by the parser of the site. */
async function toHtml(markdown: string): Promise<string> {
  const program = `
    import { createMarkdownRenderer } from "vitepress";
    const md = await createMarkdownRenderer(".", { html: true, highlight: (code) =>
      "<pre>" + code.replaceAll("&", "&amp;").replaceAll("<", "&lt;") + "</pre>" });
    console.log(md.render(process.argv[1]));`;
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: ["--input-type=module", "-e", program, markdown],
    cwd: `${CHECKOUT}site`,
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  const html = new TextDecoder().decode(stdout).replace(/ id="[^"]*"/g, "");
  return html.replaceAll("✅", icon("#1a7f37", "M4 8.5 7 11.5 12.5 5"))
    .replaceAll("❌", icon("#cf222e", "M5 5l6 6m0-6-6 6"));
}

/** A sign that not every machine has a font for. */
function icon(colour: string, path: string): string {
  return `<svg viewBox="0 0 16 16" width="1.1em" style="vertical-align: -0.15em">` +
    `<rect width="16" height="16" rx="3" fill="${colour}"/>` +
    `<path d="${path}" fill="none" stroke="#fff" stroke-width="2"/></svg>`;
}

const HEAD = `<!doctype html><meta charset="utf-8"><style>
  body { margin: 24px; font: 14px/1.5 system-ui, "Liberation Sans", sans-serif; color: #1f2328; }
  body { border: 1px solid #d1d9e0; border-radius: 6px; padding: 8px 24px 24px; }
  h2 { border-bottom: 1px solid #d1d9e0; padding-bottom: 6px; }
  table { border-collapse: collapse; }
  th, td { border: 1px solid #d1d9e0; padding: 6px 13px; }
  tr:nth-child(even) td { background: #f6f8fa; }
  pre { background: #f6f8fa; border-radius: 6px; padding: 12px 16px; font: 12px/1.45 monospace; }
  summary { font-weight: 600; }
  button, .lang, .header-anchor { display: none; }
</style>`;
