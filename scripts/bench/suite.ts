import { type Figure, median, type Workbench } from "./bench.ts";
import { startHttpServer } from "./http_server.ts";

const WORKFLOWS = 200;
const STEPS = 25;
/** Workflows that run at once, and jobs of the one workflow. */
const WORKERS = "4";
const PAIRS = 7;

/** Many workflows, against one workflow with the same steps in as many jobs. */
export async function* benchSuite(workbench: Workbench): AsyncGenerator<Figure> {
  await using server = await startHttpServer();
  const steps = `    steps:\n${
    `      - { uses: http, with: { get: "${server.url}" }, test: res.code == 200 }\n`.repeat(STEPS)
  }`;
  await Deno.mkdir(workbench.path("flows"));
  const numbers = Array.from({ length: WORKFLOWS }, (_, index) => index);
  for (const number of numbers) {
    const name = `flows/${String(number).padStart(3, "0")}.yml`;
    await workbench.write(name, `name: flow ${number}\njobs:\n  - name: j\n${steps}`);
  }
  const jobs = numbers.map((number) => `  - name: job ${number}\n${steps}`);
  const one = await workbench.write("one.yml", `name: one\njobs:\n${jobs.join("")}`);
  const runMany = () => workbench.runner("--workers", WORKERS, workbench.path("flows"));
  const runOne = () => workbench.runner("--jobs", WORKERS, one);
  await runMany();
  const ratios: number[] = [];
  const seconds: number[] = [];
  const memory: number[] = [];
  const memoryOfOne: number[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    // A machine that becomes slower or faster meanwhile does so in favour of each in turn.
    const before = pair % 2 === 0 ? await runOne() : undefined;
    const many = await runMany();
    const single = before ?? await runOne();
    ratios.push(many.seconds / single.seconds);
    seconds.push(many.seconds);
    memory.push(many.megabytes);
    memoryOfOne.push(single.megabytes);
  }
  yield {
    what: "200 workflows, 5,000 http steps, against one workflow",
    value: median(ratios),
    unit: "times",
    note: `${median(seconds).toFixed(1)} s`,
    goal: { max: 1.15 },
  };
  yield {
    what: "their peak memory",
    value: median(memory),
    unit: "MB",
    note: `${median(memoryOfOne).toFixed(0)} MB of one workflow`,
  };
}
