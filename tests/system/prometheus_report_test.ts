import { assertEquals, assertMatch } from "@std/assert";
import { hostileWorkflow } from "../report/files/hostile_run.ts";
import { RICH_FILES } from "../report/files/rich_run.ts";
import { RepeatedRun } from "../support/run/repeated_run.ts";
import { runReports } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";

const LOAD = `name: n
jobs:
- name: j
  load: { users: 2, count: 30, expect: ["stats.count == 30", "stats.p95 < 0"] }
  steps: [{ uses: hello, name: a, test: round.index != 3 }, { uses: hello, name: b, test: "true" }]
- { name: j, steps: [{ uses: hello }] }
`;
const OTHER = `name: n\njobs: [{ name: j, steps: [{ uses: hello }] }]\n`;

Deno.test("promtool finds nothing wrong with the metrics of runs, suites and load jobs", async () => {
  const written: string[] = [];
  for (
    const files of [RICH_FILES, { "w.yml": hostileWorkflow() }, { "w.yml": LOAD, "v.yml": OTHER }]
  ) {
    const names = Object.keys(files).filter((name) => /^[vw]\.yml$/.test(name));
    const { reports, stderr } = await runReports(files, {
      args: [
        "--no-check",
        "--report-dir",
        "reports",
        "--report",
        "prometheus=reports/m.prom",
        ...names,
      ],
    });
    const metrics = reports["m.prom"] ?? stderr;
    assertEquals(await promtool(metrics), "");
    written.push(metrics);
  }
  const [, , load] = written;
  assertMatch(load!, /^runner_load_round_seconds_bucket\{.*le="\+Inf"\} 30$/m);
  assertMatch(load!, /^runner_load_threshold_passed\{.*threshold="stats.p95 < 0"\} 0$/m);
});

Deno.test("promtool finds nothing wrong with what --serve has for it, whatever names contain", async () => {
  const names = [
    'a "b" \\\\ c',
    "two\nlines",
    "größer 漢字 🍵",
    "tab\there",
    "{}=,",
    "x".repeat(3000),
  ];
  for (const name of names) {
    const step = { name, uses: "hello", test: "res.status == 1" };
    // JSON is YAML.
    const workflow = JSON.stringify({ name, jobs: [{ name, steps: [step, step, step] }] });
    await withFiles({ "w.yml": workflow }, async (cwd) => {
      let metrics = "";
      const run = new RepeatedRun(async (count, run) => {
        metrics = (await run.get("/metrics")).body;
        if (count === 2) run.send("SIGTERM");
      });
      await run.run(cwd, "--serve", "0");
      assertEquals([name, await promtool(metrics)], [name, ""]);
      assertMatch(metrics, /^runner_runs_total\{.*state="failed"\} 2$/m);
      assertMatch(metrics, /^runner_step_seconds_bucket\{.*le="\+Inf"\} 2$/m);
    });
  }
});

async function promtool(metrics: string): Promise<string> {
  const tool = new Deno.Command("promtool", {
    ...{ args: ["check", "metrics"], stdin: "piped", stdout: "piped", stderr: "piped" },
  }).spawn();
  await new Blob([metrics]).stream().pipeTo(tool.stdin);
  const { stdout, stderr } = await tool.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}
