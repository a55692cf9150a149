import { StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { ActionContext, Dict } from "../../action/action.ts";
import { type ParameterReader, readParameters } from "../../action/read_parameters.ts";
import { readTlsOptions } from "../../action/tls/tls_options.ts";
import { findBrowser } from "./find_browser.ts";
import type { BrowserOptions } from "./open_browser.ts";
import { type Order, readOrders } from "./order.ts";
import { readCookies } from "./page_cookies.ts";
import type { WatchOptions } from "./page_watch.ts";
import { type Device, loadPuppeteer, type Viewport } from "./puppeteer.ts";

/** Milliseconds that an action may take where the step does not say. */
const ACTION_TIMEOUT = 5000;

/** The parameters of a step with rendered templates. */
export interface Setup extends WatchOptions {
  readonly orders: readonly Order[];
  /** Milliseconds for an action. */
  readonly timeout: number;
  readonly options: BrowserOptions;
  readonly device: Device | undefined;
  readonly viewport: Viewport | undefined;
  readonly cookies: readonly Dict[];
  /** Where to write a trace. */
  readonly trace: string | undefined;
  /** Where to write a screenshot of a failure. */
  readonly screenshots: string | undefined;
}

/** Reads the parameters of a step, and finds its browser. */
export async function readSetup(params: Dict, context: ActionContext): Promise<Setup> {
  const read = readParameters("browser", params);
  const timeout = read.duration("timeout") || ACTION_TIMEOUT;
  const setup = {
    timeout,
    orders: readOrders(params, timeout),
    viewport: readViewport(read.map("viewport")),
    cookies: readCookies(params.cookies ?? null, context),
    trace: read.string("trace"),
    screenshots: read.string("screenshots"),
    block: (read.list("block") ?? []).map(String),
    dismissDialogs: read.string("dialogs") === "dismiss",
  };
  const options = await readOptions(read, context);
  return { ...setup, options, device: await readDevice(read.string("device")) };
}

async function readOptions(
  read: ParameterReader,
  context: ActionContext,
): Promise<BrowserOptions> {
  const headless = read.boolean("headless") ?? true;
  const [width, height] = [read.integer("window_w") ?? 1920, read.integer("window_h") ?? 1080];
  const sandbox = read.boolean("sandbox");
  return {
    program: await findBrowser(read.string("executable"), headless, context),
    headless,
    // Chromium refuses to start with its sandbox as root.
    sandbox: sandbox ?? !(Deno.build.os === "linux" && isRoot()),
    width,
    height,
    tls: await readTlsOptions("browser", read.map("tls"), context),
  };
}

function isRoot(): boolean {
  try {
    return Deno.uid() === 0;
  } catch {
    return false; // The permission for it is not granted.
  }
}

async function readDevice(name: string | undefined): Promise<Device | undefined> {
  if (name === undefined) return undefined;
  const { KnownDevices } = await loadPuppeteer();
  if (Object.hasOwn(KnownDevices, name)) return KnownDevices[name];
  const names = Object.keys(KnownDevices);
  throw new StepError(
    `cannot run browser: unknown device ${JSON.stringify(name)}`,
    didYouMean(name, names) ?? `devices are, for example, ${names.slice(-6).join(", ")}`,
    { parameter: "device" },
  );
}

function readViewport(map: Dict | undefined): Viewport | undefined {
  if (!map) return undefined;
  const read = readParameters("browser", map);
  const [width, height] = [read.integer("width"), read.integer("height")];
  if (!width || !height || width < 0 || height < 0) {
    throw new StepError('cannot run browser: "viewport" needs "width" and "height"', undefined, {
      parameter: "viewport",
    });
  }
  const isMobile = read.boolean("mobile") ?? false;
  const deviceScaleFactor = read.number("scale") ?? 1;
  return { width, height, deviceScaleFactor, isMobile, hasTouch: isMobile };
}
