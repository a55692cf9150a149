import { assertEquals, assertStringIncludes } from "@std/assert";
import { denoHost } from "../../src/host/deno_host.ts";
import { openReport, type OpenReportOptions } from "../../src/report/open_report.ts";
import type { RunEvent } from "../../src/run/event.ts";
import { fakeClock } from "../support/fake_clock.ts";
import { Screen } from "../support/run/screen.ts";
import { jobFinished, jobStarted, NOON, runFinished, runStarted, stepFinished } from "./events.ts";

const events: readonly RunEvent[] = [
  runStarted(["build"]),
  jobStarted("build"),
  stepFinished({ job: "build", step: 0 }, "compile"),
  { type: "note", runId: "r", time: NOON, level: "warning", text: "slow" },
  jobFinished("build"),
  runFinished(),
];

/** Returns the output on two separate screens. */
async function written(changes: Partial<OpenReportOptions>, taken = events) {
  const stdout = new Screen();
  const stderr = new Screen();
  const clock = fakeClock(NOON);
  const report = await openReport({ ...denoHost(), clock, stdout, stderr }, {
    redraws: false,
    verbose: false,
    timing: false,
    colour: false,
    ...changes,
  });
  for (const event of taken) report.take(event);
  report.close();
  return { stdout, stderr };
}

const expected = `Shop

● Build
   1. ✓ compile
✓ Build 120ms

Jobs       1 passed (1)
Steps      1 passed (1)
Time       1.1s
`;

Deno.test("openReport() puts the report on standard output and warnings on standard error", async () => {
  const { stdout, stderr } = await written({});
  assertEquals(stdout.writes.join(""), expected);
  assertEquals(stderr.writes.join(""), "warning: slow\n");
});

Deno.test("openReport() leaves each job as a block on the screen where it redraws progress", async () => {
  const { stdout } = await written({ redraws: true });
  assertEquals(stdout.text(), expected);
});

Deno.test("openReport() prints details to standard error when it is verbose", async () => {
  const { stdout, stderr } = await written({ redraws: true, verbose: true });
  assertEquals(stdout.writes.join(""), expected);
  assertStringIncludes(stderr.text(), "✓ Build › compile: passed\n  started 12:00:00.789");
});

Deno.test("openReport() takes style and timing from the person", async () => {
  const { stdout, stderr } = await written({ colour: true, timing: true });
  assertStringIncludes(stdout.writes.join(""), "\x1b[32m✓\x1b[39m compile");
  assertStringIncludes(stdout.text(), "compile (@12:00:00.789 6.5ms)\n");
  assertEquals(stderr.writes.join(""), "\x1b[33mwarning:\x1b[39m slow\n");
});

Deno.test("openReport() replaces control characters in all that it prints", async () => {
  const run = { job: "build", step: 0 };
  const { stdout, stderr } = await written({ verbose: true }, [
    runStarted(["build"]),
    jobStarted("build"),
    stepFinished(run, "\x1b[2Jname\r", { echo: "\x9b31m\u202eecho" }),
  ]);
  const texts = [stdout, stderr].map(({ writes }) => writes.join(""));
  assertStringIncludes(texts[0]!, "   1. ✓ ␛[2Jname␍\n        \ufffd31m\ufffdecho\n");
  assertStringIncludes(texts[1]!, "✓ Build › ␛[2Jname␍: passed\n");
});
