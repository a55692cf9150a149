import { assert, assertEquals } from "@std/assert";
import type { RunEvent } from "../../src/run/event.ts";
import { runCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

Deno.test("percentiles of a load job are those of the times that a server took", async () => {
  const times: number[] = [];
  await using server = Deno.serve({ port: 0, onListen: () => {} }, async () => {
    const began = performance.now();
    const time = 300 + 300 * -Math.log(1 - Math.random());
    await new Promise((resolve) => setTimeout(resolve, time));
    times.push(performance.now() - began);
    return new Response("{}");
  });
  const { port } = server.addr;
  await withFiles({
    "w.yml": `name: n
jobs:
- name: Drawn
  load: { rate: 100/s, for: 15s, expect: stats.dropped == 0 }
  steps: [{ uses: http, with: { get: "http://127.0.0.1:${port}/" }, test: res.code == 200 }]
`,
  }, async (cwd) => {
    const { code, stdout } = await runCli(["--report", "ndjson=e.ndjson", "w.yml"], { cwd });
    assertEquals(code, 0, stdout);
    const lines = (await Deno.readTextFile(`${cwd}/e.ndjson`)).trim().split("\n");
    const events = lines.map((line): RunEvent => JSON.parse(line));
    const ended = events.find((event) => event.type === "load_ended");
    const { count, rate, p50, p95, p99 } = ended!.stats.steps[0]!;
    assertEquals([count, times.length, rate], [1500, 1500, 100]);
    const sorted = times.toSorted((a, b) => a - b);
    for (const [percent, found] of [[50, p50], [95, p95], [99, p99]] as const) {
      const exact = sorted[Math.ceil(percent * 15) - 1]!;
      // The machine has other work, too.
      assert(Math.abs(found - exact) <= exact / 100 + 10, `p${percent} is ${found}, not ${exact}`);
    }
  });
});

Deno.test("four processes count and measure what one does", async () => {
  const count = 6000;
  // The same times in each run, in an order without pattern.
  await using server = Deno.serve({ port: 0, onListen: () => {} }, async (request) => {
    const index = Number(new URL(request.url).pathname.slice(1));
    const time = 100 + 100 * -Math.log(1 - ((index * 2311) % count + 0.5) / count);
    await new Promise((resolve) => setTimeout(resolve, time));
    return new Response("{}");
  });
  const url = `http://127.0.0.1:${server.addr.port}/{{round.index}}`;
  await withFiles({
    "w.yml": `name: n
jobs:
- name: Drawn
  load: { rate: 1000/s, for: 6s, max_in_flight: 4000, expect: stats.dropped == 0 }
  steps: [{ uses: http, with: { get: "${url}" }, test: res.code == 200 }]
`,
  }, async (cwd) => {
    const stepOf = async (processes: number) => {
      const args = ["--report", "ndjson=e.ndjson", "w.yml", "--processes", String(processes)];
      const { code, stdout } = await runCli(args, { cwd });
      assertEquals(code, 0, stdout);
      const lines = (await Deno.readTextFile(`${cwd}/e.ndjson`)).trim().split("\n");
      const events = lines.map((line): RunEvent => JSON.parse(line));
      return events.find((event) => event.type === "load_ended")!.stats.steps[0]!;
    };
    const [one, four] = [await stepOf(1), await stepOf(4)];
    assertEquals([one.count, four.count], [count, count]);
    for (const name of ["p50", "p90", "p95", "p99"] as const) {
      const [found, expected] = [four[name], one[name]];
      // The machine has other work, too.
      assert(Math.abs(found - expected) <= expected / 50 + 10, `${name} ${found}, not ${expected}`);
    }
  });
});

/** A job that prints the peak memory of the program, in kilobytes. */
const PEAK = `- name: Peak
  needs: [many]
  steps:
  - uses: shell
    with:
      cmd: awk '/VmHWM/ {print $2}' /proc/$PPID/status
    echo: "peak {{trim(res.stdout)}} kB"
`;

Deno.test("a million rounds need no more memory than ten thousand", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const peakOf = (count: number) =>
    withFiles({
      "w.yml": `name: n
jobs:
- name: Many
  id: many
  load: { users: 50, count: ${count} }
  steps: [{ uses: hello, test: status == 0 }]
${PEAK}`,
    }, async (cwd) => {
      const { code, stdout } = await runCli(["--report", "ndjson=e.ndjson", "w.yml"], { cwd });
      assertEquals(code, 0, stdout);
      return Number(/peak (\d+) kB/.exec(stdout)?.[1]);
    });
  const [few, many] = [await peakOf(10_000), await peakOf(1_000_000)];
  // Garbage makes most of the difference: 75 bytes kept of each round would be more.
  assert(many - few < 75_000, `${few} kB, ${many} kB`);
});
