import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { findProgram, programRefusal } from "../../action/permissions/program_rule.ts";

/** Programs to look for in the directories of PATH; the first needs no screen and starts fastest. */
const HEADLESS_SHELL = "chromium-headless-shell";
const NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
];

/** Where installers put it outside of PATH. */
const PLACES: Readonly<Partial<Record<typeof Deno.build.os, readonly string[]>>> = {
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
  ],
  windows: [
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
  ],
};

const INSTALL =
  'install Chromium or Google Chrome (Debian and Ubuntu: "apt-get install chromium-headless-shell", or chromium), or give its path in "executable" or in the environment variable CHROME';

/** The path of a browser that the run may start; `executable` is the parameter of the step. */
export async function findBrowser(
  executable: string | undefined,
  headless: boolean,
  { host, permissions }: ActionContext,
): Promise<string> {
  const surroundings = { path: host.env.get("PATH"), directory: host.files.workingDirectory() };
  const named = executable ?? (host.env.get("CHROME") || undefined);
  const names = named === undefined
    ? [...headless ? [HEADLESS_SHELL] : [], ...NAMES, ...PLACES[Deno.build.os] ?? []]
    : [named];
  for (const name of names) {
    const path = await findProgram(name, surroundings, host);
    if (path === undefined) continue;
    const refusal = permissions && programRefusal(permissions, path, name);
    if (!refusal) return path;
    throw new StepError(`cannot run browser: ${refusal.message}`, refusal.hint);
  }
  if (named === undefined) throw new StepError("cannot run browser: no browser found", INSTALL);
  const whence = executable === undefined ? "the environment variable CHROME" : '"executable"';
  throw new StepError(
    `cannot run browser: the program "${named}" of ${whence} does not exist (ENOENT)`,
    INSTALL,
    executable === undefined ? {} : { parameter: "executable" },
  );
}
