/**
 * A headless Chromium from Debian, driven over its DevTools protocol.
 *
 * @module
 */

import { until } from "../run/processes.ts";

export interface Page {
  /** Opens a URL and waits until it is loaded. */
  open(url: string): Promise<void>;
  /** The value of an expression, which must be JSON; promises are awaited. */
  evaluate(expression: string): Promise<unknown>;
  /** Reads a script from a file into the page and runs it. */
  addScript(path: string): Promise<void>;
  /** Presses a key as a person does: `a`, `/`, `Tab`, `Shift+Tab`, `ArrowDown`, `Enter`. */
  press(key: string): Promise<void>;
  /** Sends a command of the DevTools protocol, and returns its response. */
  send(method: string, params?: Message): Promise<Message>;
  /** The URLs of everything that the page has asked for, itself included. */
  readonly requests: readonly string[];
  /** The errors of the page so far: uncaught errors, errors of the console, failed loads. */
  readonly errors: readonly string[];
}

/** Opens an empty page in a browser of its own, and closes both in the end. */
export async function withPage<T>(use: (page: Page) => Promise<T>): Promise<T> {
  const profile = await Deno.makeTempDir({ prefix: "runner_test_chromium_" });
  const browser = new Deno.Command("chromium", {
    args: [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
      ...["--no-first-run", "--disable-extensions", "--disable-background-networking"],
      ...["--remote-debugging-port=0", `--user-data-dir=${profile}`, "about:blank"],
    ],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  try {
    const connection = await connect(await addressIn(browser.stderr));
    try {
      return await use(await attach(connection));
    } finally {
      await connection.send("Browser.close");
      connection.close();
    }
  } finally {
    try {
      browser.kill("SIGKILL");
    } catch {
      // It has exited already.
    }
    await browser.status;
    // Its child processes outlive it for a moment and write there.
    await until(() => isRemoved(profile), `${profile} can be removed`);
  }
}

async function isRemoved(directory: string): Promise<boolean> {
  try {
    await Deno.remove(directory, { recursive: true });
    return true;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

/** The address that the browser reports for listening; its other output is dropped. */
async function addressIn(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stderr.getReader();
  const decoder = new TextDecoder();
  let said = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`Chromium does not start:\n${said}`);
    said += decoder.decode(value, { stream: true });
    const address = /DevTools listening on (ws:\S+)\n/.exec(said)?.[1];
    if (address === undefined) continue;
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return address;
  }
}

type Message = Readonly<Record<string, unknown>>;

interface Connection {
  send(method: string, params?: Message, session?: string): Promise<Message>;
  /** Calls `hear` with each event. */
  listen(hear: (method: string, params: Message) => void): void;
  close(): void;
}

async function connect(address: string): Promise<Connection> {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const closed = new Promise<void>((resolve) => socket.onclose = () => resolve());
  const waiting = new Map<number, PromiseWithResolvers<Message>>();
  const listeners: ((method: string, params: Message) => void)[] = [];
  socket.onmessage = ({ data }) => {
    const { id, result, error, method, params } = JSON.parse(data);
    if (id === undefined) {
      for (const hear of listeners) hear(method, params);
      return;
    }
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error) answer?.reject(new Error(error.message));
    else answer?.resolve(result);
  };
  void closed.then(() => {
    for (const answer of waiting.values()) answer.reject(new Error("Chromium has gone"));
  });
  let last = 0;
  return {
    send(method, params = {}, sessionId) {
      const id = ++last;
      const answer = Promise.withResolvers<Message>();
      waiting.set(id, answer);
      socket.send(JSON.stringify({ id, method, params, ...(sessionId ? { sessionId } : {}) }));
      return answer.promise;
    },
    listen: (hear) => void listeners.push(hear),
    close: () => socket.close(),
  };
}

async function attach(connection: Connection): Promise<Page> {
  const { targetId } = await connection.send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await connection.send("Target.attachToTarget", { targetId, flatten: true });
  const send = (method: string, params?: Message) =>
    connection.send(method, params, String(sessionId));
  const errors: string[] = [];
  const requests: string[] = [];
  const loads: (() => void)[] = [];
  connection.listen((method, params) => {
    if (method === "Page.loadEventFired") { for (const go of loads.splice(0)) go(); }
    if (method === "Network.requestWillBeSent") {
      requests.push((params.request as { readonly url: string }).url);
    }
    const problem = problemOf(method, params);
    if (problem !== undefined) errors.push(problem);
  });
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);

  async function evaluate(expression: string): Promise<unknown> {
    const answer = await send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    const { result, exceptionDetails } = answer as {
      readonly result: { readonly value?: unknown };
      readonly exceptionDetails?: unknown;
    };
    if (exceptionDetails) throw new Error(`in the page: ${describe(exceptionDetails)}`);
    return result.value;
  }

  return {
    errors,
    requests,
    evaluate,
    send,
    async open(url) {
      const loaded = new Promise<void>((resolve) => loads.push(resolve));
      const { errorText } = await send("Page.navigate", { url });
      if (errorText !== undefined) throw new Error(`cannot open ${url}: ${errorText}`);
      await loaded;
    },
    async addScript(path) {
      await evaluate(await Deno.readTextFile(path) + "\n;undefined");
    },
    async press(key) {
      const name = key.replace("Shift+", "");
      const about = {
        key: name,
        code: name.length === 1 ? "" : name,
        modifiers: name === key ? 0 : 8,
        windowsVirtualKeyCode: KEY_CODES[name] ?? name.toUpperCase().charCodeAt(0),
      };
      const text = name === "Enter" ? "\r" : name.length === 1 ? name : undefined;
      await send("Input.dispatchKeyEvent", {
        ...about,
        type: text === undefined ? "rawKeyDown" : "keyDown",
        ...text === undefined ? {} : { text },
      });
      await send("Input.dispatchKeyEvent", { ...about, type: "keyUp" });
    },
  };
}

/** Key codes by key name; a letter key has the code of its letter. */
const KEY_CODES: Readonly<Record<string, number>> = {
  Tab: 9,
  Enter: 13,
  Escape: 27,
  PageUp: 33,
  PageDown: 34,
  End: 35,
  Home: 36,
  ArrowLeft: 37,
  ArrowUp: 38,
  ArrowRight: 39,
  ArrowDown: 40,
  "/": 191,
};

/** The problem that an event reports. */
function problemOf(method: string, params: Message): string | undefined {
  switch (method) {
    case "Runtime.exceptionThrown":
      return describe(params.exceptionDetails);
    case "Runtime.consoleAPICalled":
      return params.type === "error" ? `console: ${JSON.stringify(params.args)}` : undefined;
    case "Log.entryAdded": {
      const { level, text } = params.entry as { readonly level: string; readonly text: string };
      return level === "error" ? text : undefined;
    }
    case "Network.loadingFailed":
      return `a load failed: ${params.errorText}`;
    default:
      return undefined;
  }
}

function describe(details: unknown): string {
  const { text, exception } = details as {
    readonly text: string;
    readonly exception?: { readonly description?: string };
  };
  return exception?.description ?? text;
}
