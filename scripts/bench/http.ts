import { type Figure, median, type Workbench } from "./bench.ts";
import { HTTP_ENDS, startHttpServer } from "./http_server.ts";
import { costOf, type RoundCost } from "./rounds.ts";

/** Servers and clients share a machine, so that one pair says little. */
const PAIRS = 5;
const COUNT = 10_000;

/** Rounds of one request with a test, against what a bare loop over node:http takes for them. */
export async function* benchHttp(workbench: Workbench): AsyncGenerator<Figure> {
  await using server = await startHttpServer();
  const { url } = server;
  const bare = async (method: string, mode: string): Promise<RoundCost> =>
    JSON.parse(
      (await workbench.deno("run", "-A", HTTP_ENDS, url, method, mode, `${COUNT}`)).stdout,
    );
  const loads = [
    { method: "GET", mode: "async", goal: { max: 0.75 } },
    { method: "GET", mode: "sequential", goal: undefined },
    { method: "POST", mode: "sequential", goal: undefined },
  ] as const;
  for (const { method, mode, goal } of loads) {
    const ratios: number[] = [];
    const costs: number[] = [];
    const memory: number[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      // A machine that becomes slower or faster meanwhile does so in favour of each in turn.
      const before = pair % 2 === 0 ? await bare(method, mode) : undefined;
      const ours = await costOf(workbench, `${method} ${url}`, mode, COUNT);
      const theirs = before ?? await bare(method, mode);
      ratios.push(ours.microseconds / theirs.microseconds);
      costs.push(ours.microseconds);
      memory.push(ours.megabytes);
    }
    yield {
      what: `10,000 ${mode} rounds of ${method}, CPU against node:http`,
      value: median(ratios),
      unit: "times",
      note: `${median(costs).toFixed(0)} µs each`,
      ...goal && { goal },
    };
    if (mode !== "async") continue;
    yield { what: "their memory", value: median(memory), unit: "MB", goal: { max: 300 } };
  }
}
