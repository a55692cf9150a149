import {
  choice,
  duration,
  flag,
  integer,
  list,
  map,
  sharing,
  text,
  value,
  type Values,
} from "../../action/rule.ts";
import { command } from "./commands.ts";
import { cookies } from "./page_cookies.ts";

/** Milliseconds that an action may take by default. */
const ACTION_TIMEOUT = 5000;

const pixels = (summary: string) => integer(summary, { min: 1 });

const { connection, fresh } = sharing("browser and its page", "job");

/** The parameters of a step. */
export const PARAMS = {
  actions: list(command, "What to do in the page, in order; each has a `name`")
    .as((commands, param) => {
      if (commands.length > 0) return commands;
      throw param.wrong('"actions" must not be empty');
    }).required(),
  timeout: duration("How long each action may take, with its waiting")
    .as((timeout) => timeout || ACTION_TIMEOUT).default(ACTION_TIMEOUT, "5s"),
  headless: flag("Whether the browser runs without a window").default(true),
  window_w: pixels("The width of the window in pixels").default(1920),
  window_h: pixels("The height of the window in pixels").default(1080),
  viewport: map({
    width: pixels("In pixels").required(),
    height: pixels("In pixels").required(),
    scale: value("number", "The number of screen pixels for each").default(1),
    mobile: flag("Whether the page is shown as on a phone").default(false),
  }, "The size of the page from this step on, if it differs from that of the window")
    .as(({ width, height, scale, mobile }) => (
      { width, height, deviceScaleFactor: scale, isMobile: mobile, hasTouch: mobile }
    )),
  device: text("The phone or tablet to emulate from this step on: `iPhone 15`, `Pixel 5`"),
  cookies,
  block: list(
    text(""),
    "What is not loaded: URLs with `*` for anything, or types of resources (`image`, `font`, `media`, `stylesheet`, `script`)",
  ),
  dialogs: choice(
    ["accept", "dismiss"],
    "Whether to accept or dismiss the dialogs that the page opens",
  ).default("accept"),
  screenshots: text("A directory to save a screenshot to when an action fails"),
  trace: text("A file to write a trace to, which the performance panel of Chrome opens"),
  tls: map({
    ca: text(
      "Certificates of authorities to trust in addition to those of the browser: a path, or PEM text",
    ),
    verify: flag("Whether to verify the certificates of servers").with({ default: "true" }),
  }, "How certificates are verified"),
  executable: text("The browser to start: a name or a path")
    .with({ default: "the environment variable `CHROME`, or the first that is installed" }),
  sandbox: flag("Whether the browser runs pages in a sandbox")
    .with({ default: "true; false for root on Linux" }),
  connection,
  fresh: fresh.with({ summary: "Whether to start a browser only for this step" }),
};

export type BrowserParams = Values<typeof PARAMS>;
