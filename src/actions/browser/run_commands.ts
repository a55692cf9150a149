import { countOf } from "../../base/text/count_of.ts";
import { assertNever, StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { readablePath, readStepFile, writeStepFile } from "../../action/step_file.ts";
import { describeCommand } from "./commands.ts";
import type { OpenBrowser } from "./open_browser.ts";
import { keepPicture, PageActor, responseOf, type Results, unlessAborted } from "./page_actor.ts";
import { setCookies } from "./page_cookies.ts";
import type { BrowserParams } from "./parameters.ts";
import { type Device, type Handle, type Keyboard, loadPuppeteer } from "./puppeteer.ts";
import { isSecretField } from "../../secrets/secrets.ts";
import type { ActionContext, Value } from "../../action/action.ts";
import { runResources } from "../../action/run_resources.ts";
import {
  dataOf,
  fillField,
  isLoaded,
  isPassword,
  refuseFiles,
  selectContent,
  selectOptions,
  submitForm,
  textOf,
} from "./page_scripts.ts";
import { refusalOf } from "./page_watch.ts";
import { explainFailure, explainNetwork } from "./explain_failure.ts";

/** Carries out the commands of a step in the page of a browser. One that fails is an error. */
export async function runCommands(
  browser: OpenBrowser,
  params: BrowserParams,
  attempt: ActionAttempt,
) {
  const { actions, trace } = params;
  const { clock } = attempt.context.host;
  const began = clock.ticks();
  const start = browser.takeStartTime();
  const results: Results = {
    results: {},
    filepaths: {},
    screenshots: {},
    timing: [],
    http_code: null,
  };
  const { page } = browser.tabs.current;
  const ask = <T>(activity: string, start: () => Promise<T>) =>
    within(params.timeout, activity, browser, attempt, start);
  await ask("preparing the page", () => prepare(browser, params));
  try {
    for (const index of actions.keys()) {
      await runCommand(index, browser, params, attempt, results);
    }
  } finally {
    if (trace !== undefined && !attempt.isBroken && !attempt.signal.aborted) {
      await ask("writing the trace", async () => {
        const bytes = await page.tracing.stop();
        const file = { path: trace, what: "the trace", parameter: "trace" };
        if (bytes) await writeStepFile(file, bytes, attempt.context);
      });
    }
  }
  const res = await ask("reading the state of the page", () => responseOf(browser, results));
  return {
    res: { ...res, code: 0 },
    brief: countOf(actions.length, "action"),
    phases: { ...start >= 1 && { start }, actions: clock.ticks() - began },
  };
}

/** Sets up the page as the step wants it. */
async function prepare(
  { tabs, watch }: OpenBrowser,
  { actions, viewport, device, cookies = [], block = [], dialogs, trace }: BrowserParams,
): Promise<void> {
  const { page } = tabs.current;
  const shape = { device: device === undefined ? undefined : await findDevice(device), viewport };
  if (trace !== undefined) await page.tracing.start({ screenshots: true });
  await watch.begin(block, dialogs === "dismiss");
  await tabs.shape(shape);
  const firstUrl = actions.find(({ url }) => url !== undefined)?.url ?? page.url();
  await setCookies(cookies, firstUrl, tabs.current);
}

async function findDevice(name: string): Promise<Device> {
  const { KnownDevices } = await loadPuppeteer();
  if (Object.hasOwn(KnownDevices, name)) return KnownDevices[name]!;
  const names = Object.keys(KnownDevices);
  throw new StepError(
    `cannot run browser: unknown device ${JSON.stringify(name)}`,
    didYouMean(name, names) ?? `devices are, for example, ${names.slice(-6).join(", ")}`,
    { parameter: "device" },
  );
}

/** Carries out the command at an index. */
async function runCommand(
  index: number,
  browser: OpenBrowser,
  { actions, timeout, screenshots }: BrowserParams,
  attempt: ActionAttempt,
  results: Results,
): Promise<void> {
  const command = actions[index]!;
  const milliseconds = command.timeout || timeout;
  const { clock } = attempt.context.host;
  const began = clock.ticks();
  const { signal, release } = limit(milliseconds, browser, attempt);
  const actor = new PageActor(browser.tabs, command, signal, attempt);
  const took = () => {
    release();
    const ticks = Math.round(clock.ticks() - began);
    results.timing.push(ticks / 1000);
    return ticks;
  };
  try {
    await actor.wait(carryOut(actor, results));
    attempt.context.log(`${describeCommand(command)} took ${formatDuration(took())}`);
  } catch (error) {
    took();
    const which = `action ${index + 1} of ${actions.length}, ${describeCommand(command)}`;
    if (attempt.signal.aborted) {
      await browser.close();
      const { message, hint } = attempt.signal.reason as StepError;
      throw new StepError(`${message} in ${which}`, hint);
    }
    if (browser.lost.aborted) {
      attempt.isBroken = true;
      await browser.close();
      throw new StepError(`the browser ended during ${which}`);
    }
    const message = error === signal.reason
      ? `${which}, timed out after ${formatDuration(milliseconds)}: ${actor.waiting}`
      : `${which}, failed: ${error instanceof Error ? error.message : error}`;
    throw await explainFailure(message, error, actor, browser, results, screenshots);
  }
}

/** Waits for what the browser does beside the commands, for as long as one of them may take. */
async function within<T>(
  milliseconds: number,
  activity: string,
  browser: OpenBrowser,
  attempt: ActionAttempt,
  start: () => Promise<T>,
): Promise<T> {
  const { signal, release } = limit(milliseconds, browser, attempt);
  try {
    return await unlessAborted(start(), signal);
  } catch (error) {
    if (error instanceof StepError && error !== signal.reason) throw error;
    attempt.isBroken = true;
    await browser.close();
    const { message, hint } = error as StepError;
    throw new StepError(`${message} while ${activity}`, hint);
  } finally {
    release();
  }
}

/** The signal that ends what takes longer than that, when the attempt ends, or the browser. */
function limit(
  milliseconds: number,
  { lost }: OpenBrowser,
  { signal, context }: ActionAttempt,
) {
  const late = new AbortController();
  const timer = context.deadline.after(milliseconds, () => {
    late.abort(new StepError(`timed out after ${formatDuration(milliseconds)}`));
  });
  return {
    signal: AbortSignal.any([signal, lost, late.signal]),
    release: () => timer.cancel(),
  };
}

const REACHABLE = { visible: true, reachable: true } as const;
const CLICKABLE = { ...REACHABLE, enabled: true } as const;
const EDITABLE = { visible: true, enabled: true } as const;
const VISIBLE = { visible: true } as const;

/** Carries out one command; what it reads goes into the results. */
async function carryOut(actor: PageActor, results: Results): Promise<void> {
  const { command, attempt: { context } } = actor;
  const { name, id = name, selector = "", value: values = [] } = command;
  const [value = ""] = values;
  const read = (result: Value) => void (results.results[id] = result);
  switch (name) {
    case "navigate":
      return await navigate(command.url!, actor, results);
    case "click":
      return await click(actor, { button: "left", count: 1 });
    case "double_click":
      return await click(actor, { button: "left", count: 2 });
    case "right_click":
      return await click(actor, { button: "right", count: 1 });
    case "hover": {
      const handle = await actor.element(REACHABLE);
      return await actor.perform(() => handle.hover());
    }
    case "focus": {
      const handle = await actor.element(EDITABLE);
      return await actor.perform(() => handle.focus());
    }
    case "scroll":
      return void await actor.element(REACHABLE);
    case "fill": {
      const handle = await fieldOf(actor);
      return await actor.perform(() => callOn(handle, selector, fillField, value));
    }
    case "send_keys":
    case "type": {
      const handle = await fieldOf(actor);
      const { keyboard } = actor.page;
      await actor.wait(handle.focus(), "the page did not answer");
      await actor.wait(handle.evaluate(selectContent), "the page did not answer");
      return await actor.perform(() =>
        value === "" ? keyboard.press("Backspace") : keyboard.type(value)
      );
    }
    case "press": {
      if (selector !== "") await actor.wait((await actor.element(EDITABLE)).focus());
      for (const keys of values) await actor.perform(() => press(keys, actor.page.keyboard));
      return;
    }
    case "select": {
      const handle = await actor.element(EDITABLE);
      return await actor.perform(() => callOn(handle, selector, selectOptions, values));
    }
    case "upload": {
      const { path = [] } = command;
      const files = await Promise.all(path.map((one) => absolutePath(one, context)));
      // Pages hide file fields behind buttons of their own.
      const handle = await actor.element({ enabled: true });
      await callOn(handle, selector, refuseFiles, files.length);
      return await actor.perform(() => handle.uploadFile(...files));
    }
    case "submit": {
      const handle = await actor.element({});
      return await actor.perform(() => callOn(handle, selector, submitForm));
    }
    case "close_tab": {
      if (await actor.wait(actor.tabs.close(), "the tab did not close")) return;
      throw new StepError("there is no other tab to go back to");
    }
    case "wait_visible":
    case "expect_visible":
      return void await actor.element(VISIBLE);
    case "wait_not_visible":
      return await actor.gone();
    case "wait_enabled":
      return void await actor.element({ enabled: true });
    case "wait_ready":
      if (selector !== "") return void await actor.element({});
      return await actor.until(async (page) =>
        await page.evaluate(isLoaded) ? undefined : "the page is still loading"
      );
    case "wait_text":
    case "expect_text":
      return read(await textLike(actor));
    case "expect_url":
      return await actor.until((page) => Promise.resolve(mismatch("the URL", page.url(), actor)));
    case "expect_title":
      return await actor.until(async (page) => mismatch("the title", await page.title(), actor));
    case "text":
      return read(await actor.read(VISIBLE, (handle) => handle.evaluate(textOf)));
    case "value":
      return read(
        await actor.read(
          {},
          (handle) => handle.evaluate((one: { value?: unknown }) => String(one.value ?? "")),
        ),
      );
    case "get_html":
      return read(
        await actor.read(
          {},
          (handle) => handle.evaluate((one: { outerHTML: string }) => one.outerHTML),
        ),
      );
    case "get_attribute":
      return read(await attributesOf(actor));
    case "evaluate":
      return read(await evaluate(actor));
    case "screenshot":
    case "capture_screenshot":
    case "full_screenshot":
      return await takeScreenshot(actor, results);
    default:
      return assertNever(name);
  }
}

async function click(
  actor: PageActor,
  options: { readonly button: "left" | "right"; readonly count: number },
): Promise<void> {
  const handle = await actor.element(CLICKABLE);
  await actor.perform(() => handle.click(options));
}

async function navigate(text: string, actor: PageActor, results: Results): Promise<void> {
  const { page, signal, attempt: { context: { permissions, tls } } } = actor;
  const url = URL.parse(text, page.url() === "about:blank" ? undefined : page.url());
  if (!url) {
    throw new StepError(`invalid URL ${JSON.stringify(text)}`, "write it with http:// or https://");
  }
  const refusal = permissions && refusalOf(url.href, permissions);
  if (refusal !== undefined) {
    const host = `${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`;
    const hint = url.protocol === "file:" ? undefined : `allow it with --allow-net=${host}`;
    throw new StepError(`cannot open ${url.href}: ${refusal}`, hint);
  }
  try {
    const opened = page.goto(url.href, { timeout: 0, waitUntil: "load", signal });
    const response = await actor.wait(opened, "the page did not load");
    results.http_code = response?.status() ?? null;
  } catch (error) {
    throw explainNetwork(error, url, tls?.insecure === true) ?? error;
  }
}

/** A field that takes a value. What a field for passwords gets is a secret. */
async function fieldOf(actor: PageActor): Promise<Handle> {
  const { command: { selector = "", value: [value = ""] = [] }, attempt } = actor;
  const handle = await actor.element(EDITABLE);
  const names = selector.match(/[\w-]+/g) ?? [];
  const isSecret = names.some(isSecretField) || await actor.wait(handle.evaluate(isPassword));
  if (value !== "" && isSecret) attempt.context.secrets.add(value);
  return handle;
}

/** Calls a function on an element. It returns a description of the problem, or an empty text. */
async function callOn<A extends unknown[]>(
  handle: Handle,
  selector: string,
  // deno-lint-ignore no-explicit-any
  script: (element: any, ...args: A) => string,
  ...args: A
): Promise<void> {
  const problem = await handle.evaluate(script, ...args);
  if (problem !== "") throw new StepError(`the element ${JSON.stringify(selector)}: ${problem}`);
}

async function press(keys: string, keyboard: Keyboard): Promise<void> {
  const [key, ...modifiers] = (keys === "+" ? ["+"] : keys.split("+")).reverse();
  try {
    for (const modifier of modifiers.toReversed()) await keyboard.down(modifier);
    await keyboard.press(key!);
  } catch (error) {
    if (!/Unknown key/.test(String(error))) throw error;
    throw new StepError(
      `unknown key ${JSON.stringify(keys)}`,
      "keys are written Enter, Tab, Escape, ArrowDown, a, or Control+A",
    );
  } finally {
    for (const modifier of modifiers) await keyboard.up(modifier).catch(() => {});
  }
}

/** The path of a file to upload, as the browser opens it. */
async function absolutePath(path: string, context: ActionContext): Promise<string> {
  const file = { what: "the file to upload", path, parameter: "actions" };
  const { files } = context.host;
  const found = await readablePath(file, context);
  // Reading it says why it cannot be uploaded.
  if (!await files.isFile(found).catch(() => false)) await readStepFile(file, context);
  return await files.realPath(found);
}

/** The text of an element once it is what the command says. */
async function textLike(actor: PageActor): Promise<string> {
  const { selector, value } = actor.command;
  const it = JSON.stringify(selector);
  let text = "";
  await actor.element({}, async (handle) => {
    text = await handle.evaluate(textOf);
    if (value) return mismatch(`the text of ${it}`, text, actor);
    return text === "" ? `the element ${it} has no text` : undefined;
  });
  return text;
}

/** Describes how a text differs from the one that is expected; undefined if it does not. */
function mismatch(
  what: string,
  text: string,
  { command: { value: [value = ""] = [], exact }, attempt }: PageActor,
): string | undefined {
  const squeeze = (one: string) => one.replace(/\s+/g, " ").trim();
  const [is, wanted] = [squeeze(text), squeeze(value)];
  if (exact ? is === wanted : is.includes(wanted)) return undefined;
  return `${what} is ${attempt.excerpt(is)}, ${exact ? "not" : "without"} ${
    JSON.stringify(wanted)
  }`;
}

async function attributesOf(actor: PageActor): Promise<Value> {
  const { attribute: names = [] } = actor.command;
  const values = await actor.read({}, (handle) =>
    handle.evaluate(
      (one: { getAttribute(name: string): string | null }, names: readonly string[]) =>
        names.map((name) => one.getAttribute(name)),
      names,
    ));
  if (names.length === 1) return values[0] ?? null;
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
}

async function evaluate(actor: PageActor): Promise<Value> {
  const frame = await actor.frame();
  try {
    const script = actor.command.script!;
    const result = await actor.wait(frame.evaluateHandle(script), "the script did not end");
    // A script that leaves the page has its value all the same.
    const isObject = result.remoteObject().objectId !== undefined;
    return isObject ? await actor.wait(result.evaluate(dataOf)) : dataOf(await result.jsonValue());
  } catch (error) {
    if (error instanceof StepError || !(error instanceof Error)) throw error;
    const isStatements = /^(Illegal return|await is only valid|Unexpected token)/
      .test(error.message);
    throw new StepError(
      `the script failed: ${error.message}`,
      isStatements ? '"script" is one expression: (async () => { …; return … })()' : undefined,
    );
  }
}

/** Takes a screenshot, saves it, and keeps a small one for reports. */
async function takeScreenshot(actor: PageActor, results: Results): Promise<void> {
  const { command: { name, id = name, path: [path] = [], quality }, attempt } = actor;
  const { context } = attempt;
  const isJpeg = quality !== undefined || /\.jpe?g$/i.test(path ?? "");
  const type = isJpeg ? "jpeg" as const : "png" as const;
  const target = name === "screenshot" ? await actor.element(VISIBLE) : actor.page;
  const picture = target.screenshot({
    type,
    ...isJpeg && { quality: quality ?? 90 },
    ...name === "full_screenshot" && { fullPage: true },
  });
  const bytes = await actor.wait(picture, "the screenshot was not ready");
  results.filepaths[id] = path === undefined
    ? await writeTemporary(bytes, isJpeg ? ".jpg" : ".png", context)
    : await writeStepFile({ path, what: "the screenshot", parameter: "actions" }, bytes, context);
  keepPicture(results, id, bytes, type);
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
