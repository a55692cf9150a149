import { assertEquals } from "@std/assert";
import { PLAIN } from "../../../src/report/reporter.ts";
import { textReport } from "../../../src/report/text/text_report.ts";
import {
  falseTest,
  jobFinished,
  jobStarted,
  reportOf,
  runStarted,
  stepFinished,
} from "../events.ts";

const step = (job: string, index: number, more = {}) =>
  stepFinished({ job, step: index }, `${job} ${index}`, more);
const failed = { state: "failed", failures: [falseTest()] } as const;
const skipped = { state: "skipped", reason: "not needed" } as const;

/** Returns the text that each event after the first adds to the report. */
function added(...events: Parameters<typeof reportOf>[1] extends Iterable<infer E> ? E[] : never) {
  const report = textReport({ timing: false, style: PLAIN });
  reportOf(report, [runStarted(["api", "web", "off"])]);
  return events.map((event) => report.report(event));
}

Deno.test("a job that runs alone writes its steps at once, below its name", () => {
  assertEquals(
    added(jobStarted("api"), step("api", 0), step("api", 1, failed), jobFinished("api")),
    [
      "",
      "● Api\n   1. ✓ api 0\n",
      `   2. ✗ api 1
        api.yml:14:11: test is false
          14 |     test: res.body.total == 3
             |           ^^^^^^^^^^^^^^^^^^^
        res.body.total is 2 (int)
`,
      "  Completed in 120ms\n\n",
    ],
  );
});

Deno.test("an exchange that is the same as that of the step before is shown once", () => {
  const exchangeOf = (code: number) => ({
    req: { method: "GET", url: "http://localhost/" },
    res: { code, reason: "none" },
  });
  const failedWith = (code: number) => ({ ...failed, exchange: exchangeOf(code) });
  const texts = added(
    jobStarted("api"),
    step("api", 0, failedWith(500)),
    step("api", 1),
    step("api", 2, failedWith(500)),
    step("api", 3, failedWith(404)),
    jobStarted("web"),
    step("web", 0, failedWith(404)),
    jobFinished("web"),
  );
  const shown = texts.map((text) => text.match(/code: \d+|the same as in step \d/)?.[0]);
  assertEquals(shown.filter((one) => one !== undefined), [
    "code: 500",
    "the same as in step 1",
    "code: 404",
    "code: 404",
  ]);
});

Deno.test("jobs that run at once write each step at once in one line, and details at their ends", () => {
  assertEquals(
    added(
      jobStarted("api"),
      step("api", 0),
      jobStarted("web"),
      step("web", 0, { duration: 1234 }),
      step("api", 1, failed),
      step("api", 2),
      jobFinished("api", { state: "failed" }),
      step("web", 1, { echo: "hi" }),
      jobFinished("web"),
    ),
    [
      "",
      "● Api\n   1. ✓ api 0\n",
      "",
      "\n✓ Web › web 0 (1.2s)\n",
      "✗ Api › api 1   api.yml:14\n",
      "✓ Api › api 2\n",
      `
● Api
   2. ✗ api 1
        api.yml:14:11: test is false
          14 |     test: res.body.total == 3
             |           ^^^^^^^^^^^^^^^^^^^
        res.body.total is 2 (int)
  Failed in 120ms

`,
      "● Web\n   2. ✓ web 1\n        hi\n",
      "  Completed in 120ms\n\n",
    ],
  );
});

Deno.test("new snapshots of jobs that run at once are shown at their ends", () => {
  const snapshot = { file: "__snapshots__/w/api.get.json", state: "written" } as const;
  const steps = added(
    jobStarted("api"),
    jobStarted("web"),
    step("api", 0, { snapshot }),
    step("api", 1, { snapshot: { ...snapshot, state: "passed" } }),
    jobFinished("api"),
  );
  assertEquals(steps.slice(2), [
    "✓ Api › api 0\n",
    "✓ Api › api 1\n",
    `
● Api
   1. ✓ api 0
        snapshot written: __snapshots__/w/api.get.json
  Completed in 120ms

`,
  ]);
});

Deno.test("a job that is skipped does not come between the lines of another one", () => {
  assertEquals(
    added(
      jobStarted("api"),
      step("api", 0),
      jobFinished("off", skipped),
      step("api", 1),
      jobFinished("api"),
    ),
    [
      "",
      "● Api\n   1. ✓ api 0\n",
      "",
      "   2. ✓ api 1\n",
      "  Completed in 120ms\n\n- Off (skipped: not needed)\n\n",
    ],
  );
});
