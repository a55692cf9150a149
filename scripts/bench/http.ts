import { type Figure, median, type Workbench } from "./bench.ts";
import { HTTP_ENDS, startHttpServer } from "./http_server.ts";

/** Servers and clients share a machine, so that one pair says little. */
const PAIRS = 11;

/** Ten thousand requests at once, against what a bare loop over node:http makes of them. */
export async function* benchHttp(workbench: Workbench): AsyncGenerator<Figure> {
  await using server = await startHttpServer();
  const { url } = server;
  const repeated = (count: number) =>
    workbench.write(
      `load_${count}.yml`,
      `name: n\njobs:\n  - name: j\n    repeat: {count: ${count}, async: true}\n    steps:\n` +
        `      - uses: http\n        with: {get: "${url}"}\n        test: res.code == 200\n`,
    );
  // Excludes the extra cost of the first request and of starting the program.
  const [one, all] = [await repeated(1), await repeated(10_000)];
  const ratios: number[] = [];
  const memory: number[] = [];
  const askBarely = async () => Number((await workbench.deno("run", "-A", HTTP_ENDS, url)).stdout);
  await askBarely();
  for (let pair = 0; pair < PAIRS; pair++) {
    const first = await workbench.runner(one);
    // A machine that becomes slower or faster meanwhile does so in favour of each in turn.
    const before = pair % 2 === 0 ? await askBarely() : undefined;
    const ours = await workbench.runner(all);
    const bare = before ?? await askBarely();
    ratios.push(bare / (ours.seconds - first.seconds));
    memory.push(ours.megabytes);
  }
  yield {
    what: "10,000 requests at once, rate against node:http",
    value: median(ratios),
    unit: "times",
    goal: { min: 0.75 },
  };
  yield { what: "their peak memory", value: median(memory), unit: "MB", goal: { max: 300 } };
}
