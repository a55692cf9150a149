import type { IncomingMessage, ServerResponse } from "node:http";
import { addressOf, codeOf, type Endpoint } from "../../action/net/endpoint.ts";
import { LIMITS, listenProblem, openServer } from "../../actions/listen/open_server.ts";
import { RunnerError, UsageError } from "../../base/errors.ts";
import { readHistory } from "../../report/files/history.ts";
import { makeMonitorPage } from "../../report/files/html/monitor_page.ts";
import { makeHtmlReport } from "../../report/files/html/render_html.ts";
import { renderPrometheus } from "../../report/files/prometheus.ts";
import { Monitor } from "../../report/monitor.ts";
import { Recorder } from "../../report/recorder.ts";
import type { State } from "../../suite/state.ts";
import type { Invocation, Program } from "../command.ts";
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

/** What a path is answered with, in pieces. */
interface Answer {
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Iterable<string>;
}

/**
 * Serves what is known of a program that runs again and again, from the options of its command line.
 * `latest` are the milliseconds from the start of a run after which the next one is too late. Throws
 * RunnerError.
 */
export async function openMonitorServer(
  options: Invocation["values"],
  interval: number,
  latest: number,
  { host, secrets }: Program,
) {
  const { clock, files, stderr } = host;
  const endpoint = readAddress(options.get("serve")!);
  const history = options.get("history")?.replace(/(?<=.)\/+$/, "");
  const { earlier } = history === undefined ? { earlier: [] } : await readHistory(history, files);
  const monitor = new Monitor(earlier.map(({ run }) => run));
  const [page, renderReport] = await Promise.all([makeMonitorPage(), makeHtmlReport()]);
  // Imported by name, they would be loaded at every start of the one file.
  const [{ Readable }, { pipeline }] = await Promise.all([
    import("node:stream"),
    import("node:stream/promises"),
  ]);
  let began = clock.ticks();

  function answer({ method, url = "" }: IncomingMessage): Answer {
    if (method !== "GET" && method !== "HEAD") {
      return { code: 405, headers: { Allow: "GET, HEAD" }, body: ["use GET or HEAD\n"] };
    }
    const { last, failed } = monitor;
    switch (url) {
      case "/":
        return {
          headers: htmlHeaders(page.policy),
          body: page.render(monitor, clock.now(), interval),
        };
      case "/metrics": {
        const headers = { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" };
        const body = renderPrometheus(
          last?.records ?? [],
          last?.suite,
          (add) => monitor.addMetrics(add),
        );
        return { headers, body };
      }
      case "/health":
        return clock.ticks() - began > latest
          ? { code: 503, body: ["the next run is late\n"] }
          : { body: ["ok\n"] };
      case "/report":
      case "/report?last=failed": {
        const run = url === "/report" ? last : failed;
        if (!run) return { code: 404, body: ["there is no such run\n"] };
        return { headers: htmlHeaders(), body: renderReport(run.records, run.suite) };
      }
    }
    return { code: 404, body: ["not found\n"] };
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A body is not kept.
    request.resume();
    const cancel = clock.after(LONGEST_RESPONSE, () => response.destroy());
    try {
      const { code = 200, headers, body } = answer(request);
      response.writeHead(code, { ...HEADERS, ...headers });
      if (request.method === "HEAD") response.end();
      else await pipeline(Readable.from(chunksOf(body)), response);
    } catch (error) {
      // A page that cannot be made ends no monitor, and a client may go away.
      if (codeOf(error) !== "ERR_STREAM_PREMATURE_CLOSE") {
        stderr.write(explainError(error, host, secrets));
      }
      response.destroy();
    } finally {
      cancel();
    }
  }

  const { url, close } = await openServer(endpoint, (...of) => void take(...of), BOUNDS)
    .catch((error) => {
      const { reason, hint = "name another port, or 0 for a free one" } = listenProblem(error);
      throw new RunnerError(`cannot serve at ${addressOf(endpoint)}: ${reason}`, hint);
    });
  stderr.write(`serving ${url}/\n`);
  return {
    close,
    /** Begins a run: the result takes its events. */
    begin(): Recorder {
      began = clock.ticks();
      return new Recorder({ keeps: "everything", tool: { name: "runner", version: VERSION } });
    },
    /** Adds a run that is over. */
    end(recorder: Recorder, isPassed: boolean, state: State): void {
      const records = recorder.records();
      // Nothing ran, for example as a report cannot be written.
      if (records.length === 0) return;
      monitor.add(records, recorder.suite(), isPassed, (file) => state.of(file).previous);
    },
  };
}

/** The report has a policy of its own, for its script. */
function htmlHeaders(policy = ""): Readonly<Record<string, string>> {
  return {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `${policy && `${policy}; `}frame-ancestors 'none'`,
  };
}

function* chunksOf(pieces: Iterable<string>): Iterable<string> {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK) continue;
    yield text;
    text = "";
  }
  yield text;
}

/** `8080`, `:8080`, `localhost:8080` or `[::1]:8080`. */
const ADDRESS = /^(?:(?:\[([\da-f:.]+)\]|([^\s:/@[\]]+))?:)?(\d{1,5})$/i;

function readAddress(text: string): Endpoint {
  const [, address, name, port] = ADDRESS.exec(text) ?? [];
  if (port !== undefined && Number(port) <= 65_535) {
    return { host: address ?? name ?? "127.0.0.1", port: Number(port) };
  }
  throw new UsageError(
    `option --serve needs a port, such as 8080 or 0.0.0.0:8080, not "${text}"`,
  );
}
