/**
 * Measures what users wait for, each as a ratio against something in the same run, since the
 * speed of machines differs and drifts: `deno task bench`.
 *
 * @module
 */
import { parse } from "@std/yaml/parse";
import { loadWorkflow } from "../src/workflow/load_workflow.ts";
import { denoHost } from "../src/host/deno_host.ts";
import { fromFileUrl } from "@std/path/from-file-url";

const CLI = fromFileUrl(new URL("../cli.ts", import.meta.url));
const LOAD = fromFileUrl(new URL("./bench_load.ts", import.meta.url));
const deno = Deno.execPath();
const folder = await Deno.makeTempDir({ prefix: "runner_bench_" });

interface Measured {
  readonly seconds: number;
  /** Peak memory in megabytes, where the system tells it. */
  readonly megabytes: number;
  readonly stdout: string;
}

async function measure(args: readonly string[]): Promise<Measured> {
  const began = performance.now();
  const child = new Deno.Command(deno, { args: [...args], stdout: "piped", stderr: "inherit" })
    .spawn();
  let megabytes = 0;
  const watch = setInterval(() => {
    try {
      const status = Deno.readTextFileSync(`/proc/${child.pid}/status`);
      megabytes = Math.max(megabytes, Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has ended, or the system has no such file.
    }
  }, 20);
  const { success, stdout } = await child.output();
  clearInterval(watch);
  if (!success) throw new Error(`deno ${args.join(" ")} failed`);
  const seconds = (performance.now() - began) / 1000;
  return { seconds, megabytes, stdout: new TextDecoder().decode(stdout) };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? NaN;
}

/** The median ratio of two commands that take turns, and the median seconds of the first. */
async function compare(rounds: number, a: readonly string[], b: readonly string[]) {
  await measure(a);
  await measure(b);
  const ratios: number[] = [];
  const seconds: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const first = await measure(a);
    const second = await measure(b);
    ratios.push(first.seconds / second.seconds);
    seconds.push(first.seconds);
  }
  return { ratio: median(ratios), seconds: median(seconds) };
}

async function write(name: string, text: string): Promise<string> {
  const path = `${folder}/${name}`;
  await Deno.writeTextFile(path, text);
  return path;
}

function say(what: string, figure: string, goal: string): void {
  // deno-lint-ignore no-console
  console.log(`${what.padEnd(56)} ${figure.padEnd(30)} goal ${goal}`);
}

const run = (...args: readonly string[]) => ["run", "-A", CLI, ...args];
const empty = ["run", await write("empty.ts", "")];
const hello = await write("hello.yml", "name: n\njobs: [{name: j, steps: [{uses: hello}]}]\n");

/** The program in chunks, as a release embeds it. */
async function bundle(): Promise<string> {
  const out = `${folder}/split`;
  await measure(["bundle", "--quiet", "--minify", "--code-splitting", "--outdir", out, CLI]);
  return `${out}/cli.js`;
}

async function benchStart(): Promise<void> {
  const chunks = await bundle();
  for (
    const [what, argument, goal] of [
      ["--version", "--version", "1.6"],
      ["--help", "--help", "1.6"],
      ["a one-step workflow", hello, "2.5"],
    ] as const
  ) {
    for (
      const [form, program, limit] of [["bundled", chunks, `<= ${goal}`], ["checkout", CLI, "-"]]
    ) {
      const { ratio, seconds } = await compare(21, ["run", "-A", program!, argument], empty);
      const figure = `${ratio.toFixed(2)} times, ${(seconds * 1000).toFixed(0)} ms`;
      say(`${what} against an empty script (${form})`, figure, limit!);
    }
  }
}

const SHAPES: Readonly<Record<string, (count: number) => string>> = {
  "steps in one job": (count) =>
    `name: n\njobs:\n  - name: j\n    steps:\n${"      - uses: hello\n".repeat(count)}`,
  "jobs in a chain": (count) =>
    "name: n\njobs:\n" +
    Array.from({ length: count }, (_, i) =>
      `  - {name: j, id: j${i}, ${i ? `needs: [j${i - 1}], ` : ""}steps: [{uses: hello}]}\n`)
      .join(""),
  "independent jobs": (count) =>
    `name: n\njobs:\n${"  - {name: j, steps: [{uses: hello}]}\n".repeat(count)}`,
};

async function benchScale(): Promise<void> {
  for (const [shape, make] of Object.entries(SHAPES)) {
    const extra: number[] = [];
    for (const count of [1_000, 10_000]) {
      const file = await write(`${count}.yml`, make(count));
      const pairs: number[] = [];
      for (let i = 0; i < 5; i++) {
        const one = await measure(run(hello));
        pairs.push((await measure(run(file))).seconds - one.seconds);
      }
      extra.push(median(pairs));
    }
    const [small = NaN, large = NaN] = extra;
    say(`1,000 ${shape}, own time`, `${small.toFixed(3)} s`, "< 0.3 s");
    say(`10,000 of them against 1,000`, `${(large / small).toFixed(1)} times`, "about 10");
  }
}

async function benchLoad(): Promise<void> {
  const steps = (job: number) =>
    Array.from(
      { length: 10 },
      (_, i) =>
        `      - name: step ${job} ${i}\n        uses: http\n        with:\n` +
        `          url: https://example.test/${job}/${i}\n          method: GET\n` +
        `          headers:\n            x-request-number: "number ${job} ${i} of the workflow"\n` +
        `            accept: application/json\n` +
        `        test: res.code == 200 && res.body.items[${i}].id == ${job * 10 + i}\n`,
    ).join("");
  let text = "name: large\njobs:\n";
  for (let job = 0; text.length < 5_000_000; job++) {
    text += `  - name: job ${job}\n    steps:\n${steps(job)}`;
  }
  const file = await write("large.yml", text);
  const ratios: number[] = [];
  let seconds = 0;
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    parse(text, { schema: "core" });
    const parsed = performance.now();
    await loadWorkflow(file, denoHost());
    seconds = (performance.now() - parsed) / 1000;
    ratios.push((performance.now() - parsed) / (parsed - began));
  }
  const figure = `${median(ratios).toFixed(2)} times, ${seconds.toFixed(2)} s`;
  say("loading 5 MB against its YAML parser", figure, "< 5");
}

async function benchHttp(): Promise<void> {
  const server = new Deno.Command(deno, {
    args: ["run", "-A", LOAD, "server"],
    stdout: "piped",
  }).spawn();
  const { value } = await server.stdout.getReader().read();
  const url = new TextDecoder().decode(value).trim();
  const repeated = (count: number) =>
    write(
      `load_${count}.yml`,
      `name: n\njobs:\n  - name: j\n    repeat: {count: ${count}, async: true}\n    steps:\n` +
        `      - uses: http\n        with: {get: "${url}"}\n        test: res.code == 200\n`,
    );
  // What the first request costs on top, the start of the program included, is no matter of rate.
  const [one, all] = [await repeated(1), await repeated(10_000)];
  const ratios: number[] = [];
  const memory: number[] = [];
  for (let i = 0; i < 5; i++) {
    const first = await measure(run(one));
    const ours = await measure(run(all));
    const bare = Number((await measure(["run", "-A", LOAD, url])).stdout);
    ratios.push(bare / (ours.seconds - first.seconds));
    memory.push(ours.megabytes);
  }
  server.kill();
  await server.status;
  say("10,000 requests at once, rate against node:http", median(ratios).toFixed(2), ">= 0.75");
  say("their peak memory", `${median(memory).toFixed(0)} MB`, "< 300 MB");
}

const benches = { start: benchStart, scale: benchScale, load: benchLoad, http: benchHttp };
const wanted = Deno.args.length > 0 ? Deno.args : Object.keys(benches);
try {
  for (const [name, bench] of Object.entries(benches)) {
    if (wanted.includes(name)) await bench();
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
