import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const flow = (name: string, test: string) =>
  `name: ${name}\njobs: [{ name: Job, steps: [{ uses: hello, name: step, test: ${test} }] }]\n`;
const FILES = {
  "suite.yml": "name: All\nworkflows: [flows]\nsetup: set_up.yml\n",
  "set_up.yml": flow("Set up", "1 == 1"),
  ...Object.fromEntries(
    ["a", "b", "c", "d", "e"].map((
      id,
    ) => [`flows/${id}.yml`, flow(id, id === "c" ? "1 == 2" : "1 == 1")]),
  ),
};

const run = (cwd: string, ...args: string[]) => runMain(args, { cwd });
const shard = (cwd: string, which: string, ...args: string[]) =>
  run(cwd, "suite.yml", "--shard", which, "--report", `ndjson=events/${which[0]}.ndjson`, ...args);

/** A report without times, ids and machine-specific values. */
function steady(text: string): string {
  return text.replace(/ (?:time|timestamp)="[^"]*"/g, "")
    .replace(/duration_ms: .*/g, "")
    .replace(/"(?:start|stop|duration|timestamp|started|responseTime|runId)":\s*[^,}\n]*/g, "")
    .replace(/ in [\d.]+m?s\b|\| [\d.]+m?s \|/g, "");
}

Deno.test("the merged report of all shards is that of one run", () =>
  withFiles(FILES, async (cwd) => {
    const whole = await run(cwd, "suite.yml", "--report-dir", "whole");
    assertEquals(whole.code, 1);
    for (const which of ["1/3", "2/3", "3/3"]) await shard(cwd, which);
    const merged = await run(cwd, "report", "merge", "events", "--report-dir", "merged");
    assertEquals([merged.code, merged.stderr], [1, ""]);
    for (const name of ["junit.xml", "report.tap", "ctrf.json", "summary.md"]) {
      const [a, b] = ["whole", "merged"].map((dir) =>
        Deno.readTextFileSync(`${cwd}/${dir}/${name}`)
      );
      assertEquals(steady(b!), steady(a!), name);
    }
    const [a, b] = ["whole", "merged"].map((dir) =>
      JSON.parse(Deno.readTextFileSync(`${cwd}/${dir}/report.json`))
    );
    assertEquals(b.totals, a.totals);
    assertEquals(
      // deno-lint-ignore no-explicit-any
      b.runs.map((one: any) => [one.workflow, one.state, one.totals]),
      // deno-lint-ignore no-explicit-any
      a.runs.map((one: any) => [one.workflow, one.state, one.totals]),
    );
  }));

Deno.test("every workflow is in one shard, and an empty shard passes", () =>
  withFiles(FILES, async (cwd) => {
    const seen: string[] = [];
    for (let index = 1; index <= 7; index++) {
      const { stdout, code } = await run(cwd, "suite.yml", "--shard", `${index}/7`);
      const found = [...stdout.matchAll(/^(\w) {2}flows/gm)].map(([, name]) => name!);
      if (found.length === 0) {
        assertEquals(code, 0);
        assertStringIncludes(stdout, `shard ${index} of 7 has no workflows`);
      }
      seen.push(...found);
    }
    assertEquals(seen.toSorted(), ["a", "b", "c", "d", "e"]);
  }));

Deno.test("--shard-times makes shares that take the same time", () =>
  withFiles(FILES, async (cwd) => {
    const runs = ["a", "b", "c", "d", "e"].map((id, at) => {
      return { workflow: { file: `flows/${id}.yml` }, duration: at === 4 ? 1000 : 100 };
    });
    Deno.writeTextFileSync(`${cwd}/times.json`, JSON.stringify({ runs }));
    const shards = ["--shard", "1/2", "--shard-times", "times.json"];
    // An earlier report may make way for that of this run.
    const { stdout } = await run(cwd, "suite.yml", ...shards, "--report", "json=times.json");
    assertStringIncludes(stdout, "\n1 workflow: 1 passed");
    assertStringIncludes(stdout, "e  flows/e.yml");
    assertStringIncludes(Deno.readTextFileSync(`${cwd}/times.json`), "set_up.yml");
  }));

Deno.test("a shard that is missing, torn or of another suite is an error", () =>
  withFiles(FILES, async (cwd) => {
    await shard(cwd, "1/2");
    const merge = async () => (await run(cwd, "report", "merge", "events")).stderr.split("\n")[0];
    assertEquals(await merge(), "runner: error: shard 2 of 2 is missing");
    await shard(cwd, "2/2");
    const path = `${cwd}/events/2.ndjson`;
    const text = Deno.readTextFileSync(path);
    Deno.writeTextFileSync(path, text.slice(0, -20));
    assertEquals(await merge(), "runner: error: 'events/2.ndjson' ends in the middle");
    Deno.writeTextFileSync(`${cwd}/flows/a.yml`, flow("changed", "1 == 1"));
    await shard(cwd, "2/2");
    assertEquals(
      await merge(),
      "runner: error: 'events/2.ndjson' is of another suite than 'events/1.ndjson'",
    );
  }));

Deno.test("one file alone cannot be divided", () =>
  withFiles(FILES, async (cwd) => {
    const { code, stderr } = await run(cwd, "flows/a.yml", "--workers", "2", "--shard", "1/2");
    assertEquals(code, 1);
    assertStringIncludes(
      stderr,
      "option --shard divides several workflows, and 'flows/a.yml' is one",
    );
  }));
