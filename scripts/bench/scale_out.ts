import { type Figure, median, type Workbench } from "./bench.ts";

const PIECES = 10;
const ROUNDS = 33_333;
const RUNS = 9;

/** A process of a run on several machines, and the merging of what ten of them have left. */
export async function* benchScaleOut(workbench: Workbench): AsyncGenerator<Figure> {
  const one = await workbench.write(
    "one.yml",
    "name: one\njobs:\n  - { name: j, id: j, steps: [{ uses: hello, test: 1 == 1 }] }\n",
  );
  const run = workbench.path("run.json");
  const outputs = workbench.path("outputs.json");
  await workbench.runner("prepare", one, "--out", run);
  const chunks = ["run", "-A", `${await workbench.bundle()}/split/cli.js`];
  const overheads: number[] = [];
  const ratios: number[] = [];
  // The first of each fills the caches.
  for (let turn = -1; turn < RUNS; turn++) {
    const whole = await workbench.deno(...chunks, one);
    const piece = await workbench.deno(
      ...[...chunks, one, "--run", run, "--only", "j", "--outputs", outputs],
    );
    if (turn < 0) continue;
    overheads.push((piece.seconds - whole.seconds) * 1000);
    ratios.push(piece.seconds / whole.seconds);
  }
  yield {
    what: "a piece with one step, more than the whole run (chunks)",
    value: median(overheads),
    unit: "ms",
    note: `${median(ratios).toFixed(2)} times`,
    goal: { max: 40 },
  };
  const load = await workbench.write(
    "load.yml",
    `name: load\njobs:\n  - name: j\n    id: j\n    repeat: { count: 10000, async: true }\n` +
      "    steps: [{ uses: hello, test: 1 == 1 }]\n",
  );
  const runOfLoad = workbench.path("load.json");
  await workbench.runner("prepare", load, "--out", runOfLoad);
  const files: string[] = [];
  for (let part = 1; part <= PIECES; part++) {
    const events = workbench.path(`events_${part}.ndjson`);
    await workbench.runner(
      ...[load, "--run", runOfLoad, "--only", "j", "--rounds", `${part}/${PIECES}`],
      ...["--report", `ndjson=${events}`],
    );
    files.push(await manyEvents(events));
  }
  const merged = await workbench.runner(
    ...["report", "merge", runOfLoad, ...files, "--report", `junit=${workbench.path("m.xml")}`],
  );
  yield {
    what: "merging 10 pieces with 100,000 events",
    value: merged.seconds,
    unit: "s",
    goal: { max: 3 },
  };
  yield {
    what: "its peak memory",
    value: merged.megabytes,
    unit: "MB",
    goal: { max: 200 },
  };
}

/** A file with as many events as a tenth of the rounds would leave: three for each. */
async function manyEvents(path: string): Promise<string> {
  const lines = (await Deno.readTextFile(path)).trimEnd().split("\n");
  const isOfRound = (line: string) => /"type":"(step_started|step_finished|round_f)/.test(line);
  const rounds = lines.filter(isOfRound);
  const [head, tail] = [
    lines.slice(0, lines.findIndex(isOfRound)),
    lines.slice(lines.findLastIndex(isOfRound) + 1),
  ];
  const all = [...head];
  const wanted = ROUNDS * 3 / PIECES;
  while (all.length < wanted) all.push(...rounds.slice(0, Math.ceil(wanted - all.length)));
  await Deno.writeTextFile(path, `${[...all, ...tail].join("\n")}\n`);
  return path;
}
