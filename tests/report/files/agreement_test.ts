import { assert, assertEquals } from "@std/assert";
import { readReports } from "../../support/programs/read_reports.ts";
import { runReports } from "../../support/run/run_reports.ts";
import { RICH_FILES } from "./rich_run.ts";

/** A run of rounds, some of them flaky, that fails and has steps without a test. */
const ROUNDS = `name: Rounds
jobs:
  - name: side by side
    repeat: { count: 12, async: true }
    steps:
      - { name: ask, uses: http, with: { get: "{url}/x" }, test: repeat_index != 3 }
      - { name: no test, uses: http, with: { get: "{url}/status/200" } }
      - { name: some, uses: hello, skipif: repeat_index < 5, test: repeat_index < 10 }
      - name: flaky
        uses: http
        with: { get: "{url}/flaky/{{repeat_index % 4}}/2" }
        test: res.code == 200
        retry: { max_attempts: 3 }
  - { name: not at all, repeat: { count: 0 }, steps: [{ uses: hello }] }
  - { name: once, repeat: { count: 1 }, steps: [{ uses: hello, test: "true" }] }
`;

/** A run that its time ends, in the middle of a job. */
const CUT_OFF = `name: Cut off
jobs:
  - { name: good, id: good, steps: [{ uses: hello, test: "true" }] }
  - name: hangs
    id: hangs
    needs: [good]
    steps: [{ uses: http, with: { get: "{url}/hang" } }, { uses: hello, iteration: [{}, {}] }]
  - { name: later, needs: [hangs], steps: [{ uses: hello }] }
`;

/** Embedded jobs in rounds and entries, skipped steps, and jobs that are blocked. */
const EMBEDDED = {
  "w.yml": `name: Embedded
jobs:
  - name: often
    id: often
    repeat: { count: 3 }
    steps:
      - { name: inner, uses: embedded, with: { path: in.yml }, vars: { round: "{{repeat_index}}" } }
      - { name: each, uses: embedded, with: { path: in.yml }, iteration: [{ round: 1 }, { round: 2 }] }
      - { name: off, uses: hello, skipif: "true" }
  - { name: blocked, needs: [often], steps: [{ uses: hello }, { uses: embedded, with: { path: in.yml } }] }
`,
  "in.yml": `name: inner
steps:
  - { name: good, uses: hello, test: "true" }
  - { name: no test, uses: hello }
  - { name: odd, uses: hello, test: vars.round != 1 }
  - { name: off, uses: hello, skipif: "true" }
`,
};

/** Cleanup of jobs and of the workflow, failed conditions, and missing data. */
const CLEANUP = `name: Cleanup
vars: { none: [] }
jobs:
  - name: stops
    id: stops
    on_failure: stop
    steps: [{ uses: hello, test: "false" }, { uses: hello }, { uses: hello, iteration: [{}, {}] }]
    finally: [{ uses: hello, test: "false" }, { uses: hello, test: "true" }]
  - { name: blocked, id: blocked, needs: [stops], steps: [{ uses: hello }], finally: [{ uses: hello }] }
  - { name: broken, skipif: outputs.nothing.here, steps: [{ uses: hello }, { uses: hello }] }
  - { name: anyway, needs: [blocked], when: always, steps: [{ uses: hello, iteration: "{{vars.none}}" }] }
  - name: in parallel
    steps: [{ uses: hello, test: vars.n != 2, iteration: { list: [{ n: 1 }, { n: 2 }, { n: 3 }], parallel: 2 } }]
finally: [{ uses: hello, test: run.failed == 3 }]
`;

/** Rounds that start at a pace and are interrupted before all have started. */
const CUT_OFF_ROUNDS = `name: Cut off in rounds
jobs:
  - name: at a pace
    repeat: { count: 50, interval: 200ms, async: true }
    steps: [{ uses: http, with: { get: "{url}/hang" } }, { uses: hello }]
  - { name: in turn, repeat: { count: 9 }, steps: [{ uses: hello, wait: 400ms }, { uses: hello }] }
`;

const RUNS: readonly (readonly [
  title: string,
  files: Readonly<Record<string, string>>,
  env?: Readonly<Record<string, string>>,
])[] = [
  ["everything", RICH_FILES],
  ["rounds", { "w.yml": ROUNDS }],
  ["embedded jobs", EMBEDDED],
  ["cleanup", { "w.yml": CLEANUP }],
  ["cut off", { "w.yml": CUT_OFF }, { RUNNER_TIMEOUT: "2s" }],
  ["cut off in rounds", { "w.yml": CUT_OFF_ROUNDS }, { RUNNER_TIMEOUT: "1s" }],
  ["good", { "w.yml": 'name: n\njobs: [{ name: j, steps: [{ uses: hello, test: "true" }] }]\n' }],
];

// deno-lint-ignore no-explicit-any
type Json = any;

for (const [title, files, env = {}] of RUNS) {
  Deno.test(`all reports of one run show the same numbers: ${title}`, async () => {
    const reported = await reportRun(files, env);
    assertEquals(reported.code, reported.end.state === "passed" ? 0 : 1);
    assertStepsAgree(reported);
    assertCasesAgree(reported);
    assertTimesAgree(reported);
  });
}

interface ReportedRun {
  readonly code: number;
  readonly stdout: string;
  readonly reports: Readonly<Record<string, string>>;
  readonly events: readonly Json[];
  /** The last event. */
  readonly end: Json;
  /** The report in JSON, and its steps, each before those inside of it. */
  readonly document: Json;
  readonly steps: readonly Json[];
  readonly ctrf: Json;
  readonly junit: Json;
  /** The cases of TAP and of JUnit, in the order of the tests of CTRF. */
  readonly points: readonly Json[];
  readonly cases: readonly Json[];
}

async function reportRun(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Promise<ReportedRun> {
  const { code, stdout, reports } = await runReports(files, { env });
  const events = reports["events.ndjson"]!.trimEnd().split("\n").map((one) => JSON.parse(one));
  const document = JSON.parse(reports["report.json"]!);
  const read = await readReports({
    junit: [reports["junit.xml"]!],
    tap: [reports["report.tap"]!],
  });
  const [junit] = read.junit as [Json];
  const [tap] = read.tap as [Json];
  assertEquals(
    tap.tests.map(({ ok }: Json) => ok),
    document.jobs.map(({ state }: Json) => state !== "failed"),
  );
  return {
    ...{ code, stdout, reports, events, end: events.at(-1), document, junit },
    steps: document.jobs.flatMap(({ steps }: Json) => steps.flatMap(withInside)),
    ctrf: JSON.parse(reports["ctrf.json"]!).results,
    points: tap.tests.flatMap(({ child }: Json) => child?.tests ?? []),
    cases: junit.testsuite.flatMap(({ testcase = [] }: Json) => testcase),
  };
}

/** The text, the page, the document and the events count steps and jobs. */
function assertStepsAgree({ events, end, document, stdout, reports }: ReportedRun): void {
  const results = events.filter(({ type, run }) => type === "step_finished" && !run.within)
    .map(({ result }) => result);
  const jobs = events.filter(({ type }) => type === "job_finished");
  const ended = countStates(results, end.steps);
  // Steps that never began have no event.
  assertEquals({ ...end.steps, skipped: ended.skipped }, ended);
  assertEquals(end.jobs, countStates(jobs, end.jobs));
  assertEquals(end.flaky, results.filter(({ flaky }) => flaky).length);
  const { totals, state } = document;
  assertEquals(
    [state, totals.jobs, totals.steps, totals.flaky],
    [end.state, end.jobs, end.steps, end.flaky],
  );
  assertEquals(numbersIn(/^Steps +(.*)$/m.exec(stdout)![1]!), stepNumbers(end));
  assertEquals(numbersIn(/^Jobs +(.*)$/m.exec(stdout)![1]!), jobNumbers(end));
  for (const [noun, counts] of [["job", end.jobs], ["step", end.steps]] as const) {
    const item = new RegExp(`<li>(\\d+) ${noun}s?: (.*?)</li>`).exec(reports["report.html"]!)!;
    assertEquals(Number(item[1]), sum(Object.values<number>(counts)));
    for (const [name, count] of Object.entries(counts)) {
      const shown = new RegExp(`class="${name}">(\\d+)`).exec(item[2]!)?.[1] ?? "0";
      assertEquals(Number(shown), count, `${noun}s: ${name}`);
    }
  }
}

/** Returns the numbers of steps in a sentence about a run. */
function stepNumbers({ steps, flaky }: Json): Record<string, number> {
  return {
    ...ifAny("passed", steps.passed),
    ...ifAny("failed", steps.failed),
    ...ifAny("allowed", steps.allowed),
    ...ifAny("skipped", steps.skipped),
    ...ifAny("not tested", steps.untested),
    ...ifAny("flaky", flaky),
    all: sum(Object.values<number>(steps)),
  };
}

function jobNumbers({ jobs: { passed, failed, skipped } }: Json): Record<string, number> {
  return {
    ...ifAny("passed", passed),
    ...ifAny("failed", failed),
    ...ifAny("skipped", skipped),
    all: passed + failed + skipped,
  };
}

/** JUnit, TAP, CTRF and Markdown count steps as the text does, and jobs that failed by themselves. */
function assertCasesAgree(
  { events, end, document, ctrf: { summary, tests }, junit, points, cases, reports }: ReportedRun,
): void {
  const broken = events.filter(({ type, failures }) =>
    type === "job_finished" && failures.length > 0
  );
  const failed = end.steps.failed + broken.length;
  assertEquals(countRuns(tests), { ...end.steps, failed });
  assertEquals(
    [summary.tests, summary.flaky],
    [tests.length, tests.filter(({ flaky }: Json) => flaky).length],
  );
  assertEquals(
    document.jobs.flatMap(({ steps, tally }: Json) => tally?.steps ?? steps).length,
    tests.filter(({ type }: Json) => type !== undefined).length,
  );
  const comments = Object.fromEntries(
    [...reports["report.tap"]!.matchAll(/^# (passed|failed|allowed|skipped|not tested) (\d+)$/gm)]
      .map(([, name, count]) => [name, Number(count)]),
  );
  assertEquals(comments, {
    ...ifAny("passed", end.steps.passed),
    ...ifAny("failed", failed),
    ...ifAny("allowed", end.steps.allowed),
    ...ifAny("skipped", end.steps.skipped),
    ...ifAny("not tested", end.steps.untested),
  });
  for (const [name, state] of [["not_tested", "untested"], ["allowed", "allowed"]] as const) {
    const found = junit.testsuite.flatMap(({ properties = [] }: Json) =>
      properties.filter((property: Json) => property.name === name)
    );
    const marked = cases.map(({ properties = [] }: Json) => {
      const values = Object.fromEntries(properties.map(({ name, value }: Json) => [name, value]));
      const isTallied = properties.some(({ name }: Json) => name.startsWith("rounds_"));
      return isTallied ? values[`rounds_${state}`] ?? 0 : values[state] === undefined ? 0 : 1;
    });
    assertEquals(sum(found.map(({ value }: Json) => value)), sum(marked));
  }
  assertEquals(
    [summary.passed, summary.failed, summary.skipped, summary.other],
    ["passed", "failed", "skipped", "other"].map((outcome) =>
      tests.filter(({ status }: Json) => status === outcome).length
    ),
  );
  assertJunitCounts(junit, cases);
  assertEquals(
    points.map(({ ok, skip, diag }) => [outcomeOf(ok, skip), diag?.flaky === true]),
    tests.map(({ status, flaky = false }: Json) => [goodIfOther(status), flaky]),
  );
  assertEquals(
    cases.map((one) => outcomeOf(!(one.failure || one.error), one.skipped ?? false)),
    tests.map(({ status }: Json) => goodIfOther(status)),
  );
  const markdown = reports["summary.md"]!;
  assertEquals(numbersIn(/ Steps: (.*?) —/.exec(markdown)![1]!), stepNumbers(end));
  assertEquals(numbersIn(/^Jobs: (.*?) —/m.exec(markdown)![1]!), jobNumbers(end));
  const rows = [...markdown.matchAll(/^\| \S+ \| .* \| (\d+) \| (\d+) \| (\d+) \|/gm)];
  assertEquals(
    [1, 2, 3].map((column) => sum(rows.map((row) => Number(row[column])))),
    [sum(Object.values<number>(end.steps)), end.steps.failed, end.steps.skipped],
  );
}

/** JUnit counts its own cases. */
function assertJunitCounts(junit: Json, cases: readonly Json[]): void {
  const failed = cases.filter((one) => one.failure || one.error);
  const skipped = cases.filter((one) => one.skipped);
  assertEquals(
    [junit.tests, junit.failures + junit.errors, junit.skipped],
    [cases.length, failed.length, skipped.length],
  );
}

/** The runs of steps by state: those of a job that repeats are one test, with their numbers. */
function countRuns(tests: readonly Json[]): Json {
  const counts: Record<string, number> = {};
  for (const { status, rawStatus, extra } of tests) {
    const state = status !== "other" ? status : rawStatus === "allowed" ? rawStatus : "untested";
    for (const [name, count] of Object.entries<number>(extra?.rounds ?? { [state]: 1 })) {
      counts[name] = (counts[name] ?? 0) + count;
    }
  }
  return { passed: 0, failed: 0, skipped: 0, untested: 0, allowed: 0, ...counts };
}

/** Formats that know but good and bad. */
function goodIfOther(status: string): string {
  return status === "other" ? "passed" : status;
}

/** Each in the unit of its format. */
function assertTimesAgree(
  { end, document, steps, ctrf: { summary, tests }, junit, points, cases, reports }: ReportedRun,
): void {
  const page = JSON.parse(
    /<script id="data"[^>]*>(.*?)<\/script>/s.exec(reports["report.html"]!)![1]!,
  );
  assertEquals(
    [document.duration, page.duration, summary.duration, junit.time],
    [end.duration, end.duration, Math.round(end.duration), inSeconds(end.duration)],
  );
  for (const [index, { name, state, duration }] of document.jobs.entries()) {
    assertEquals(junit.testsuite[index].time, inSeconds(duration), name);
    const job = page.jobs[index];
    assertEquals([job.name, job.state, job.duration], [name, state, duration]);
  }
  assertEquals(
    page.steps.map((
      { name, state, duration }: Json,
    ) => [name.replace(/ \((?:repeat_index|entry) .*\)$/, ""), state, duration]),
    steps.map(({ name, state, duration }) => [name, state, duration]),
  );
  const ran = [...tests.keys()].filter((index) => tests[index].start !== undefined);
  assertEquals(
    ran.map((index) => [tests[index].duration, points[index].time ?? undefined]),
    document.jobs.flatMap(({ tally, steps }: Json) => tally ? [] : steps).map((
      { duration, state }: Json,
    ) => [
      Math.round(duration),
      state === "skipped" ? undefined : duration,
    ]),
  );
  assertEquals(
    cases.map(({ time }) => Math.round(time * 1000)),
    tests.map(({ duration }: Json) => duration),
  );
}

function countStates(of: readonly Json[], like: Readonly<Record<string, number>>): Json {
  return Object.fromEntries(
    Object.keys(like).map((name) => [name, of.filter(({ state }) => state === name).length]),
  );
}

function withInside(step: Json): Json[] {
  return [step, ...(step.inside ?? []).flatMap(withInside)];
}

function outcomeOf(ok: boolean, skip: unknown): string {
  return skip !== false ? "skipped" : ok ? "passed" : "failed";
}

/** Empty if there is none. */
function ifAny(what: string, count: number): Record<string, number> {
  return count === 0 ? {} : { [what]: count };
}

/** The numbers of a row by what they count: `2 passed, 1 flaky · 1 not tested (3)`. */
function numbersIn(row: string): Record<string, number> {
  const counts = row.matchAll(/(\d+) (passed|failed|allowed|skipped|not tested|flaky)\b/g);
  return {
    ...Object.fromEntries(Array.from(counts, ([, count, what]) => [what, Number(count)])),
    all: Number(/\((\d+)\)$/.exec(row)![1]),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function inSeconds(milliseconds: number): number {
  return Math.round(milliseconds) / 1000;
}

Deno.test("all reports of a suite show the sums of its runs", async () => {
  const files = {
    "flows/rounds.yml": ROUNDS,
    "flows/cleanup.yml": CLEANUP,
    "flows/skipped.yml": 'name: s\njobs: [{ name: s, skipif: "true", steps: [{ uses: hello }] }]\n',
  };
  const { stdout, reports } = await runReports(files, {
    args: ["--no-check", "--report-dir", "reports", "flows"],
  });
  const events: Json[] = reports["events.ndjson"]!.trimEnd().split("\n").map((one) =>
    JSON.parse(one)
  );
  const runs = events.filter(({ type }) => type === "run_finished");
  const end = events.at(-1);
  const total = Object.fromEntries(
    Object.keys(end.steps).map((state) => [state, sum(runs.map(({ steps }) => steps[state]))]),
  ) as Record<string, number>;
  assertEquals(end.steps, total);
  const all = sum(Object.values(total));
  assertEquals(/^Steps .* \((\d+)\)$/m.exec(stdout)?.[1], String(all));
  const document = JSON.parse(reports["report.json"]!);
  assertEquals(document.totals.steps, total);
  const broken =
    events.filter(({ type, failures }) => type === "job_finished" && failures.length > 0).length;
  const { summary, tests } = JSON.parse(reports["ctrf.json"]!).results;
  assertEquals(countRuns(tests), { ...total, failed: total.failed! + broken });
  const junit = /<testsuites [^>]*tests="(\d+)" failures="(\d+)" errors="(\d+)" skipped="(\d+)"/
    .exec(reports["junit.xml"]!)!.slice(1).map(Number);
  assertEquals(
    [junit[0], junit[1]! + junit[2]!, junit[3]],
    [summary.tests, summary.failed, summary.skipped],
  );
  for (const [name, count] of [["passed", total.passed], ["not tested", total.untested]]) {
    assert(reports["report.tap"]!.includes(`# ${name} ${count}\n`));
  }
  const rows = [...reports["report.html"]!.matchAll(/<td class="number">(\d+)<\/td><td/g)];
  assertEquals(sum(rows.map(([, count]) => Number(count))), all);
});
