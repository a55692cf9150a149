import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";
import type { HostRule } from "../../action/permissions/permissions.ts";
import { onAbort } from "../../action/on_abort.ts";
import { loadWs } from "../../action/net/load_ws.ts";
import { type ProcessGroup, startGroup } from "../../action/process/process_group.ts";
import { runResources } from "../../action/run_resources.ts";
import { type Browser, loadPuppeteer, type Page, type Transport } from "./puppeteer.ts";
import { trustAuthorities } from "./trust_authorities.ts";

/** The options for starting a browser. */
export interface BrowserOptions {
  readonly program: string;
  readonly headless: boolean;
  readonly sandbox: boolean;
  readonly width: number;
  readonly height: number;
  /** How certificates are verified. */
  readonly tls: TlsOptions;
}

/** A browser with one page. */
export interface OpenBrowser {
  readonly browser: Browser;
  readonly page: Page;
  /** Whether it has ended unexpectedly. */
  readonly isLost: () => boolean;
  /** Ends it with all its processes, and removes its profile. */
  readonly close: () => Promise<void>;
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

/** The maximum size of one message of a browser. */
const LARGEST_MESSAGE = 512 * 1024 * 1024;

/** The state of a socket that is open. */
const OPEN = 1;

/** The path of a socket in a directory of the browser must fit into 108 bytes. */
const MAX_PATH_LENGTH = 62;

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

/** Starts a browser with a profile of its own. The end of the attempt ends the start. */
export async function openBrowser(
  options: BrowserOptions,
  context: ActionContext,
): Promise<OpenBrowser> {
  const resources = runResources(context);
  const profile = await resources.newFile(".profile");
  await Deno.mkdir(profile);
  const parent = profile.slice(0, profile.lastIndexOf("/"));
  const { program, headless, sandbox, width, height } = options;
  const group = startBrowser(
    program,
    {
      args: [
        ...FLAGS,
        ...headless ? ["--headless"] : [],
        ...sandbox ? [] : ["--no-sandbox"],
        ...netFlags(context.permissions?.net),
        `--window-size=${width},${height}`,
        `--user-data-dir=${profile}`,
        "about:blank",
      ],
      // Its files are removed with its profile or the run. In the directory for temporary files
      // it makes a socket, whose path must not be too long.
      env: {
        XDG_CONFIG_HOME: profile,
        XDG_CACHE_HOME: profile,
        ...parent.length > MAX_PATH_LENGTH ? {} : { TMPDIR: parent },
      },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    },
    context.host.clock,
  );
  resources.watch(group.pid);
  let isLost = false;
  const close = async () => {
    // Nothing of its profile is kept, so there is nothing to shut down in order.
    await group.end("by force");
    resources.release(group.pid);
    await group.child.stderr.cancel().catch(() => {});
    await Deno.remove(profile, { recursive: true }).catch(() => {});
  };
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const forget = onAbort(context.signal, stopped.reject);
  try {
    const address = await Promise.race([addressOf(group, options), stopped.promise]);
    const browser = await Promise.race([connect(address, options), stopped.promise]);
    browser.on("disconnected", () => isLost = true);
    const { tls } = options;
    if (tls.ca && tls.rejectUnauthorized) {
      await trustAuthorities(browser, tls, context.host.clock);
    }
    const [page = await browser.newPage()] = await browser.pages();
    return { browser, page, isLost: () => isLost, close };
  } catch (error) {
    await close();
    if (!(error instanceof StepError)) throw error;
    if (error !== context.signal.reason) throw error;
    throw new StepError(`${error.message} while starting ${program}`, error.hint);
  } finally {
    forget();
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
async function addressOf(
  { child, status }: ProcessGroup,
  { program, sandbox, headless }: BrowserOptions,
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

async function connect(address: string, { tls }: BrowserOptions): Promise<Browser> {
  const { connect } = await loadPuppeteer();
  return await connect({
    transport: await openTransport(address),
    defaultViewport: null,
    acceptInsecureCerts: !tls.rejectUnauthorized,
    protocolTimeout: 0,
  });
}

async function openTransport(address: string): Promise<Transport> {
  const [WebSocket, { connect }] = await Promise.all([loadWs(), import("node:net")]);
  const { hostname: host, port } = new URL(address);
  const socket = new WebSocket(address, [], {
    createConnection: () => connect({ host, port: Number(port) }),
    headers: {},
    maxPayload: LARGEST_MESSAGE,
    // The library acts on a message a microtask later, and would miss what comes with it.
    allowSynchronousEvents: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.on("open", () => resolve());
    socket.on("error", (error: Error) => {
      reject(new StepError(`cannot connect to the browser at ${address}: ${error.message}`));
    });
  });
  const transport: Transport = {
    send: (message) => {
      if (socket.readyState === OPEN) socket.send(message);
    },
    close: () => socket.terminate(),
  };
  const decoder = new TextDecoder();
  socket.on("message", (data: Uint8Array) => transport.onmessage?.(decoder.decode(data)));
  socket.on("close", () => transport.onclose?.());
  return transport;
}
