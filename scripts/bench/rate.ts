import { fromFileUrl } from "@std/path/from-file-url";
import type { LoadEnded, LoadStats, RunEvent } from "../../src/run/event.ts";
import { CHECKOUT, type Figure, median, type Workbench } from "./bench.ts";
import { startFastServer } from "./load_servers.ts";

const LOOP = fromFileUrl(new URL("./rate_loop.ts", import.meta.url));

/** A busy minute is one for both of a pair. */
const PAIRS = 3;
const SECONDS = 6;
const WARM_UP = 2;

/** What a load job at a rate adds to the times of a server that answers in 0.1 ms. */
export async function* benchRate(workbench: Workbench): AsyncGenerator<Figure> {
  await using server = await startFastServer(workbench);
  const pairs: { readonly ours: Measured; readonly bare: Times }[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const bare = await runLoop(workbench, server.url);
    pairs.push({ bare, ours: await runLoad(workbench, server.url, 5000) });
  }
  const middle = (of: (pair: typeof pairs[number]) => number) => median(pairs.map(of));
  const note = (name: "p50" | "p99") =>
    `${middle(({ ours }) => ours[name]).toFixed(2)} against ${
      middle(({ bare }) => bare[name]).toFixed(2)
    } ms`;
  yield {
    what: "rate, 5,000/s: p50 beyond a bare loop",
    value: middle(({ ours, bare }) => ours.p50 - bare.p50),
    unit: "ms",
    note: note("p50"),
    goal: { max: 1 },
  };
  yield {
    what: "rate, 5,000/s: p99 against a bare loop",
    value: middle(({ ours, bare }) => ours.p99 / bare.p99),
    unit: "times",
    note: note("p99"),
    goal: { max: 4 },
  };
  yield {
    what: "rate, 5,000/s: a garbage collection",
    value: middle(({ ours }) => ours.milliseconds),
    unit: "ms",
    goal: { max: 5 },
  };
  yield {
    what: "rate, 5,000/s: what a garbage collection leaves",
    value: middle(({ ours }) => ours.megabytes),
    unit: "MB",
    goal: { max: 1 },
  };
  const slow = await runLoad(workbench, server.url, 1000);
  yield {
    what: "rate, 1,000/s: p50 beyond that of its step",
    value: slow.p50 - slow.step,
    unit: "ms",
    note: `${slow.p50.toFixed(2)} ms`,
    goal: { max: 0.5 },
  };
}

/** Milliseconds from when rounds were due. */
interface Times {
  readonly p50: number;
  readonly p99: number;
}

interface Measured extends Times {
  /** The p50 of the only step. */
  readonly step: number;
  /** How long a collection of the young generation took, and by how much the next began higher. */
  readonly milliseconds: number;
  readonly megabytes: number;
}

async function runLoop(workbench: Workbench, url: string): Promise<Times> {
  const args = [new URL(url).port, "5000", `${SECONDS}`, `${WARM_UP}`];
  return JSON.parse((await workbench.deno("run", "-A", LOOP, ...args)).stdout);
}

async function runLoad(workbench: Workbench, url: string, rate: number): Promise<Measured> {
  const load = `{ rate: ${rate}/s, for: ${SECONDS}s, warm_up: ${WARM_UP}s }`;
  const step =
    `{ uses: http, with: { method: GET, url: "${url}" }, test: res.code == 200 && res.body.ok }`;
  const path = await workbench.write(
    "rate.yml",
    `name: load\njobs:\n  - name: j\n    load: ${load}\n    steps: [${step}]\n`,
  );
  const report = workbench.path("rate.ndjson");
  const args = ["run", "-A", "--v8-flags=--trace-gc", CHECKOUT, path, "--report"];
  const { stdout } = await workbench.deno(...args, `ndjson=${report}`);
  const events = (await Deno.readTextFile(report)).trimEnd().split("\n")
    .map((line) => JSON.parse(line) as RunEvent);
  const stats = (events.find(({ type }) => type === "load_ended") as LoadEnded).stats;
  return { ...timesOf(stats), ...collectionsIn(stdout) };
}

function timesOf({ p50 = NaN, p99 = NaN, steps }: LoadStats): Times & { readonly step: number } {
  return { p50, p99, step: steps[0]?.p50 ?? NaN };
}

/** The collections in the trace of V8, without those of the start. */
function collectionsIn(trace: string): Pick<Measured, "milliseconds" | "megabytes"> {
  const scavenge = /Scavenge.*? ([\d.]+) \([\d.]+\) -> ([\d.]+) .*? ([\d.]+) \/ /g;
  const all = [...trace.matchAll(scavenge)].map(([, ...numbers]) => numbers.map(Number));
  const later = all.slice(Math.ceil(all.length / 3));
  return {
    milliseconds: median(later.map(([, , time]) => time!)),
    megabytes: median(later.slice(1).map(([, after], index) => after! - later[index]![1]!)),
  };
}
