import { assert, assertEquals } from "@std/assert";
import { loadStyle, PLAIN } from "../../../src/report/reporter.ts";
import type { Attempt, Failure, RunEvent, StepResult, StepRun } from "../../../src/run/event.ts";
import {
  eventByEvent,
  falseTest,
  inner,
  jobFinished,
  jobStarted,
  LATE,
  NOON,
  reportOf,
  runFinished,
  runStarted,
  stepFinished,
  stepStarted,
} from "../events.ts";
import { quietReport, textReport } from "../../../src/report/text/text_report.ts";

const COLOURED = await loadStyle(true);

function textOf(events: readonly RunEvent[], timing = false): string {
  return reportOf(textReport({ timing, style: PLAIN, late: LATE }), events);
}

const run = (step: number, changes: Partial<StepRun> = {}): StepRun => ({
  job: "build",
  step,
  ...changes,
});

function attempt(number: number, outcome: Attempt["outcome"], message?: string): Attempt {
  const attempt = { number, started: NOON, duration: 5, outcome };
  return message === undefined ? attempt : { ...attempt, message };
}

/** The report of the steps of one job, without the text around it. */
function stepsText(results: readonly (readonly [string, Partial<StepResult>])[], timing = false) {
  const steps = results.map(([name, changes], step) => stepFinished(run(step), name, changes));
  const text = textOf([runStarted(["build"]), jobStarted("build"), ...steps], timing);
  assert(text.startsWith("Shop\n\n● Build\n"));
  return text.slice("Shop\n\n● Build\n".length);
}

Deno.test("textReport() reports a whole run", () => {
  const exchange = {
    req: { method: "GET", url: "http://localhost/items" },
    res: { code: 200, status: "200 OK", body: { total: 2 } },
    view: {
      request: { title: "GET http://localhost/items", covered: ["method", "url"] },
      response: { title: "200 OK", covered: ["code", "status"], asJson: ["body"] },
    },
  };
  const events: RunEvent[] = [
    runStarted(["build", "deploy"], { description: "Everything\nfor sale\n" }),
    jobStarted("build"),
    stepStarted(run(0), "compile"),
    stepFinished(run(0), "compile"),
    stepFinished(run(1), "warm up", { state: "untested" }),
    stepFinished(run(2), "wait for it", {
      wait: 100,
      maxAttempts: 5,
      attempts: [attempt(1, "failed", "HTTP 503"), attempt(2, "passed")],
      echo: "\nfirst\n\n  second  \n",
    }),
    stepFinished(run(3), "check the total", {
      state: "failed",
      maxAttempts: 2,
      attempts: [attempt(1, "failed", "test is false"), attempt(2, "failed", "test is false")],
      failures: [falseTest(), {
        kind: "expression",
        field: "outputs.id",
        message: "no such field",
      }],
      exchange,
    }),
    stepFinished(run(4), "clean up", { state: "skipped", reason: "skipif is true" }),
    jobFinished("build", { state: "failed" }),
    jobFinished("deploy", { state: "skipped", reason: 'needs "build", which failed' }),
    runFinished({
      state: "failed",
      jobs: { passed: 0, failed: 1, skipped: 1 },
      steps: { passed: 2, failed: 1, skipped: 1, untested: 1, allowed: 0 },
    }),
  ];
  assertEquals(
    textOf(events),
    `Shop
Everything
for sale

● Build
   1. ✓ compile
   2. ○ warm up
   3. ✓ wait for it (after 100ms) ↻ 2/5
        first

          second
   4. ✗ check the total ↻ 2/2
        api.yml:14:11: test is false
          14 |     test: res.body.total == 3
             |           ^^^^^^^^^^^^^^^^^^^
        res.body.total is 2 (int)
        no such field
        attempts: 1–2 test is false
        request:
          GET http://localhost/items
        response:
          200 OK
          body: {"total": 2}
   5. - clean up (skipped: skipif is true)
✗ Build 120ms

- Deploy (skipped: needs "build", which failed)

Failures
  1. Build › check the total   api.yml:14:11
     test is false: res.body.total is 2 (int); outputs.id: no such field

Jobs       1 failed · 1 skipped (2)
Steps      2 passed · 1 failed · 1 skipped · 1 not tested (5)
Time       1.1s
`,
  );
});

Deno.test("textReport() is short about a run that went well", () => {
  const events = [
    runStarted(["build"]),
    jobStarted("build"),
    stepFinished(run(0), "compile"),
    jobFinished("build"),
    runFinished(),
  ];
  assertEquals(
    textOf(events),
    `Shop

● Build
   1. ✓ compile
✓ Build 120ms

Jobs       1 passed (1)
Steps      1 passed (1)
Time       1.1s
`,
  );
});

Deno.test("textReport() gives a job that was skipped after its start one line", () => {
  const events = [
    runStarted(["build"]),
    jobStarted("build"),
    jobFinished("build", { state: "skipped", reason: "skipif is true: vars.off" }),
    runFinished({ jobs: { passed: 0, failed: 0, skipped: 1 } }),
  ];
  assertEquals(
    textOf(events),
    `Shop

- Build (skipped: skipif is true: vars.off)

Jobs       1 skipped (1)
Steps      1 passed (1)
Time       1.1s
`,
  );
});

Deno.test("textReport() shows why a job failed outside its steps", () => {
  const failure = { kind: "expression", field: "skipif", message: "unknown name" } as const;
  const events = [
    runStarted(["build"]),
    jobStarted("build"),
    jobFinished("build", { state: "failed", failures: [failure] }),
    runFinished({ state: "failed", jobs: { passed: 0, failed: 1, skipped: 0 } }),
  ];
  assertEquals(
    textOf(events),
    `Shop

● Build
    unknown name
✗ Build 120ms

Failures
  1. Build
     skipif: unknown name

Jobs       1 failed (1)
Steps      1 passed (1)
Time       1.1s
`,
  );
});

Deno.test("textReport() says that a run was interrupted", () => {
  const events = [
    runStarted([]),
    runFinished({
      state: "failed",
      interrupted: "interrupted by Ctrl-C",
      jobs: { passed: 0, failed: 1, skipped: 2 },
    }),
  ];
  assertEquals(
    textOf(events),
    `Shop

Jobs       1 failed · 2 skipped (3)
Steps      1 passed (1)
Reason     interrupted by Ctrl-C
Time       1.1s
`,
  );
});

Deno.test("textReport() numbers each entry of an iteration", () => {
  const entries = Array.from(
    { length: 11 },
    (_, entry) => stepFinished(run(0, { entry }), `entry ${entry}`),
  );
  const text = textOf([
    runStarted(["build"]),
    jobStarted("build"),
    ...entries,
    stepFinished(run(1), "last"),
  ]);
  const lines = text.split("\n");
  assertEquals(lines.slice(2, 4), ["● Build", "   1. ✓ entry 0"]);
  assertEquals(lines.slice(-3), ["  11. ✓ entry 10", "  12. ✓ last", ""]);
});

Deno.test("textReport() shows start and response time with --timing", () => {
  assertEquals(
    stepsText([
      ["fast", {}],
      ["never answered", { state: "untested", responseTime: 1250 }],
      ["skipped", { state: "skipped" }],
    ], true),
    `   1. ✓ fast (@12:00:00.789 6.5ms)
   2. ○ never answered (@12:00:00.789 1.3s)
   3. - skipped (skipped)
`,
  );
});

Deno.test("textReport() shows retries and attempts only where a step has them", () => {
  assertEquals(
    stepsText([
      ["at once", { maxAttempts: 3, attempts: [attempt(1, "passed")] }],
      ["skipped", { state: "skipped", maxAttempts: 3, attempts: [] }],
      ["plain", {}],
    ]),
    "   1. ✓ at once\n   2. - skipped (skipped)\n   3. ✓ plain\n",
  );
});

Deno.test("textReport() adds colours and nothing else when it has a style", () => {
  const events = [
    runStarted(["build"], { description: "about" }),
    jobStarted("build"),
    stepFinished(run(0), "bad", { state: "failed", failures: [falseTest()], echo: "echo" }),
    stepFinished(run(1), "off", { state: "skipped" }),
    jobFinished("build", { state: "failed" }),
    runFinished({ state: "failed", jobs: { passed: 0, failed: 1, skipped: 0 } }),
  ];
  const coloured = reportOf(textReport({ timing: true, style: COLOURED, late: LATE }), events);
  assert(coloured.includes("\x1b[31m✗\x1b[39m"));
  // deno-lint-ignore no-control-regex
  assertEquals(coloured.replace(/\x1b\[\d+m/g, ""), textOf(events, true));
  for (const line of coloured.split("\n")) {
    // deno-lint-ignore no-control-regex
    const codes = [...line.matchAll(/\x1b\[(\d+)m/g)].map(([, code]) => Number(code));
    assertEquals(codes.length % 2, 0, `each colour ends on its line: ${JSON.stringify(line)}`);
  }
});

Deno.test("textReport() lists no more failures again than anybody reads", () => {
  const steps = Array.from(
    { length: 150 },
    (_, step) => stepFinished(run(step), `step ${step}`, { state: "failed", failures: [] }),
  );
  const lines = textOf([
    runStarted(["build"]),
    jobStarted("build"),
    ...steps,
    jobFinished("build", { state: "failed" }),
    runFinished({ state: "failed" }),
  ]).split("\n");
  const list = lines.slice(lines.indexOf("Failures") + 1);
  assertEquals(list[99], "100. Build › step 99");
  assertEquals(list[100], "     … (50 more failures above)");
});

Deno.test("textReport() stays within a terminal, whose size may change", () => {
  let columns = 40;
  const report = eventByEvent(
    textReport({ timing: false, style: PLAIN, late: LATE, columns: () => columns }),
  );
  const message = "cannot read what the server at the other end of the line has sent";
  const failed: Partial<StepResult> = {
    state: "failed",
    failures: [{ ...falseTest(), message }],
    exchange: { req: null, res: { body: "long ".repeat(40) } },
  };
  for (const wide of [40, 30, 60]) {
    columns = wide;
    const text = report(stepFinished({ job: "a", step: 0 }, "s", failed)) +
      report(jobFinished("a", { state: "failed", failures: failed.failures! })) +
      report(runFinished());
    assertEquals(text.split("\n").filter((line) => line.length > wide), []);
  }
});

const refused: Failure = { kind: "action", field: "uses", message: "connection refused" };
const embedded: Failure = { kind: "embedded", field: "with.path", message: "a.yml failed" };
const failed = (...failures: Failure[]): Partial<StepResult> => ({ state: "failed", failures });
const fetchRun = { job: "build", step: 0 };
const load = (round: number) => ({ job: "load", step: 0, round });

const rows: readonly [what: string, events: readonly RunEvent[], text: string][] = [
  [
    "nothing of what went well",
    [
      stepStarted(fetchRun, "fetch"),
      stepFinished(fetchRun, "fetch", { echo: "hello", flaky: true }),
      stepFinished({ ...fetchRun, step: 1 }, "not now", {
        state: "skipped",
        reason: "skipif is true",
      }),
      jobFinished("build"),
    ],
    "",
  ],
  [
    "a step that failed",
    [
      stepFinished(fetchRun, "fetch\nit", failed(refused)),
      jobFinished("build", { state: "failed" }),
    ],
    "✗ Build › fetch it\n  connection refused\n\n",
  ],
  [
    "a job that failed by itself",
    [jobFinished("build", { name: "Build", state: "failed", failures: [refused] })],
    "✗ Build\n  connection refused\n\n",
  ],
  [
    "steps of an embedded job in place of the one that embeds it, of the last attempt alone",
    [
      stepFinished(inner(fetchRun), "inside", failed(refused)),
      {
        type: "step_retried",
        runId: "r",
        time: NOON,
        run: fetchRun,
        of: 2,
        attempt: { number: 1, started: NOON, duration: 1, outcome: "failed" },
      },
      stepFinished(inner(fetchRun), "inside", failed(refused)),
      stepFinished(inner(fetchRun, 1), "fine"),
      stepFinished(fetchRun, "around", failed(embedded)),
    ],
    "✗ Build › around › inside\n  connection refused\n\n",
  ],
  [
    "rounds once for each kind of failure, when the job has ended",
    [
      jobStarted("load", { rounds: 4 }),
      stepFinished(load(0), "ping", failed(refused)),
      stepFinished(load(1), "ping"),
      stepFinished(load(2), "ping", failed(refused)),
      stepFinished(load(3), "ping", failed({ ...refused, message: "timed out" })),
      jobFinished("load", { state: "failed" }),
    ],
    `✗ Load › ping: failed 2 times, first at repeat_index 0
  connection refused

✗ Load › ping: failed once, at repeat_index 3
  timed out

`,
  ],
  [
    "that rounds failed in more ways than it keeps",
    [
      jobStarted("load", { rounds: 12 }),
      ...Array.from(
        { length: 12 },
        (_, round) =>
          stepFinished(load(round), "ping", failed({ ...refused, message: "x".repeat(round) })),
      ),
      jobFinished("load", { state: "failed" }),
    ],
    Array.from(
      { length: 10 },
      (_, at) => `✗ Load › ping: failed once, at repeat_index ${at}\n  ${"x".repeat(at)}\n\n`,
    ).join("").replace("\n  \n", "\n\n") + "✗ Load › ping: 2 other failures\n\n",
  ],
];
for (const [what, events, text] of rows) {
  Deno.test(`quietReport() reports ${what}`, () => {
    const report = quietReport({ timing: false, style: PLAIN, late: LATE });
    assertEquals(reportOf(report, [runStarted(["build", "load"]), ...events]), text);
  });
}

Deno.test("quietReport() ends with the summary, and says why a run was interrupted", () => {
  const text = reportOf(quietReport({ timing: false, style: PLAIN, late: LATE }), [
    runStarted(["build"]),
    stepFinished(
      fetchRun,
      "fetch",
      failed({ ...falseTest(), kind: "interrupted", message: "stop" }),
    ),
    runFinished({
      state: "failed",
      interrupted: "interrupted by SIGINT",
      jobs: { passed: 0, failed: 1, skipped: 0 },
    }),
  ]);
  assertEquals(text.split("\n").slice(-6), [
    "✗ Shop",
    "Jobs       1 failed (1)",
    "Steps      1 passed (1)",
    "Reason     interrupted by SIGINT",
    "Time       1.1s",
    "",
  ]);
});
