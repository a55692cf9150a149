import { isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import { action } from "../../action/make_action.ts";
import { requestOf } from "./commands.ts";
import { hideCookieValues } from "./page_cookies.ts";
import { PARAMS } from "./parameters.ts";

/** Drives a browser. An action in the page that fails is an error. */
export const browser = action({
  name: "browser",
  summary: "Clicks, fills in and checks pages in Chromium or Chrome",
  params: PARAMS,
  limitsParts: true,
  expectsResult: ({ actions }) =>
    Array.isArray(actions) &&
    actions.some((one) => isDict(one) && String(one.name).startsWith("expect_")),
  res: {
    code: { type: "int", summary: "always 0" },
    results: { type: "map", summary: "what actions read, by their `id` or else their name" },
    filepaths: {
      type: "map",
      summary: "the files of screenshots, by `id` or name; temporary ones are removed later",
    },
    url: { type: "string", summary: "the URL of the page at the end" },
    title: { type: "string", summary: "the title of the page at the end" },
    http_code: { type: "any", summary: "the code of the last page that `navigate` opened" },
    cookies: {
      type: "array",
      summary: "the cookies of the page: `name`, `value`, `domain`, `path`, `expires`, …",
      hide: hideCookieValues,
    },
    console_errors: {
      type: "array",
      summary: "errors in the console and uncaught ones: `text`, `url`, `line`",
    },
    failed_requests: {
      type: "array",
      summary: "requests that failed: `method`, `url`, `code` (400 and above) or `error`",
    },
    dialogs: { type: "array", summary: "the dialogs that the page opened: `type`, `message`" },
    timing: { type: "array", summary: "how long each action took, in seconds" },
    screenshots: {
      type: "map",
      summary: "the screenshots as data URIs, which the HTML report shows",
    },
  },
  usage: `with:
  actions:
    - { name: navigate, url: "http://127.0.0.1:8080/login" }
    - { name: click, selector: "text=Sign in" }
    - { name: text, id: text, selector: h1 }`,
  example: 'res.results.text == "Welcome"',
  target: ({ executable = "browser" }) => ({ program: executable, product: "the browser" }),
  connection: {
    by: ["executable", "headless", "sandbox", "window_w", "window_h", "tls"],
    open: async (params, attempt) =>
      await (await import("./open_browser.ts")).openBrowser(params, attempt),
    isLost: ({ lost }) => lost.aborted,
    close: (browser) => browser.close(),
  },
  request: ({ actions }, { cookies: _, ...raw }) => ({ ...raw, actions: actions.map(requestOf) }),
  run: async (browser, params, attempt) =>
    await (await import("./run_commands.ts")).runCommands(browser, params, attempt),
  describe: (req, res) => ({
    request: { kept: { ...req, actions: linesOf(req, res) } },
    ...res && { response: describeResponse(res) },
  }),
});

/** A line for each action, with the time that it took: `1. click "#save" (40 ms)`. */
function linesOf({ actions }: Dict, res: Dict | null): Value {
  if (!Array.isArray(actions)) return null;
  const times = Array.isArray(res?.timing) ? res.timing : [];
  return actions.map((one, index) => {
    const seconds = times[index];
    const time = typeof seconds === "number" ? ` (${Math.round(seconds * 1000)} ms)` : "";
    return `${index + 1}. ${isDict(one) ? one.does : one}${time}`;
  }).join("\n");
}

function describeResponse(res: Dict) {
  const { screenshots, timing: _, ...kept } = res;
  const images = isDict(screenshots)
    ? Object.entries(screenshots).map(([name, data]) => ({ name, data: String(data) }))
    : [];
  return { kept, ...images.length > 0 && { images } };
}
