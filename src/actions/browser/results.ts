import type { Value } from "../../action/action.ts";
import type { OpenBrowser } from "./open_browser.ts";
import { cookiesOf } from "./page_cookies.ts";

/** What the commands of a step have brought so far. */
export interface Results {
  readonly results: Record<string, Value>;
  readonly filepaths: Record<string, string>;
  /** Pictures for reports, as data URIs. */
  readonly screenshots: Record<string, string>;
  /** The time that each command took, in seconds. */
  readonly timing: number[];
  /** The code of the last page that was opened. */
  http_code: number | null;
}

/** A picture larger than this is in no report: characters of a data URI. */
const LARGEST = 2_000_000;

export function keepPicture(
  { screenshots }: Results,
  id: string,
  bytes: Uint8Array,
  type: "png" | "jpeg" | "webp",
): void {
  const uri = `data:image/${type};base64,${bytes.toBase64()}`;
  if (uri.length <= LARGEST) screenshots[id] = uri;
}

/** The results, and the state of the page. */
export async function responseOf({ tabs, watch }: OpenBrowser, results: Results) {
  const { page } = tabs.current;
  return {
    ...results,
    url: page.url(),
    title: await page.title().catch(() => ""),
    cookies: await cookiesOf(tabs.current),
    console_errors: [...watch.consoleErrors],
    failed_requests: [...watch.failedRequests],
    dialogs: [...watch.dialogs],
  };
}
