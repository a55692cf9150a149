import type { Dict } from "../../action/action.ts";
import { ActionAttempt } from "../../action/attempt.ts";
import type { Server } from "../../action/target.ts";
import { allow } from "../../action/target.ts";
import { StepError } from "../../base/errors.ts";

/** What shows that a command in the background is ready; exactly one of these. */
export interface Ready {
  /** It answers a request to this URL with a code from 200 to 299. */
  readonly http?: URL;
  /** It accepts connections at this port of this machine. */
  readonly tcp?: number;
  /** It has printed this text. */
  readonly log?: string;
}

/** The time from one try to the next. */
const INTERVAL = 100;

/**
 * Waits until a command is ready, for at most that many milliseconds. `printed` resolves when it has
 * printed the text, and `died` rejects if it ends before. Throws a `StepError` that says why the
 * last try failed.
 */
export async function awaitReady(
  ready: Ready,
  timeout: number,
  { printed, died }: { readonly printed: Promise<void>; readonly died: Promise<never> },
  { context }: ActionAttempt,
): Promise<void> {
  const server = serverOf(ready);
  const wait = new ActionAttempt(context, server ?? { program: "shell" }, [], timeout);
  let problem: string | undefined;
  let isOver = false;
  const poll = async () => {
    while (!isOver) {
      problem = await (ready.http ? askUrl(ready.http, wait) : tryConnecting(server!, wait));
      if (problem === undefined) return;
      await new Promise<void>((resolve) => context.deadline.after(INTERVAL, resolve));
    }
  };
  const waitForIt = async () => {
    // A permission that is missing will not come.
    if (server) await allow(server, "ready", context);
    try {
      const isReady = ready.log === undefined ? poll() : printed;
      await wait.during("waiting until the command is ready", isReady);
    } catch (error) {
      if (!(error instanceof StepError)) throw error;
      const hint = problem === undefined ? error.hint : `the last try: ${problem}`;
      throw new StepError(error.message, hint, error.details);
    }
  };
  try {
    await Promise.race([waitForIt(), died]);
  } finally {
    isOver = true;
    wait.end();
  }
}

function serverOf({ http, tcp }: Ready): Server | undefined {
  if (tcp !== undefined) return { host: "localhost", port: tcp };
  if (!http) return undefined;
  const host = http.hostname.replace(/^\[(.*)\]$/, "$1");
  return { host, port: Number(http.port) || (http.protocol === "https:" ? 443 : 80) };
}

/** Why a URL does not answer as it should; undefined if it does. */
async function askUrl(url: URL, { context }: ActionAttempt): Promise<string | undefined> {
  const { runHttp } = await import("../http/run_http.ts");
  const params: Dict = { get: url.href, cookies: false, openapi: false };
  return await problemOf(async () => {
    const { status, brief } = await runHttp(params, context);
    return status === 0 ? undefined : `${url.href} answered with ${brief}`;
  });
}

/** Why a port accepts no connection; undefined if it does. */
async function tryConnecting(
  server: Server,
  { context }: ActionAttempt,
): Promise<string | undefined> {
  const attempt = new ActionAttempt(context, server);
  return await problemOf(async () => {
    const socket = await attempt.socket();
    socket.destroy();
    return undefined;
  });
}

async function problemOf(probe: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await probe();
  } catch (error) {
    if (error instanceof StepError) return error.message;
    throw error;
  }
}
