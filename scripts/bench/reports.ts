import { type Figure, median, type Workbench } from "./bench.ts";
import { startHttpServer } from "./http_server.ts";

const JOBS = 10;
const STEPS = 1_000;
const PAIRS = 5;

/** The time that all reports together add to a run of many requests. */
export async function* benchReports(workbench: Workbench): AsyncGenerator<Figure> {
  const usual = await compare(workbench, 2);
  yield {
    what: "10,000 requests of 2 ms with every report, against none",
    value: usual.ratio,
    unit: "times",
    goal: { max: 1.25 },
  };
  yield { what: "memory on top", value: usual.megabytes, unit: "MB", goal: { max: 100 } };
  // Nothing but what the runner itself does takes time here.
  const { ratio } = await compare(workbench, 0);
  yield {
    what: "the same where the server answers at once",
    value: ratio,
    unit: "times",
    goal: { max: 1.25 },
  };
}

interface Comparison {
  /** Of the seconds. */
  readonly ratio: number;
  /** On top. */
  readonly megabytes: number;
}

/** A run with every report against one with none, of a server that takes so many milliseconds. */
async function compare(workbench: Workbench, delay: number): Promise<Comparison> {
  await using server = await startHttpServer(delay);
  const file = await workbench.write("steps.yml", workflow(server.url));
  const ratios: number[] = [];
  const memory: number[] = [];
  const runBarely = () => workbench.runner(file);
  await runBarely();
  for (let pair = 0; pair < PAIRS; pair++) {
    // A machine that becomes slower or faster meanwhile does so in favour of each in turn.
    const before = pair % 2 === 0 ? await runBarely() : undefined;
    const directory = workbench.path(`reports_${delay}_${pair}`);
    const reported = await workbench.runner("--report-dir", directory, file);
    const bare = before ?? await runBarely();
    ratios.push(reported.seconds / bare.seconds);
    memory.push(reported.megabytes - bare.megabytes);
  }
  return { ratio: median(ratios), megabytes: median(memory) };
}

function workflow(url: string): string {
  const steps = Array.from(
    { length: STEPS },
    (_, i) =>
      `      - {name: step ${i}, uses: http, with: {get: "${url}${i}"},` +
      " test: res.code == 200 && len(res.body.items) == 10}\n",
  ).join("");
  const jobs = Array.from({ length: JOBS }, (_, i) => `  - name: job ${i}\n    steps:\n${steps}`);
  return `name: n\njobs:\n${jobs.join("")}`;
}
