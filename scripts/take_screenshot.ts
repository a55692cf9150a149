/**
 * Takes the picture of an HTML report that the README shows, docs/report.png: examples/demo.yml
 * with a wrong password, in a headless Chromium. `deno run -A scripts/take_screenshot.ts [path]`.
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { toFileUrl } from "@std/path/to-file-url";
import { withPage } from "../tests/support/browser.ts";
import { openShop } from "./demo_server.ts";

const CHECKOUT = fromFileUrl(new URL("../", import.meta.url));
const [path = `${CHECKOUT}docs/report.png`] = Deno.args;
const [width, height] = [1280, 760];

const folder = await Deno.makeTempDir({ prefix: "runner_screenshot_" });
const shop = openShop();
try {
  const report = `${folder}/report.html`;
  const runner = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "cli.ts", "--report", `html=${report}`, "examples/demo.yml"],
    cwd: CHECKOUT,
    env: { SHOP_URL: shop.url, SHOP_PASSWORD: "guessed" },
    stdout: "null",
  });
  await runner.output();
  await Deno.writeFile(path, await pictureOf(report));
} finally {
  await shop.close();
  await Deno.remove(folder, { recursive: true });
}

async function pictureOf(report: string): Promise<Uint8Array> {
  return await withPage(async (page) => {
    const size = { width, height, deviceScaleFactor: 1, mobile: false };
    await page.send("Emulation.setDeviceMetricsOverride", size);
    await page.open(toFileUrl(report).href);
    // The failed step is selected already; the rest shows what a run looks like.
    await page.evaluate(`(() => {
      const show = document.getElementById("show");
      show.value = "all";
      show.dispatchEvent(new Event("change"));
    })()`);
    const { data } = await page.send("Page.captureScreenshot", { format: "png" });
    return Uint8Array.from(atob(String(data)), (letter) => letter.charCodeAt(0));
  });
}
