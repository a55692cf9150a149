import { assert, assertEquals } from "@std/assert";
import { suitesOf } from "../../../src/report/files/cases.ts";
import { Recorder } from "../../../src/report/recorder.ts";
import type { RunEvent, StepOutline } from "../../../src/run/event.ts";
import { jobFinished, jobStarted, runFinished, runStarted, stepFinished } from "../events.ts";
import { readReports } from "../../support/programs/read_reports.ts";
import { runReports } from "../../support/run/run_reports.ts";

/** Returns the cases of a job whose first step ran with these entries. */
function casesOf(
  first: StepOutline,
  ran: readonly (number | undefined)[],
  end: RunEvent = runFinished({ interrupted: "interrupted" }),
  jobEnd: RunEvent = jobFinished("build"),
) {
  const job = {
    id: "build",
    name: "Build",
    needs: [],
    steps: [first, { name: "last", uses: "hello" }],
  };
  const events: RunEvent[] = [
    runStarted([], { jobs: [job] }),
    jobStarted("build"),
    ...ran.map((entry) =>
      stepFinished({ job: "build", step: 0, ...entry === undefined ? {} : { entry } }, "each")
    ),
    jobEnd,
    end,
  ];
  const recorder = new Recorder({ keeps: "everything", tool: { name: "runner", version: "1" } });
  for (const event of events) recorder.take(event);
  return suitesOf(recorder.records()).flatMap(({ cases }) =>
    cases.map(({ name, outcome }) => `${name}: ${outcome}`)
  );
}

const EACH: StepOutline = { name: "each", uses: "http" };
const LAST = "last: skipped";

Deno.test("each run of a step is a case, and so is a step that did not run", () => {
  assertEquals(casesOf(EACH, [undefined]), ["each: passed", LAST]);
  assertEquals(casesOf(EACH, []), ["each: skipped", LAST]);
});

Deno.test("entries of a known number are counted whether they ran or not", () => {
  assertEquals(casesOf({ ...EACH, entries: 3 }, [0, 2]), [
    "each (entry 1): passed",
    "each (entry 2): skipped",
    "each (entry 3): passed",
    LAST,
  ]);
});

Deno.test("entries of a number that is only known at run time are those that ran", () => {
  const all = Array.from({ length: 3 }, (_, entry) => `each (entry ${entry + 1}): passed`);
  assertEquals(casesOf(EACH, [0, 1, 2]), [...all, LAST]);
});

Deno.test("a job or a run that failed between two steps has a case that says so", () => {
  const end = runFinished({ state: "failed", interrupted: "--strict: 1 warning" });
  const steps = ["each: passed", LAST];
  assertEquals(casesOf(EACH, [undefined], end), [...steps, "workflow Shop: failed"]);
  const jobEnd = jobFinished("build", { state: "failed" });
  assertEquals(casesOf(EACH, [undefined], end, jobEnd), [...steps, "job Build: failed"]);
});

Deno.test("a suite that failed although no workflow did has a case that says so", () => {
  const head = { runId: "s", time: 0, hash: "" };
  const steps = { passed: 1, failed: 0, skipped: 0, untested: 0, allowed: 0 };
  const recorder = new Recorder({ keeps: "everything", tool: { name: "runner", version: "1" } });
  const events: RunEvent[] = [
    { ...head, type: "suite_started", workflows: 1 },
    runStarted(["build"], { suite: { id: "s", index: 0 } }),
    jobStarted("build"),
    stepFinished({ job: "build", step: 0 }, "each"),
    jobFinished("build"),
    runFinished(),
    {
      ...{ ...head, type: "suite_finished", duration: 1, steps },
      ...{ state: "failed", interrupted: "interrupted by SIGINT" },
      workflows: { passed: 1, failed: 0, skipped: 0 },
    },
  ];
  for (const event of events) recorder.take(event);
  const [suite] = suitesOf(recorder.records(), recorder.suite());
  assertEquals(suite?.cases.map(({ name, outcome }) => `${name}: ${outcome}`), [
    "each: passed",
    "suite: failed",
  ]);
  assertEquals(suite?.cases[1]?.failures.map(({ message }) => message), ["interrupted by SIGINT"]);
});

/** Names that are alike, or nothing at all, without what some formats have no place for. */
const STRANGE = [
  "a",
  "a\0",
  "a\x01",
  "a (2)",
  "b\ud800",
  "b\udc00",
  "b\ufffd",
  "c\ufffe",
  "c",
  "\x01",
  "\x02",
  "\uffff",
];

interface Element {
  readonly name: string;
  readonly classname: string;
  readonly testcase: readonly Element[];
}

Deno.test("names that differ only in characters XML forbids stay distinct and are never empty", async () => {
  const names = STRANGE.map((_, index) => `{{vars.names[${index}]}}`);
  const steps = names.map((name) => ({ name, uses: "hello", test: "true" }));
  const jobs = names.map((name) => ({ name, steps }));
  const { reports } = await runReports({
    "w.yml": JSON.stringify({ name: "n", vars: { names: STRANGE }, jobs })
      .replace(/[\ufffe\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`),
  });
  const { junit, tap } = await readReports({
    junit: [reports["junit.xml"]!],
    tap: [reports["report.tap"]!],
  });
  const [{ testsuite: suites }] = junit as [{ testsuite: readonly Element[] }];
  const inJunit = suites.flatMap(({ testcase }) => testcase);
  assertEquals(new Set(suites.map(({ name }) => name)).size, STRANGE.length);
  const whole = inJunit.map(({ classname, name }) => `${classname} › ${name}`);
  assertEquals(new Set(whole).size, STRANGE.length ** 2);
  // deno-lint-ignore no-explicit-any
  const inTap = (tap as any)[0].tests as readonly { name: string }[];
  for (const { name } of [...suites, ...inJunit, ...inTap]) assert(name.trim() !== "");
});

Deno.test("a name that comes out empty is the id of the job, and the action of the step", async () => {
  const { stdout, reports } = await runReports({
    "w.yml": `name: n
vars: { empty: "", blank: " " }
jobs:
  - { name: "{{vars.empty}}", steps: [{ name: "{{vars.empty}}", uses: hello }] }
  - { name: "{{vars.blank}}", id: second, steps: [{ name: "{{vars.blank}}", uses: hello }] }
`,
  });
  assertEquals(
    JSON.parse(reports["ctrf.json"]!).results.tests.map(({ name }: { name: string }) => name),
    ["job_0 › hello", "second › hello"],
  );
  assert(stdout.includes("● job_0\n   1. ○ hello\n"), stdout);
});
