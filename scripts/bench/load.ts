import type { LoadEnded, LoadSecond, LoadStats, RunEvent } from "../../src/run/event.ts";
import type { Figure, Workbench } from "./bench.ts";
import { BROKERS } from "./load_brokers.ts";
import { runAutocannon, runWrk } from "./load_peers.ts";
import { startHttpServer } from "./http_server.ts";
import { startFastServer, startStallingServer } from "./load_servers.ts";

/** How long each load lasts. */
const SECONDS = 5;

/** A server that stalls, which every load meets a few times. */
const STALL = { length: 500, every: 3000, rate: 500, seconds: 9 } as const;

const HELLO = "{ uses: hello, test: 1 == 1 }";

/**
 * Load jobs against other load tools, of which those are run that are on the PATH: wrk, wrk2 and
 * autocannon. A server that stalls says itself what is true.
 */
export async function* benchLoad(workbench: Workbench): AsyncGenerator<Figure> {
  await using fast = await startFastServer(workbench);
  yield* benchRates(workbench, fast.url);
  yield* benchStalls(workbench);
  yield* benchMost(workbench, fast.url);
  yield* benchRounds(workbench);
  yield* benchEvents(workbench, fast.url);
  yield* benchProcesses(workbench);
  yield* benchBrokers(workbench);
}

async function* benchRates(workbench: Workbench, url: string): AsyncGenerator<Figure> {
  for (const rate of [1000, 5000]) {
    // In a few seconds, those in which the program is compiled would decide.
    const load = `{ rate: ${rate}/s, for: ${SECONDS}s, warm_up: 1s }`;
    const { stats } = await runLoad(workbench, load, get(url));
    const peer = await runWrk("wrk2", url, SECONDS, rate);
    const name = `load, ${rate}/s:`;
    yield {
      what: `${name} off the rate`,
      value: Math.abs(stats.rate / rate - 1) * 100,
      unit: "%",
      note: `${stats.rate.toFixed(0)}/s`,
      goal: { max: 1 },
    };
    yield { what: `${name} dropped`, value: stats.dropped, unit: "", goal: { max: 0 } };
    const p99 = stats.p99 ?? NaN;
    yield {
      what: `${name} p99${peer ? " beyond that of wrk2 and 10 %" : ""}`,
      value: peer ? p99 - peer.p99 * 1.1 : p99,
      unit: "ms",
      note: `${p99.toFixed(2)}${peer ? ` against ${peer.p99} ms` : ", no wrk2"}`,
      goal: { max: 1 },
    };
  }
}

async function* benchStalls(workbench: Workbench): AsyncGenerator<Figure> {
  const { length, every, rate, seconds } = STALL;
  await using server = await startStallingServer(length, every);
  const { url } = server;
  const steps = get(`${url}?i={{ round.index }}`);
  const { stats } = await runLoad(workbench, `{ rate: ${rate}/s, for: ${seconds}s }`, steps);
  const truth = correctTimes(await server.answers(), rate);
  const peer = await runWrk("wrk2", url, seconds, rate);
  const name = `load, stalls of ${length} ms:`;
  for (
    const [what, ours, true_, theirs] of [
      ["p99", stats.p99, truth[Math.ceil(truth.length * 0.99) - 1], peer?.p99],
      ["max", stats.max, truth.at(-1), peer?.max],
    ] as const
  ) {
    for (const [than, other] of [["the truth", true_], ["wrk2", theirs]] as const) {
      if (ours === undefined || other === undefined) continue;
      yield {
        what: `${name} ${what} off ${than}`,
        value: Math.abs(ours / other - 1) * 100,
        unit: "%",
        note: `${ours.toFixed(0)} against ${other.toFixed(0)} ms`,
        goal: { max: 5 },
      };
    }
  }
}

/** How long each round took from when it was due, by the times of the answers, sorted. */
function correctTimes(answers: readonly number[], rate: number): readonly number[] {
  const ends = answers.map((time, index) => time - index * 1000 / rate);
  const first = ends.reduce((least, end) => Math.min(least, end));
  return ends.map((end) => end - first).sort((a, b) => a - b);
}

async function* benchMost(workbench: Workbench, url: string): AsyncGenerator<Figure> {
  const load = `{ users: 64, for: ${SECONDS}s, warm_up: 1s }`;
  const { stats, cpu } = await runLoad(workbench, load, get(url));
  const wrk = await runWrk("wrk", url, SECONDS);
  const autocannon = await runAutocannon(url, SECONDS);
  yield {
    what: "load, 64 users: rounds a second",
    value: stats.rate,
    unit: "",
    note: `${(stats.passed / cpu).toFixed(0)} for a second of CPU`,
  };
  for (const [name, peer] of [["wrk -t1", wrk], ["autocannon", autocannon]] as const) {
    if (!peer) continue;
    yield {
      what: `load, 64 users: rounds against ${name}`,
      value: stats.rate / peer.rate,
      unit: "times",
      note: `${peer.rate.toFixed(0)}/s`,
      ...peer === wrk && { goal: { min: 0.2 } },
    };
  }
}

async function* benchRounds(workbench: Workbench): AsyncGenerator<Figure> {
  const few = await runLoad(workbench, "{ users: 64, count: 10000 }", HELLO);
  const many = await runLoad(workbench, "{ users: 64, count: 1000000 }", HELLO);
  yield {
    what: "load, a round of hello with a test",
    value: many.cpu * 1e6 / many.stats.count,
    unit: "µs of CPU",
    goal: { max: 30 },
  };
  yield {
    what: "load, memory of 1,000,000 rounds",
    value: many.megabytes,
    unit: "MB",
    goal: { max: 150 },
  };
  yield {
    what: "load, memory of 1,000,000 rounds against 10,000",
    value: many.megabytes / few.megabytes,
    unit: "times",
    note: `${few.megabytes.toFixed(0)} MB`,
    goal: { max: 1.1 },
  };
}

async function* benchEvents(workbench: Workbench, url: string): AsyncGenerator<Figure> {
  const steps = Array.from({ length: 5 }, () => get(url)).join(", ");
  const { bytes, stats } = await runLoad(
    workbench,
    `{ rate: 1000/s, for: ${SECONDS}s }`,
    steps,
  );
  yield {
    what: "load, NDJSON of 10 minutes at 1,000/s with 5 steps",
    value: bytes / stats.elapsed * 600_000 / 1e6,
    unit: "MB",
    note: `${stats.rate.toFixed(0)}/s`,
    goal: { max: 5 },
  };
}

async function* benchProcesses(workbench: Workbench): AsyncGenerator<Figure> {
  // The times are those of the server, and hardly those of the machine.
  await using server = await startHttpServer(50);
  const load = `{ rate: 1000/s, for: ${SECONDS}s, warm_up: 1s }`;
  const one = (await runLoad(workbench, load, get(server.url))).stats;
  const four = (await runLoad(workbench, load, get(server.url), "--processes", "4")).stats;
  yield {
    what: "load, 4 processes: rounds more or less than 1",
    value: Math.abs(four.count - one.count),
    unit: "",
    note: `${four.count}`,
    goal: { max: 0 },
  };
  for (const name of ["p50", "p95", "p99"] as const) {
    yield {
      what: `load, 4 processes: ${name} off that of 1`,
      value: Math.abs((four[name] ?? NaN) / (one[name] ?? NaN) - 1) * 100,
      unit: "%",
      note: `${four[name]?.toFixed(2)} against ${one[name]?.toFixed(2)} ms`,
      goal: { max: 2 },
    };
  }
}

/** Messages that users publish without waiting, but for those of Kafka, over one connection. */
async function* benchBrokers(workbench: Workbench): AsyncGenerator<Figure> {
  for (const [name, start] of Object.entries(BROKERS)) {
    const broker = await start(workbench.path("")).catch((error) => {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    });
    if (!broker) continue;
    await using _ = broker.server;
    const load = `{ users: 64, for: ${SECONDS}s, warm_up: 1s }`;
    const { stats, cpu } = await runLoad(workbench, load, broker.step);
    yield {
      what: `load, messages by ${name} for a second of CPU`,
      value: stats.passed / cpu,
      unit: "",
      note: `${stats.rate.toFixed(0)}/s`,
      goal: { min: 10_000 },
    };
  }
}

/** What a load job did. */
interface Ran {
  readonly stats: LoadStats;
  /** Seconds of processor time while it ran. */
  readonly cpu: number;
  readonly megabytes: number;
  /** Of the events of its seconds. */
  readonly bytes: number;
}

async function runLoad(
  workbench: Workbench,
  load: string,
  steps: string,
  ...args: readonly string[]
): Promise<Ran> {
  const path = await workbench.write(
    "load.yml",
    `name: load\njobs:\n  - name: j\n    id: j\n    load: ${load}\n    steps: [${steps}]\n`,
  );
  const report = workbench.path("load.ndjson");
  const { megabytes } = await workbench.runner(path, "--report", `ndjson=${report}`, ...args);
  const lines = (await Deno.readTextFile(report)).trimEnd().split("\n");
  const events = lines.map((line) => [line.length, JSON.parse(line) as RunEvent] as const);
  const seconds = events.filter((one): one is readonly [number, LoadSecond] =>
    one[1].type === "load_second"
  );
  const { stats } = events.find(([, { type }]) => type === "load_ended")![1] as LoadEnded;
  const measured = seconds.filter(([, { phase }]) => phase !== "warm_up");
  return {
    ...{ stats, megabytes },
    cpu: measured.reduce((sum, [, { busy = 0, length }]) => sum + busy * length / 1000, 0),
    bytes: seconds.reduce((sum, [length]) => sum + length, 0),
  };
}

function get(url: string): string {
  return `{ uses: http, with: { method: GET, url: "${url}" }, ` +
    "test: res.code == 200 && res.body.ok }";
}
