import type { IncomingMessage, ServerResponse } from "node:http";
import { addressOf, type Endpoint } from "../../action/net/endpoint.ts";
import { LIMITS, listenProblem, openServer } from "../../actions/listen/open_server.ts";
import { RunnerError, UsageError } from "../../base/errors.ts";
import { readHistory } from "../../report/files/history.ts";
import { makeMonitorPage } from "../../report/files/html/monitor_page.ts";
import { makeHtmlReport } from "../../report/files/html/render_html.ts";
import { Monitor } from "../../report/monitor.ts";
import { Recorder } from "../../report/recorder.ts";
import type { State } from "../../suite/state.ts";
import type { Program } from "../command.ts";
import { explainError } from "../messages.ts";
import { VERSION } from "../version.ts";

/** A person with a browser and a few programs read it. */
const BOUNDS = { ...LIMITS, connections: 64, idle: 30_000 };

/** Milliseconds in which a client has to take a response, of which it may hold on to the data. */
const LONGEST_RESPONSE = 120_000;

/** Characters of a response that are sent at once. */
const CHUNK = 1 << 16;

/** Headers of every response. */
const HEADERS = {
  "Cache-Control": "no-store",
  Connection: "close",
  "Content-Type": "text/plain; charset=utf-8",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** What a path is answered with: text, or its pieces. */
interface Answer {
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Iterable<string>;
}

/** Milliseconds from the start of a run. */
interface MonitorTimes {
  /** Until the next one starts. */
  readonly interval: number;
  /** Until the next one is so late that the program is not well. */
  readonly latest: number;
}

/** Serves what is known of a program that runs again and again. */
export class MonitorServer {
  #began: number;
  close: () => Promise<void> = () => Promise.resolve();

  constructor(
    readonly program: Program,
    readonly monitor: Monitor,
    readonly times: MonitorTimes,
    readonly page: Awaited<ReturnType<typeof makeMonitorPage>>,
    readonly renderReport: Awaited<ReturnType<typeof makeHtmlReport>>,
  ) {
    this.#began = program.host.clock.ticks();
  }

  /** Opens it at an address of the command line, with the runs of a history. Throws RunnerError. */
  static async open(
    address: string,
    times: MonitorTimes,
    history: string | undefined,
    program: Program,
  ): Promise<MonitorServer> {
    const { files, stderr } = program.host;
    const endpoint = readAddress(address);
    const { earlier } = history === undefined
      ? { earlier: [] }
      : await readHistory(history.replace(/(?<=.)\/+$/, ""), files);
    const monitor = new Monitor(earlier.map(({ run }) => run));
    const [page, renderReport] = await Promise.all([makeMonitorPage(), makeHtmlReport()]);
    const server = new MonitorServer(program, monitor, times, page, renderReport);
    const { url, close } = await openServer(
      endpoint,
      (request, response) => void server.#take(request, response),
      BOUNDS,
    ).catch((error) => {
      const { reason, hint = "name another port, or 0 for a free one" } = listenProblem(error);
      throw new RunnerError(`cannot serve at ${addressOf(endpoint)}: ${reason}`, hint);
    });
    server.close = close;
    stderr.write(`serving ${url}/\n`);
    return server;
  }

  /** Begins a run: the result takes its events. */
  begin(): Recorder {
    this.#began = this.program.host.clock.ticks();
    return new Recorder({ keeps: "everything", tool: { name: "runner", version: VERSION } });
  }

  /** Adds a run that is over. */
  end(recorder: Recorder, isPassed: boolean, state: State): void {
    const records = recorder.records();
    // Nothing ran, for example as a report cannot be written.
    if (records.length === 0) return;
    this.monitor.add(records, recorder.suite(), isPassed, (file) => state.of(file).previous);
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, secrets } = this.program;
    // A body is not kept.
    request.resume();
    const cancel = host.clock.after(LONGEST_RESPONSE, () => response.destroy());
    response.once("close", cancel);
    try {
      const { code = 200, headers, body } = this.#answer(request);
      response.writeHead(code, { ...HEADERS, ...headers });
      if (request.method === "HEAD") response.end();
      else await send(response, typeof body === "string" ? [body] : body);
    } catch (error) {
      // A page that cannot be made ends no monitor.
      host.stderr.write(explainError(error, host, secrets));
      response.destroy();
    }
  }

  #answer({ method, url = "" }: IncomingMessage): Answer {
    if (method !== "GET" && method !== "HEAD") {
      return { code: 405, headers: { Allow: "GET, HEAD" }, body: "use GET or HEAD\n" };
    }
    const { clock } = this.program.host;
    const { interval, latest } = this.times;
    const [path, query = ""] = url.split("?", 2);
    switch (path) {
      case "/": {
        const body = this.page.render(this.monitor, clock.now(), interval);
        return { headers: htmlHeaders(this.page.policy), body };
      }
      case "/metrics": {
        const headers = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" };
        return { headers, body: this.monitor.metrics() };
      }
      case "/health":
        return clock.ticks() - this.#began > latest
          ? { code: 503, body: "the next run is late\n" }
          : { body: "ok\n" };
      case "/report": {
        const { last, failed } = this.monitor;
        const run = query === "" ? last : query === "last=failed" ? failed : undefined;
        if (!run) return { code: 404, body: "there is no such run\n" };
        return { headers: htmlHeaders(), body: this.renderReport(run.records, run.suite) };
      }
    }
    return { code: 404, body: "not found\n" };
  }
}

/** The report has a policy of its own, for its script. */
function htmlHeaders(policy?: string): Readonly<Record<string, string>> {
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `${policy === undefined ? "" : `${policy}; `}frame-ancestors 'none'`,
  };
}

/** Sends pieces as a client takes them. */
async function send(response: ServerResponse, pieces: Iterable<string>): Promise<void> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK) continue;
    if (!response.write(text)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      response.once("drain", resolve);
      response.once("close", resolve);
      await promise;
      response.off("drain", resolve);
      response.off("close", resolve);
    }
    if (response.destroyed) return;
    text = "";
  }
  response.end(text);
}

/** `8080`, `:8080`, `localhost:8080` or `[::1]:8080`. */
const ADDRESS = /^(?:(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+))?:)?(\d{1,5})$/i;

function readAddress(text: string): Endpoint {
  const [, address, name, digits] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (digits !== undefined && port <= 65_535) {
    return { host: address ?? name ?? "127.0.0.1", port };
  }
  throw new UsageError(
    `option --serve needs a port, such as 8080 or 0.0.0.0:8080, not "${text}"`,
  );
}
