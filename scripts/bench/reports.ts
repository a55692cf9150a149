import { fromFileUrl } from "@std/path/from-file-url";
import { type Figure, median, type Workbench } from "./bench.ts";

const ENDS = fromFileUrl(new URL("./http_ends.ts", import.meta.url));
const STEPS = 10_000;
const PAIRS = 7;

/** What all reports together add to a run of many requests. */
export async function* benchReports(workbench: Workbench): AsyncGenerator<Figure> {
  const server = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", ENDS, "server"],
    stdout: "piped",
  }).spawn();
  const { value } = await server.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  const steps = Array.from(
    { length: STEPS },
    (_, i) =>
      `      - {name: step ${i}, uses: http, with: {get: "${url}${i}"},` +
      " test: res.code == 200 && len(res.body.items) == 10}\n",
  );
  const file = await workbench.write(
    "steps.yml",
    `name: n\njobs:\n  - name: j\n    steps:\n${steps.join("")}`,
  );
  const ratios: number[] = [];
  const memory: number[] = [];
  const runBarely = () => workbench.runner(file);
  await runBarely();
  for (let pair = 0; pair < PAIRS; pair++) {
    // A machine that becomes slower or faster meanwhile does so in favour of each in turn.
    const before = pair % 2 === 0 ? await runBarely() : undefined;
    const told = await workbench.runner("--report-dir", workbench.path("reports"), file);
    const bare = before ?? await runBarely();
    ratios.push(told.seconds / bare.seconds);
    memory.push(told.megabytes - bare.megabytes);
  }
  server.kill();
  await server.status;
  yield {
    what: "10,000 requests with every report, against none",
    value: median(ratios),
    unit: "times",
    goal: { most: 1.25 },
  };
  yield { what: "memory on top", value: median(memory), unit: "MB", goal: { most: 100 } };
}
