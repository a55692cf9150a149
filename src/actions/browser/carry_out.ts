import { assertNever, StepError } from "../../base/errors.ts";
import { isSecretField } from "../../secrets/secrets.ts";
import type { ActionContext, Value } from "../../action/action.ts";
import { readStepFile } from "../../action/step_file.ts";
import { explainNetwork } from "./explain_network.ts";
import type { Order, OrderOutcome } from "./order.ts";
import { type PageActor, untilLoaded } from "./page_actor.ts";
import {
  dataOf,
  fillField,
  giveFiles,
  probe,
  selectContent,
  selectOptions,
  submitForm,
  textOf,
} from "./page_scripts.ts";
import { refusalOf } from "./page_watch.ts";
import type { Handle, PageFrame } from "./puppeteer.ts";
import { takeScreenshot } from "./screenshots.ts";

const CLICKABLE = { visible: true, enabled: true, reachable: true } as const;
const EDITABLE = { visible: true, enabled: true } as const;
const VISIBLE = { visible: true } as const;

/** Carries out one action; what it reads goes into the outcome. */
export async function carryOut(
  order: Order,
  actor: PageActor,
  outcome: OrderOutcome,
  context: ActionContext,
): Promise<void> {
  const { name, id, selector = "", value = "" } = order;
  const read = (result: Value) => void (outcome.results[id] = result);
  const find = actor.element;
  switch (name) {
    case "navigate":
      return await navigate(order.url ?? "", actor, outcome, context);
    case "click":
    case "double_click":
    case "right_click": {
      const { middle } = await find(selector, CLICKABLE);
      const button = name === "right_click" ? "right" : "left";
      const count = name === "double_click" ? 2 : 1;
      return await actor.act(() => actor.page.mouse.click(...middle, { button, count }));
    }
    case "hover": {
      const { middle } = await find(selector, { visible: true, reachable: true });
      return await actor.act(() => actor.page.mouse.move(...middle));
    }
    case "focus": {
      const { handle } = await find(selector, EDITABLE);
      return await actor.act(() => handle.focus());
    }
    case "scroll":
      // Looking whether the mouse reaches it scrolls it into view.
      return void await find(selector, { visible: true, reachable: true });
    case "fill": {
      const { handle, type } = await find(selector, EDITABLE);
      keepSecret(type, selector, value, context);
      return await actor.act(() => callOn(handle, selector, fillField, value));
    }
    case "send_keys":
    case "type": {
      const { handle, type } = await find(selector, EDITABLE);
      keepSecret(type, selector, value, context);
      await actor.wait(handle.focus(), "the page did not answer");
      await actor.wait(handle.evaluate(selectContent), "the page did not answer");
      return await actor.act(() =>
        value === "" ? actor.page.keyboard.press("Backspace") : actor.page.keyboard.type(value)
      );
    }
    case "press": {
      if (selector !== "") await (await find(selector, EDITABLE)).handle.focus();
      for (const keys of order.values) await actor.act(() => press(keys, actor));
      return;
    }
    case "select": {
      const { handle } = await find(selector, EDITABLE);
      return await actor.act(() => callOn(handle, selector, selectOptions, order.values));
    }
    case "upload": {
      const files = await Promise.all(order.paths.map((path) => readUpload(path, context)));
      // Pages hide file fields behind buttons of their own.
      const { handle } = await find(selector, { enabled: true });
      return await actor.act(() => callOn(handle, selector, giveFiles, files));
    }
    case "submit": {
      const { handle } = await find(selector, {});
      return await actor.act(() => callOn(handle, selector, submitForm));
    }
    case "close_tab":
      return await closeTab(actor);
    case "wait_visible":
    case "expect_visible":
      return void await find(selector, VISIBLE);
    case "wait_not_visible":
      return await actor.until(async () => {
        const handle = await actor.find(selector);
        const isVisible = typeof handle !== "string" &&
          (await handle.evaluate(probe, false)).hidden === undefined;
        return isVisible ? `the element ${JSON.stringify(selector)} is still visible` : undefined;
      });
    case "wait_enabled":
      return void await find(selector, { enabled: true });
    case "wait_ready":
      return selector === "" ? await untilLoaded(actor) : void await find(selector, {});
    case "wait_text":
    case "expect_text":
      return read(await textLike(order, actor));
    case "expect_url":
      return await actor.until(() =>
        Promise.resolve(mismatch("the URL", actor.page.url(), order, actor))
      );
    case "expect_title":
      return await actor.until(async () =>
        mismatch("the title", await actor.page.title(), order, actor)
      );
    case "text":
      return read(await (await find(selector, VISIBLE)).handle.evaluate(textOf));
    case "value":
      return read(
        await (await find(selector, {})).handle.evaluate((one: { value?: unknown }) =>
          String(one.value ?? "")
        ),
      );
    case "get_html":
      return read(
        await (await find(selector, {})).handle.evaluate((one: { outerHTML: string }) =>
          one.outerHTML
        ),
      );
    case "get_attribute":
      return read(await attributesOf((await find(selector, {})).handle, order.attributes));
    case "evaluate":
      return read(await evaluate(order.script ?? "", actor));
    case "screenshot":
    case "capture_screenshot":
    case "full_screenshot":
      return await takeScreenshot(order, actor, outcome, context);
    default:
      return assertNever(name);
  }
}

async function closeTab({ wait, closeTab }: PageActor): Promise<void> {
  if (await wait(closeTab(), "the tab did not close")) return;
  throw new StepError("there is no other tab to go back to");
}

async function navigate(
  text: string,
  { page, wait }: PageActor,
  outcome: OrderOutcome,
  { permissions, tls }: ActionContext,
): Promise<void> {
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
    const response = await wait(
      page.goto(url.href, { timeout: 0, waitUntil: "load" }),
      "the page did not load",
    );
    outcome.httpCode = response?.status() ?? null;
  } catch (error) {
    throw explainNetwork(error, url, tls?.insecure === true) ?? error;
  }
}

/** A text that is typed into a field for passwords is one. */
function keepSecret(
  type: string | undefined,
  selector: string,
  value: string,
  { secrets }: ActionContext,
): void {
  const names = selector.match(/[\w-]+/g) ?? [];
  if (value !== "" && (type === "password" || names.some(isSecretField))) secrets.add(value);
}

/** Calls a function on an element. It returns a description of the problem, or an empty text. */
async function callOn<A extends unknown[]>(
  handle: Handle,
  selector: string,
  // deno-lint-ignore no-explicit-any
  act: (element: any, ...args: A) => string,
  ...args: A
): Promise<void> {
  const problem = await handle.evaluate(act, ...args);
  if (problem !== "") throw new StepError(`the element ${JSON.stringify(selector)}: ${problem}`);
}

async function press(keys: string, { page: { keyboard } }: PageActor): Promise<void> {
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

async function readUpload(path: string, context: ActionContext) {
  const file = { what: "the file to upload", path, parameter: "actions" };
  const bytes = await readStepFile(file, context);
  return { name: path.split(/[/\\]/).at(-1)!, base64: bytes.toBase64() };
}

/** The text of an element once it is what the order says. */
async function textLike(order: Order, actor: PageActor): Promise<string> {
  const { selector = "" } = order;
  let text = "";
  await actor.until(async () => {
    const handle = await actor.find(selector);
    if (typeof handle === "string") return handle;
    text = await handle.evaluate(textOf);
    if (order.value !== undefined) {
      return mismatch(`the text of ${JSON.stringify(selector)}`, text, order, actor);
    }
    return text === "" ? `the element ${JSON.stringify(selector)} has no text` : undefined;
  });
  return text;
}

/** Describes how a text differs from the one that the order expects; undefined if it does not. */
function mismatch(
  what: string,
  text: string,
  { value = "", exact }: Order,
  actor: PageActor,
): string | undefined {
  const squeeze = (one: string) => one.replace(/\s+/g, " ").trim();
  const [is, wanted] = [squeeze(text), squeeze(value)];
  if (exact ? is === wanted : is.includes(wanted)) return undefined;
  return `${what} is ${JSON.stringify(actor.excerpt(is))}, ${exact ? "not" : "without"} ${
    JSON.stringify(wanted)
  }`;
}

async function attributesOf(handle: Handle, names: readonly string[]): Promise<Value> {
  const values = await handle.evaluate(
    (one: { getAttribute(name: string): string | null }, names: readonly string[]) =>
      names.map((name) => one.getAttribute(name)),
    names,
  );
  if (names.length === 1) return values[0] ?? null;
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
}

/** The value of an expression in the page. */
async function evaluate(script: string, { location, until, wait }: PageActor): Promise<Value> {
  let frame: PageFrame | undefined;
  await until(async () => {
    const found = await location();
    if (typeof found === "string") return found;
    frame = found.frame;
    return undefined;
  });
  try {
    const result = await wait(frame!.evaluateHandle(script), "the script did not end");
    // A script that leaves the page has its value all the same.
    const isObject = result.remoteObject().objectId !== undefined;
    return isObject ? await wait(result.evaluate(dataOf)) : dataOf(await result.jsonValue());
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
