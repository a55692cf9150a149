import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { HostRule } from "../../action/permissions/permissions.ts";
import { type ProcessGroup, startGroup } from "../../action/process/process_group.ts";
import { runResources } from "../../action/run_resources.ts";
import { tlsOptions } from "../../action/tls/tls.ts";
import { PageWatch } from "./page_watch.ts";
import type { BrowserParams } from "./parameters.ts";
import { type Browser, loadPuppeteer, type Puppeteer } from "./puppeteer.ts";
import { openTabs, type Tabs } from "./tabs.ts";
import type { ActionContext } from "../../action/action.ts";
import { findProgram, programDenial } from "../../action/permissions/rules.ts";
import type { Clock } from "../../host/host.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";

/** A browser, its tabs and the watch over their pages. */
export interface OpenBrowser {
  readonly tabs: Tabs;
  readonly watch: PageWatch;
  /** Aborted when it has ended unexpectedly. */
  readonly lost: AbortSignal;
  /** Milliseconds that it took to start, for the step that started it; 0 for the next ones. */
  takeStartTime(): number;
  /** Ends it with all its processes, and removes its profile. */
  close(): Promise<void>;
}

const FLAGS = [
  "--no-first-run",
  "--no-default-browser-check",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-extensions",
  "--disable-sync",
  "--disable-breakpad",
  // A container has little of it.
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--disable-popup-blocking",
  "--disable-features=Translate,OptimizationHints,MediaRouter",
  "--metrics-recording-only",
  "--mute-audio",
  "--password-store=basic",
  "--use-mock-keychain",
  "--remote-debugging-port=0",
];

/** The path of a socket in a directory of the browser must fit into 108 bytes. */
const MAX_PATH_LENGTH = 62;

/** Starts a browser with a profile of its own. */
export async function openBrowser(
  params: BrowserParams,
  attempt: ActionAttempt,
): Promise<OpenBrowser> {
  const { context } = attempt;
  const { permissions, host: { clock } } = context;
  const began = clock.ticks();
  const { headless, window_w: width, window_h: height } = params;
  // Nothing is started where the library cannot be loaded.
  const { connect } = await loadPuppeteer();
  const program = await findBrowser(params.executable, headless, context);
  const tls = await tlsOptions(params.tls ?? {}, context);
  // Chromium refuses to start with its sandbox as root.
  const sandbox = params.sandbox ?? !(Deno.build.os === "linux" && isRoot());
  const resources = runResources(context);
  const profile = await resources.newFile(".profile");
  await Deno.mkdir(profile);
  const parent = profile.slice(0, profile.lastIndexOf("/"));
  const group = startBrowser(
    program,
    {
      args: [
        ...FLAGS,
        ...headless ? ["--headless"] : [],
        ...sandbox ? [] : ["--no-sandbox"],
        ...netFlags(permissions?.net),
        `--window-size=${width},${height}`,
        `--user-data-dir=${profile}`,
        "about:blank",
      ],
      // Its files are removed with its profile or the run. In the directory for temporary files
      // it makes a socket, whose path must not be too long.
      env: {
        XDG_CONFIG_HOME: profile,
        XDG_CACHE_HOME: profile,
        ...parent.length <= MAX_PATH_LENGTH && { TMPDIR: parent },
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    },
    clock,
  );
  resources.watch(group.pid);
  const end = async () => {
    // Nothing of its profile is kept, so there is nothing to shut down in order.
    await group.end("by force");
    resources.release(group.pid);
    await group.child.stderr.cancel().catch(() => {});
    await Deno.remove(profile, { recursive: true }).catch(() => {});
  };
  let ended: Promise<void> | undefined;
  const close = () => ended ??= end();
  attempt.undo(() => {
    const closed = close();
    resources.defer(() => closed);
  });
  const address = await commandAddress(group, program, sandbox, headless);
  const browser = await connectTo(address, connect, !tls.rejectUnauthorized);
  const lost = new AbortController();
  browser.on("disconnected", () => lost.abort(new StepError("the browser ended")));
  if (tls.ca && tls.rejectUnauthorized) await trustAuthorities(browser, tls, clock);
  const watch = new PageWatch(permissions);
  const tabs = await openTabs(browser, { viewport: { width, height } }, watch, permissions);
  let startTime = clock.ticks() - began;
  const takeStartTime = () => {
    const time = startTime;
    startTime = 0;
    return time;
  };
  return { tabs, watch, lost: lost.signal, takeStartTime, close };
}

function isRoot(): boolean {
  try {
    return Deno.uid() === 0;
  } catch {
    return false; // The permission for it is not granted.
  }
}

/** Starts a program. Throws StepError if it cannot be executed. */
function startBrowser(...args: Parameters<typeof startGroup>): ProcessGroup {
  try {
    return startGroup(...args);
  } catch (error) {
    if (!(error instanceof Error) || !/^Failed to spawn/.test(error.message)) throw error;
    const why = error.message.replace(/^Failed to spawn '.*?': /s, "");
    throw new StepError(
      `cannot run browser: cannot start "${args[0]}": ${why}`,
      '"executable" and the environment variable CHROME name the program of a browser',
    );
  }
}

/** What a browser may connect to; the ports of `*.example.com:8443` are checked elsewhere. */
function netFlags(net: readonly HostRule[] | undefined): string[] {
  if (!net) return [];
  // It maps the first that matches, here to itself.
  const allowed = net.map(({ host, below, port }) =>
    below || port === undefined
      ? `EXCLUDE ${below ? "*." : ""}${host.replace(/^\[|\]$/g, "")}`
      : `MAP ${host}:${port} ${host}:${port}`
  );
  return [
    `--host-resolver-rules=${[...allowed, "MAP * ~NOTFOUND"].join(", ")}`,
    // A proxy would look names up itself.
    "--no-proxy-server",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  ];
}

/** The address where a browser takes commands, which it prints; its other output is dropped. */
async function commandAddress(
  { child, status }: ProcessGroup,
  program: string,
  sandbox: boolean,
  headless: boolean,
): Promise<string> {
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    printed += value;
    const address = /DevTools listening on (ws:\S+)\s/.exec(printed)?.[1];
    if (address === undefined) continue;
    void (async () => {
      while (!(await reader.read()).done);
    })().catch(() => {});
    return address;
  }
  const { code, signal } = await status;
  const last = printed.trim().split("\n").slice(-5).join("\n");
  const hint = sandbox && /sandbox/i.test(printed)
    ? 'where its sandbox cannot be used, as in many containers, "sandbox: false" starts it without'
    : !headless && /display|ozone|wayland/i.test(printed)
    ? 'without a screen, leave "headless: false" out'
    : undefined;
  throw new StepError(
    `cannot run browser: ${program} ended with ${
      signal ?? `exit code ${code}`
    } before it took commands${last === "" ? "" : `:\n${last}`}`,
    hint,
  );
}

async function connectTo(
  address: string,
  connect: Puppeteer["connect"],
  acceptInsecureCerts: boolean,
): Promise<Browser> {
  try {
    return await connect({
      browserWSEndpoint: address,
      defaultViewport: null,
      acceptInsecureCerts,
      protocolTimeout: 0,
    });
  } catch (error) {
    // The library throws the event of its socket.
    const { message } = error as { readonly message?: string };
    throw new StepError(`cannot connect to the browser at ${address}: ${message}`);
  }
}

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
async function findBrowser(
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
    const refusal = permissions && programDenial(permissions, path, name);
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

/** The time that a server may take to present its certificate once more, in milliseconds. */
const LONGEST = 5000;

/**
 * Has a browser accept the certificates that authorities of `tls` signed. A browser takes no
 * authorities on its command line, and does not say which certificate it refuses, so this connects
 * to the server itself to verify it.
 */
async function trustAuthorities(
  browser: Browser,
  tls: TlsOptions,
  clock: Clock,
): Promise<void> {
  const devtools = await browser.target().createCDPSession();
  const verified = new Map<string, Promise<boolean>>();
  devtools.on("Security.certificateError", async ({ eventId, requestURL }) => {
    const { host } = new URL(requestURL);
    const isGood = verified.get(host) ?? verify(new URL(requestURL), tls, clock);
    verified.set(host, isGood);
    const action = await isGood ? "continue" : "cancel";
    await devtools.send("Security.handleCertificateError", { eventId, action }).catch(() => {});
  });
  await devtools.send("Security.enable");
  await devtools.send("Security.setOverrideCertificateErrors", { override: true });
}

/** Whether the certificate of a server is valid by these options. */
async function verify(
  { hostname, port }: URL,
  tls: TlsOptions,
  clock: Clock,
): Promise<boolean> {
  const [{ connect }, { isIP }] = await Promise.all([import("node:tls"), import("node:net")]);
  const host = hostname.replace(/^\[|\]$/g, "");
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const options = { ...tls, host, port: Number(port) || 443, servername: isIP(host) ? "" : host };
  const socket = connect(options, () => resolve(true));
  socket.on("error", () => resolve(false));
  socket.on("close", () => resolve(false));
  const cancel = clock.after(LONGEST, () => resolve(false));
  return await promise.finally(() => {
    cancel();
    socket.destroy();
  });
}
