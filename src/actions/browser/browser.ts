import { isDict } from "../../base/value/value.ts";
import type { Action, Dict, ParameterProblem } from "../../action/action.ts";
import { ACTIONS_PARAMETER, checkOrders } from "./order.ts";
import { COOKIES_PARAMETER, hideCookieValues } from "./page_cookies.ts";

/** Drives a browser. */
export const browser: Action = {
  name: "browser",
  summary: "Clicks, fills in and checks pages in Chromium or Chrome",
  parameters: [
    ACTIONS_PARAMETER,
    {
      name: "timeout",
      type: "duration",
      summary: "How long each action may take, with its waiting",
      default: "5s",
    },
    {
      name: "headless",
      type: "boolean",
      summary: "Whether the browser runs without a window",
      default: "true",
    },
    {
      name: "window_w",
      type: "integer",
      summary: "The width of the window in pixels",
      default: "1920",
    },
    {
      name: "window_h",
      type: "integer",
      summary: "The height of the window in pixels",
      default: "1080",
    },
    {
      name: "viewport",
      type: "map",
      summary: "The size of the page from this step on, where it is another than the window's",
      fields: [
        { name: "width", type: "integer", summary: "In pixels", required: true },
        { name: "height", type: "integer", summary: "In pixels", required: true },
        { name: "scale", type: "number", summary: "Pixels of the screen for each", default: "1" },
        { name: "mobile", type: "boolean", summary: "Whether it is a phone", default: "false" },
      ],
    },
    {
      name: "device",
      type: "string",
      summary: "The phone or tablet to act as from this step on: `iPhone 15`, `Pixel 5`",
    },
    COOKIES_PARAMETER,
    {
      name: "block",
      type: "list",
      summary:
        "What is not loaded: URLs with `*` for anything, or types of resources (`image`, `font`, `media`, `stylesheet`, `script`)",
    },
    {
      name: "dialogs",
      type: "string",
      summary: "Whether to accept or dismiss the dialogs that the page opens",
      default: "accept",
      values: ["accept", "dismiss"],
    },
    {
      name: "screenshots",
      type: "string",
      summary: "A directory to save a screenshot to when an action fails",
    },
    {
      name: "trace",
      type: "string",
      summary: "A file to write a trace to, which the performance panel of Chrome opens",
    },
    {
      name: "tls",
      type: "map",
      summary: "How certificates are verified",
      fields: [
        {
          name: "ca",
          type: "string",
          summary:
            "Certificates of authorities to trust beside those of the browser: a path, or PEM text",
        },
        {
          name: "verify",
          type: "boolean",
          summary: "Whether to verify the certificates of servers",
          default: "true",
        },
      ],
    },
    {
      name: "executable",
      type: "string",
      summary: "The browser to start: a name or a path",
      default: "the environment variable `CHROME`, or the first that is installed",
    },
    {
      name: "sandbox",
      type: "boolean",
      summary: "Whether the browser shuts pages in a sandbox of the system",
      default: "true; of root on Linux false",
    },
    {
      name: "connection",
      type: "string",
      summary: "A name by which all jobs of the run share the browser and its page",
      default: "one for each job",
    },
    {
      name: "fresh",
      type: "boolean",
      summary: "Whether to start a browser for this step alone",
      default: "false",
    },
  ],
  responseFields: [
    { name: "code", type: "int" },
    { name: "results", type: "map" },
    { name: "filepaths", type: "map" },
    { name: "url", type: "string" },
    { name: "title", type: "string" },
    { name: "http_code" },
    { name: "cookies", type: "array", hide: hideCookieValues },
    { name: "console_errors", type: "array" },
    { name: "failed_requests", type: "array" },
    { name: "dialogs", type: "array" },
    { name: "timing", type: "array" },
    { name: "screenshots", type: "map" },
  ],
  expectsResult: ({ actions }) =>
    Array.isArray(actions) &&
    actions.some((one) => isDict(one) && String(one.name).startsWith("expect_")),
  check: (params) => [...checkOrders(params), ...checkSizes(params)],
  exampleTest: 'res.results.text == "Welcome"',
  explainer: async () => (await import("./explain_browser.ts")).browserExplainer,
  load: async () => (await import("./run_browser.ts")).runBrowser,
};

/** A window has a size. */
function checkSizes(params: Dict): readonly ParameterProblem[] {
  const { window_w, window_h, viewport } = params;
  const { width, height } = isDict(viewport) ? viewport : {};
  const sizes: readonly (readonly [path: readonly string[], size: unknown])[] = [
    [["window_w"], window_w],
    [["window_h"], window_h],
    [["viewport", "width"], width],
    [["viewport", "height"], height],
  ];
  return sizes.filter(([, size]) => typeof size === "number" && size < 1).map(([path]) => ({
    path,
    message: `"${path.join(".")}" must be greater than 0`,
  }));
}
