import type { ActionContext } from "../../action/action.ts";
import { runResources } from "../../action/run_resources.ts";
import { writeStepFile } from "../../action/step_file.ts";
import type { Order, OrderOutcome } from "./order.ts";
import type { PageActor } from "./page_actor.ts";
import type { Page } from "./puppeteer.ts";

/** A picture larger than this is in no report: characters of a data URI. */
const LARGEST = 2_000_000;

/** Takes a screenshot, saves it, and keeps a small one for reports. */
export async function takeScreenshot(
  { name, id, selector = "", paths: [path], quality }: Order,
  { page, element, wait }: PageActor,
  outcome: OrderOutcome,
  context: ActionContext,
): Promise<void> {
  const isJpeg = quality !== undefined || /\.jpe?g$/i.test(path ?? "");
  const type = isJpeg ? "jpeg" as const : "png" as const;
  const options = { type, ...isJpeg ? { quality: quality ?? 90 } : {} };
  const target = name === "screenshot" ? (await element(selector, { visible: true })).handle : page;
  const whole = name === "full_screenshot" ? { fullPage: true } : {};
  const bytes = await wait(
    target.screenshot({ ...options, ...whole }),
    "the screenshot was not ready",
  );
  outcome.filepaths[id] = path === undefined
    ? await writeTemporary(bytes, isJpeg ? ".jpg" : ".png", context)
    : await writeStepFile({ path, what: "the screenshot", parameter: "actions" }, bytes, context);
  keep(outcome, id, bytes, type);
}

/** Takes a picture of what a page shows when an action has failed, if it still answers. */
export async function captureFailure(page: Page): Promise<Uint8Array> {
  return await page.screenshot({ type: "webp", quality: 60 });
}

/** Keeps a picture for reports. */
export function keep(
  { screenshots }: Pick<OrderOutcome, "screenshots">,
  id: string,
  bytes: Uint8Array,
  type: "png" | "jpeg" | "webp",
): void {
  const uri = `data:image/${type};base64,${bytes.toBase64()}`;
  if (uri.length <= LARGEST) screenshots[id] = uri;
}

/** Writes a file that goes when the run ends. */
async function writeTemporary(
  bytes: Uint8Array,
  extension: string,
  context: ActionContext,
): Promise<string> {
  const path = await runResources(context).newFile(extension);
  await Deno.writeFile(path, bytes);
  return path;
}
