import { assertEquals } from "@std/assert";
import { PLAIN } from "../../../src/report/reporter.ts";
import { verboseReport } from "../../../src/report/text/verbose_report.ts";
import { warningReport } from "../../../src/report/text/warning_report.ts";
import type { RunEvent } from "../../../src/run/event.ts";
import {
  falseTest,
  jobFinished,
  jobStarted,
  NOON,
  reportOf,
  runFinished,
  runStarted,
  stepFinished,
  stepStarted,
} from "../events.ts";

const style = PLAIN;
const run = { job: "build", step: 0, round: 1, entry: 2 };
const attempt = { number: 1, started: NOON, duration: 5, outcome: "failed" } as const;

const events: readonly RunEvent[] = [
  runStarted(["build", "off"]),
  jobStarted("build", { rounds: 2 }),
  stepStarted(run, "order\nit"),
  { type: "step_waiting", runId: "r", time: NOON, run, milliseconds: 1500, why: "initial_delay" },
  { type: "note", runId: "r", time: NOON, level: "debug", text: "connected\nover TLS", run },
  {
    type: "step_retried",
    runId: "r",
    time: NOON,
    run,
    of: 2,
    attempt: { ...attempt, message: "HTTP 503" },
  },
  stepFinished(run, "order\nit", {
    state: "failed",
    wait: 100,
    maxAttempts: 2,
    attempts: [{ ...attempt, message: "HTTP 503" }, { ...attempt, number: 2 }],
    failures: [falseTest()],
    echo: "said\nthis\n",
    exchange: {
      req: { method: "GET", url: "http://localhost/" },
      res: { code: 200, status: "200 OK", body: "x\n".repeat(200) + "end" },
      view: {
        request: { title: "GET http://localhost/", covered: ["method", "url"] },
        response: { title: "200 OK", covered: ["code", "status"] },
      },
    },
  }),
  stepFinished({ job: "build", step: 1 }, "skip it", {
    state: "skipped",
    reason: "skipif is true",
  }),
  { type: "round_finished", runId: "r", time: NOON, job: "build", round: 0, state: "failed" },
  { type: "note", runId: "r", time: NOON, level: "warning", text: "low on sockets" },
  jobFinished("build", { state: "failed" }),
  jobFinished("off", { state: "skipped", reason: 'needs "build", which failed' }),
  runFinished({ state: "failed" }),
];

Deno.test("verboseReport() shows everything about each step", () => {
  const at = "12:00:00.000";
  assertEquals(
    reportOf(verboseReport({ style }), events),
    `${at} Shop (api.yml)
${at} Build: started, repeating 2 times
${at} Build › order it (repeat_index 1, entry 3): started (http)
${at} Build › order it (repeat_index 1, entry 3): waits 1.5s before the first attempt
debug: Build › order it (repeat_index 1, entry 3): connected
  over TLS
${at} Build › order it (repeat_index 1, entry 3): attempt 1/2 failed after 5ms: HTTP 503
${at} ✗ Build › order it (repeat_index 1, entry 3): failed
  started 12:00:00.789, took 7ms, response time 6.5ms, after a wait of 100ms
  attempt 1: failed (@12:00:00.000, 5ms): HTTP 503
  attempt 2: failed (@12:00:00.000, 5ms)
  test is false: res.body.total is 2 (int)
  request:
    GET http://localhost/
  response:
    200 OK
    body:
${"      x\n".repeat(200)}      end
  echo:
    said
    this
${at} - Build › skip it: skipped (skipif is true)
${at} Build: repeat_index 0 failed
warning: low on sockets
${at} Build: failed after 120ms
${at} Off: skipped after 120ms (needs "build", which failed)
${at} failed after 1.1s
`,
  );
});

Deno.test("warningReport() prints only warnings", () => {
  assertEquals(reportOf(warningReport({ style }), events), "warning: low on sockets\n");
});

Deno.test("warningReport() says which step a warning is about", () => {
  const text = reportOf(warningReport({ style }), [
    ...events.slice(0, 3),
    { type: "note", runId: "r", time: NOON, level: "warning", text: "slow", run },
    {
      type: "note",
      runId: "r",
      time: NOON,
      level: "warning",
      text: "unknown",
      run: { job: "x", step: 4 },
    },
  ]);
  assertEquals(
    text,
    "warning: Build › order it (repeat_index 1, entry 3): slow\nwarning: x › step 5: unknown\n",
  );
});
