import { StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { formatDuration } from "../../base/value/duration.ts";
import type { Attempt } from "../../action/attempt.ts";
import { writeStepFile } from "../../action/step_file.ts";
import { carryOut } from "./carry_out.ts";
import { describeCommand } from "./commands.ts";
import { explainFailure } from "./explain_failure.ts";
import type { OpenBrowser } from "./open_browser.ts";
import { PageActor, unlessAborted } from "./page_actor.ts";
import { setCookies } from "./page_cookies.ts";
import type { BrowserParams } from "./parameters.ts";
import { type Device, loadPuppeteer } from "./puppeteer.ts";
import { responseOf, type Results } from "./results.ts";

/** Carries out the commands of a step in the page of a browser. One that fails is an error. */
export async function runCommands(browser: OpenBrowser, params: BrowserParams, attempt: Attempt) {
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
  const ask = <T>(activity: string, act: () => Promise<T>) =>
    within(params.timeout, activity, browser, attempt, act);
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
    brief: `${actions.length} action${actions.length === 1 ? "" : "s"}`,
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
  attempt: Attempt,
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
  attempt: Attempt,
  act: () => Promise<T>,
): Promise<T> {
  const { signal, release } = limit(milliseconds, browser, attempt);
  try {
    return await unlessAborted(act(), signal);
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
function limit(milliseconds: number, { lost }: OpenBrowser, { signal, context }: Attempt) {
  const late = new AbortController();
  const timer = context.deadline.after(milliseconds, () => {
    late.abort(new StepError(`timed out after ${formatDuration(milliseconds)}`));
  });
  return {
    signal: AbortSignal.any([signal, lost, late.signal]),
    release: () => timer.cancel(),
  };
}
