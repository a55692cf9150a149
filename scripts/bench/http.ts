import { type Figure, median, type Workbench } from "./bench.ts";
import { HTTP_ENDS, startHttpServer } from "./http_server.ts";
import { costOf, type RoundCost } from "./rounds.ts";

/** Servers and clients share a machine, so that one pair says little. */
const PAIRS = 3;
const COUNT = 10_000;

/** Rounds of one request with a test, against what a bare loop over node:http takes for them. */
export async function* benchHttp(workbench: Workbench): AsyncGenerator<Figure> {
  await using plain = await startHttpServer();
  await using secure = await startHttpServer(0, "https");
  const loads = [
    { url: plain.url, method: "GET", mode: "async", goal: { max: 0.75 } },
    { url: plain.url, method: "GET", mode: "sequential", goal: undefined },
    { url: plain.url, method: "POST", mode: "sequential", goal: undefined },
    { url: secure.url, method: "GET", mode: "sequential", goal: undefined },
    { url: secure.url, method: "POST", mode: "sequential", goal: undefined },
  ] as const;
  for (const { url, method, mode, goal } of loads) {
    const scheme = url.slice(0, url.indexOf(":"));
    const bare = async (): Promise<RoundCost> =>
      JSON.parse(
        (await workbench.deno("run", "-A", HTTP_ENDS, url, method, mode, `${COUNT}`)).stdout,
      );
    const ratios: number[] = [];
    const costs: number[] = [];
    const memory: number[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      // A machine that becomes slower or faster meanwhile does so in favour of each in turn.
      const before = pair % 2 === 0 ? await bare() : undefined;
      const ours = await costOf(workbench, `${method} ${url}`, mode, COUNT);
      const theirs = before ?? await bare();
      ratios.push(ours.microseconds / theirs.microseconds);
      costs.push(ours.microseconds);
      memory.push(ours.megabytes);
    }
    yield {
      what: `10,000 ${mode} rounds of ${method} by ${scheme}, CPU against node`,
      value: median(ratios),
      unit: "times",
      note: `${median(costs).toFixed(0)} µs each`,
      ...goal && { goal },
    };
    if (mode !== "async") continue;
    yield { what: "their memory", value: median(memory), unit: "MB", goal: { max: 300 } };
  }
}
