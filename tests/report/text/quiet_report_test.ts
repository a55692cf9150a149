import { assertEquals } from "@std/assert";
import { quietReport } from "../../../src/report/text/quiet_report.ts";
import { PLAIN } from "../../../src/report/reporter.ts";
import type { Failure, RunEvent, StepResult } from "../../../src/run/event.ts";
import {
  falseTest,
  inner,
  jobFinished,
  jobStarted,
  NOON,
  reportOf,
  runFinished,
  runStarted,
  stepFinished,
  stepStarted,
} from "../events.ts";

const refused: Failure = { kind: "action", field: "uses", message: "connection refused" };
const embedded: Failure = { kind: "embedded", field: "with.path", message: "a.yml failed" };
const failed = (...failures: Failure[]): Partial<StepResult> => ({ state: "failed", failures });
const build = { job: "build", step: 0 };
const load = (round: number) => ({ job: "load", step: 0, round });

const rows: readonly [what: string, events: readonly RunEvent[], text: string][] = [
  [
    "nothing of what went well",
    [
      stepStarted(build, "fetch"),
      stepFinished(build, "fetch", { echo: "hello", flaky: true }),
      stepFinished({ ...build, step: 1 }, "not now", {
        state: "skipped",
        reason: "skipif is true",
      }),
      jobFinished("build"),
    ],
    "",
  ],
  [
    "a step that failed",
    [stepFinished(build, "fetch\nit", failed(refused)), jobFinished("build", { state: "failed" })],
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
      stepFinished(inner(build), "inside", failed(refused)),
      {
        type: "step_retried",
        runId: "r",
        time: NOON,
        run: build,
        of: 2,
        attempt: { number: 1, started: NOON, duration: 1, outcome: "failed" },
      },
      stepFinished(inner(build), "inside", failed(refused)),
      stepFinished(inner(build, 1), "fine"),
      stepFinished(build, "around", failed(embedded)),
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
    const report = quietReport({ timing: false, style: PLAIN });
    assertEquals(reportOf(report, [runStarted(["build", "load"]), ...events]), text);
  });
}

Deno.test("quietReport() ends with the footer, and says why a run was interrupted", () => {
  const text = reportOf(quietReport({ timing: false, style: PLAIN }), [
    runStarted(["build"]),
    stepFinished(build, "fetch", failed({ ...falseTest(), kind: "interrupted", message: "stop" })),
    runFinished({
      state: "failed",
      interrupted: "interrupted by SIGINT",
      jobs: { passed: 0, failed: 1, skipped: 0 },
    }),
  ]);
  assertEquals(
    text.split("\n").at(-2),
    "Shop: Total workflow time: 1.1s ✗ interrupted by SIGINT; 1 job failed; 1 step passed",
  );
});
