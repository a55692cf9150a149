import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { readClosedSchema, validateAll } from "../support/programs/ajv.ts";
import { withRig } from "../support/run/rig.ts";
import { runMain } from "../support/run/run_main.ts";
import { readDirectory, runReports } from "../support/run/run_reports.ts";
import { readReports } from "../support/programs/read_reports.ts";
import { withFiles } from "../support/temp_dir.ts";
import { hostileWorkflow } from "../report/files/hostile_run.ts";
import { RICH_FILES } from "../report/files/rich_run.ts";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));
const CONFORMANCE = `${ROOT}tests/conformance/`;

type Reports = Readonly<Record<string, string>>;

const ALL = ["--report-dir", "reports", "w.yml"];

/** A command that leaves a process behind is reported with -v; and a job runs under load. */
const NOTES = `name: n
jobs:
- { name: j, steps: [{ uses: shell, with: { cmd: "sleep 1000 > /dev/null 2>&1 &" } }] }
- { name: k, steps: [{ uses: shell, with: { cmd: echo up, background: true, ready: { log: up } } }] }
- name: load
  load: { rate: 100/s, count: 9, expect: stats.failed == 0, warm_up: 20ms }
  steps: [{ id: s, uses: assert, test: round.index % 2 == 0 }]
`;

/** The reports of many runs, by the names of these. */
const RUNS = (async () => {
  const runs = new Map<string, Reports>();
  for (
    const [name, files] of [["rich", RICH_FILES], ["hostile", {
      "w.yml": hostileWorkflow(),
    }]] as const
  ) {
    runs.set(name, (await runReports(files)).reports);
    const args = ["-v", "--timing", "--no-check", ...ALL];
    runs.set(`${name} -v`, (await runReports(files, { args })).reports);
  }
  runs.set(
    "notes",
    (await runReports({ "w.yml": NOTES }, { args: ["-v", "--trace", ...ALL] })).reports,
  );
  const names = [...Deno.readDirSync(CONFORMANCE)].map(({ name }) => name).sort();
  // Two at once: most of them wait for something.
  const next = names.values();
  await Promise.all([1, 2].map(async () => {
    for (const name of next) runs.set(name, await runConformance(`${CONFORMANCE}${name}`));
  }));
  return runs;
})();

function runConformance(cwd: string): Promise<Reports> {
  const args = (readIfThere(`${cwd}/args`) ?? "workflow.yml").trim().split(/\s+/);
  const env = Object.fromEntries(
    (readIfThere(`${cwd}/env`) ?? "").split("\n").filter((line) => line.includes("=")).map((line) =>
      [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const
    ),
  );
  return withRig((rig) =>
    withFiles({}, async (directory) => {
      await runMain(["--report-dir", directory, ...args], {
        cwd,
        env: { ...env, RIG_URL: rig.url },
      });
      return readDirectory(directory);
    })
  );
}

function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function assertValid(shown: Readonly<Record<string, readonly string[]>>): void {
  assertEquals(
    Object.fromEntries(Object.entries(shown).filter(([, wrong]) => wrong.length > 0)),
    {},
  );
}

Deno.test("docs/report.schema.json describes all that a JSON report can hold", async () => {
  const schema = await readClosedSchema("report.schema.json");
  const documents: Record<string, unknown> = {};
  const suites: Record<string, unknown> = {};
  for (const [name, reports] of await RUNS) {
    if (!reports["report.json"]) continue;
    const report = JSON.parse(reports["report.json"]);
    if (report.runs === undefined) documents[name] = report;
    else {
      suites[name] = report;
      for (const [index, run] of report.runs.entries()) {
        const { role: _, ...plain } = run;
        documents[`${name} ${index}`] = { schema: "runner-report/1", ...plain };
      }
    }
  }
  assert(Object.keys(suites).length > 0);
  assertValid(validateAll(await readClosedSchema("suite-report.schema.json"), suites));
  assert(Object.keys(documents).length > 40);
  assertValid(validateAll(schema, documents));
  const [wrong] = Object.values(validateAll(schema, { x: { schema: "runner-report/1" } }));
  assert(wrong!.length > 5);
});

Deno.test("docs/events.schema.json describes every event", async () => {
  const schema = await readClosedSchema("events.schema.json");
  const documents: Record<string, unknown> = {};
  const types = new Set<string>();
  for (const [name, reports] of await RUNS) {
    const lines = reports["events.ndjson"]?.trimEnd().split("\n") ?? [];
    for (const [index, line] of lines.entries()) {
      const event = JSON.parse(line);
      documents[`${name} ${index}`] = event;
      types.add(event.type);
    }
  }
  const { oneOf } = schema as { readonly oneOf: readonly { readonly $ref: string }[] };
  assertEquals([...types].sort(), oneOf.map(({ $ref }) => $ref.split("/").pop()!).sort());
  assertValid(validateAll(schema, documents));
});

Deno.test("every JSON report contains what the events reported", async () => {
  for (const [name, reports] of await RUNS) {
    if (!reports["report.json"]) continue;
    const { jobs, totals, state } = JSON.parse(reports["report.json"]);
    if (jobs === undefined) continue; // one of several workflows
    const events = reports["events.ndjson"]!.trimEnd().split("\n").map((line) => JSON.parse(line));
    const { jobs: byState, steps, state: ended } = events.at(-1);
    assertEquals([totals.jobs, totals.steps, state], [byState, steps, ended], name);
    // deno-lint-ignore no-explicit-any
    const once = jobs.filter(({ tally }: any) => !tally);
    // deno-lint-ignore no-explicit-any
    const ids = once.map(({ id }: any) => id);
    const finished = events.filter(({ type, run }) =>
      type === "step_finished" && !run.within && ids.includes(run.job)
    );
    // deno-lint-ignore no-explicit-any
    const shown = once.flatMap((job: any) => job.steps.map((one: any) => `${job.id} ${one.name}`));
    assertEquals(
      shown.toSorted(),
      finished.map(({ run, result }) => `${run.job} ${result.name}`).toSorted(),
      name,
    );
  }
});

Deno.test("JUnit, TAP and CTRF reports of every run can be read, and agree", async () => {
  const runs = [...await RUNS].filter(([, reports]) => reports["report.json"]);
  const texts = (name: string) => runs.map(([, reports]) => reports[name]!);
  const read = await readReports({
    junit: texts("junit.xml"),
    tap: texts("report.tap"),
    ctrf: texts("ctrf.json"),
  });
  // deno-lint-ignore no-explicit-any
  for (const [index, junit] of (read.junit as any[]).entries()) {
    const [name] = runs[index]!;
    // deno-lint-ignore no-explicit-any
    const tap = read.tap![index] as any;
    assertEquals([read.ctrf![index], tap.errors, tap.noise.filter(isExtra)], [[], [], []], name);
    const { summary } = JSON.parse(texts("ctrf.json")[index]!).results;
    // deno-lint-ignore no-explicit-any
    const tests = tap.tests.flatMap((one: any) => one.child?.tests ?? []);
    assertEquals(
      [junit.tests, junit.failures + junit.errors, junit.skipped],
      [summary.tests, summary.failed, summary.skipped],
      name,
    );
    // deno-lint-ignore no-explicit-any
    const skipped = tests.filter((one: any) => one.skip !== false).length;
    // An allowed failure is "not ok" with TODO, and fails nothing.
    // deno-lint-ignore no-explicit-any
    const bad = tests.filter((one: any) => !one.ok && !one.todo).length;
    assertEquals(
      [tests.length, bad, skipped],
      [summary.tests, summary.failed, summary.skipped],
      name,
    );
  }
});

function isExtra(noise: string): boolean {
  return noise.startsWith("extra");
}
