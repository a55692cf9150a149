import { assert, assertEquals } from "@std/assert";
import { displayWidth } from "../../src/base/text/display_width.ts";
import { Histogram } from "../../src/base/value/histogram.ts";
import { withLiveLines } from "../../src/report/live.ts";
import { PLAIN } from "../../src/report/reporter.ts";
import type { LoadSecond, RunEvent, SuiteStarted } from "../../src/run/event.ts";
import {
  eventByEvent,
  falseTest,
  inner,
  jobFinished,
  jobStarted,
  LATE,
  NOON,
  runFinished,
  runStarted,
  stepFinished,
  stepStarted,
  stepTally,
} from "./events.ts";

const SILENT = { report: () => "" };

const build = { job: "build", step: 0 };

function linesAfter(
  events: readonly RunEvent[],
  { now = NOON, columns = 80, rows = 20 } = {},
): string[] {
  const report = withLiveLines(SILENT, PLAIN, false, LATE);
  events.forEach(eventByEvent(report));
  return [...report.live!(now, columns, rows)];
}

const started = [runStarted(["build", "load"]), jobStarted("build"), stepStarted(build, "fetch")];
const waiting = { type: "step_waiting", runId: "r", time: NOON, run: build } as const;
const attempt = { number: 1, started: NOON, duration: 5, outcome: "failed" } as const;

const cases: readonly (readonly [string, readonly RunEvent[], number, readonly string[]])[] = [
  ["shows job and step with the time so far", started, 1200, ["⠴ Build › fetch  1.2s"]],
  ["turns its sign", started, 1280, ["⠦ Build › fetch  1.3s"]],
  [
    "counts a wait down",
    [...started, { ...waiting, milliseconds: 2000, why: "wait" }],
    800,
    ["⠋ Build › fetch  0.8s  waits 1.2s"],
  ],
  [
    "forgets a wait that is over",
    [...started, { ...waiting, milliseconds: 500, why: "wait" }],
    800,
    ["⠋ Build › fetch  0.8s"],
  ],
  [
    "counts attempts",
    [
      ...started,
      { type: "step_retried", runId: "r", time: NOON, run: build, attempt, of: 5 },
      { ...waiting, milliseconds: 2000, why: "retry" },
    ],
    800,
    ["⠋ Build › fetch  0.8s  ↻ 2/5  tries again in 1.2s"],
  ],
  [
    "counts rounds, between steps too",
    [
      runStarted(["load"]),
      jobStarted("load", { rounds: 10 }),
      { type: "round_finished", runId: "r", time: NOON, job: "load", round: 0, state: "passed" },
    ],
    800,
    ["⠋ Load  0.8s  1/10 rounds"],
  ],
  [
    "shows the step that has run for longest where rounds run side by side",
    [
      runStarted(["load"]),
      jobStarted("load", { rounds: 2 }),
      stepStarted({ job: "load", step: 0, round: 0 }, "first"),
      { ...stepStarted({ job: "load", step: 0, round: 1 }, "second"), time: NOON + 300 },
      stepFinished({ job: "load", step: 0, round: 0 }, "first"),
    ],
    1600,
    ["⠋ Load › second  1.3s  0/2 rounds"],
  ],
  [
    "names no step of a repeated job that may be over in the next frame",
    [
      runStarted(["load"]),
      jobStarted("load", { rounds: 2 }),
      { ...stepStarted({ job: "load", step: 0, round: 1 }, "brief"), time: NOON + 700 },
    ],
    1600,
    ["⠋ Load  1.6s  0/2 rounds"],
  ],
  [
    "puts jobs in the order of the file",
    [runStarted(["build", "load"]), jobStarted("load"), jobStarted("build")],
    800,
    ["⠋ Build  0.8s", "⠋ Load  0.8s"],
  ],
  [
    "shows which step of an embedded job runs, and how far that one is",
    [
      ...started,
      stepStarted(inner(build), "inside"),
      stepFinished(inner(build), "inside"),
      stepStarted(inner(build, 1), "next"),
      { ...stepStarted(inner(inner(build, 1)), "deep"), time: NOON + 300 },
      { ...waiting, run: inner(inner(build, 1)), milliseconds: 2000, why: "wait" },
    ],
    800,
    ["⠋ Build › fetch › next › deep  0.5s  waits 1.2s"],
  ],
  [
    "goes back to the step around an embedded job that is over",
    [...started, stepStarted(inner(build), "inside"), stepFinished(inner(build), "inside")],
    800,
    ["⠋ Build › fetch  0.8s"],
  ],
  ["shows nothing of a job that is over", [...started, jobFinished("build")], 800, []],
];
for (const [title, events, after, expected] of cases) {
  Deno.test(`withLiveLines() ${title}`, () => {
    const lines = linesAfter(events, { now: NOON + after });
    assertEquals(lines.filter((line) => !line.endsWith(" done")), expected);
  });
}

Deno.test("withLiveLines() counts the jobs that are over, where there is room for that", () => {
  const events = [...started, jobFinished("build"), jobStarted("load")];
  assertEquals(linesAfter(events), ["⠋ Load  0.0s", "  1 of 2 done"]);
  assertEquals(linesAfter(events, { rows: 1 }), ["⠋ Load  0.0s"]);
  assertEquals(linesAfter(events, { columns: 9 }), ["⠋ Load", "  1 of 2…"]);
});

Deno.test("withLiveLines() keeps the time on a terminal of 20 columns", () => {
  const events = [
    runStarted(["build", "load"]),
    jobStarted("build", { name: "A job with a long name" }),
    stepStarted(build, "a step with a long name"),
    jobStarted("load", { rounds: 300 }),
  ];
  // One column is the cursor's.
  assertEquals(linesAfter(events, { columns: 19, now: NOON + 12_300 }), [
    "⠸ a step wi…  12.3s",
    "⠸ Load  12.3s",
    "  0 of 2 done",
  ]);
});

Deno.test("withLiveLines() shows the number of rounds per second", () => {
  const rounds = Array.from({ length: 9 }, (_, round): RunEvent => (
    { type: "round_finished", runId: "r", time: NOON, job: "load", round, state: "passed" }
  ));
  const events = [runStarted(["load"]), jobStarted("load", { rounds: 100 }), ...rounds];
  assertEquals(linesAfter(events, { now: NOON + 2000 }), ["⠴ Load  2.0s  9/100 rounds  4.5/s"]);
});

Deno.test("withLiveLines() turns its sign with time", () => {
  const signs = Array.from(
    { length: 10 },
    (_, frame) => linesAfter(started, { now: NOON + frame * 80 })[0]![0],
  );
  assertEquals(new Set(signs).size, 10);
});

Deno.test("withLiveLines() stays within the columns, wide characters counted as two", () => {
  const events = [
    runStarted(["build"]),
    jobStarted("build", { name: "日本語のジョブ", rounds: 1000 }),
    stepStarted(build, "とても長い名前のステップ"),
    { ...waiting, milliseconds: 5000, why: "retry" } as const,
  ];
  for (let columns = 0; columns <= 100; columns++) {
    for (const line of linesAfter(events, { columns })) {
      assert(displayWidth(line) <= columns, `${columns}: ${line}`);
    }
  }
  assertEquals(linesAfter(events, { columns: 20 }), ["⠋ とても長い…  0.0s"]);
  assertEquals(linesAfter(events, { columns: 60 }), [
    "⠋ 日本語のジョブ › とても長い名…  0.0s  tries again in 5.0s",
  ]);
});

Deno.test("withLiveLines() stays within the rows and counts the hidden jobs", () => {
  const ids = ["a", "b", "c", "d"];
  const events = [runStarted(ids), ...ids.map((id) => jobStarted(id))];
  const names = (rows: number) => linesAfter(events, { rows }).map((line) => line.slice(2));
  assertEquals(names(4), ["A  0.0s", "B  0.0s", "C  0.0s", "D  0.0s"]);
  assertEquals(names(3), ["A  0.0s", "B  0.0s", "… and 2 more jobs, 0 of 4 done"]);
  assertEquals(names(1), ["… and 4 more jobs, 0 of 4 done"]);
  assertEquals(names(0), []);
});

Deno.test("withLiveLines() shows the steps of a job that runs alone below it", () => {
  const ended = [0, 1].map((step) =>
    stepFinished({ job: "build", step }, `step ${step}`, step === 0 ? { echo: "said" } : {})
  );
  const events = [runStarted(["build", "load"]), jobStarted("build"), ...ended];
  const steps = ["   1. ✓ step 0", "        said", "   2. ✓ step 1"];
  assertEquals(linesAfter(events), ["⠋ Build  0.0s", ...steps, "  0 of 2 done"]);
  assertEquals(linesAfter(events, { rows: 3 }), ["⠋ Build  0.0s", steps[2], "  0 of 2 done"]);
  const two = [...events, jobStarted("load")];
  assertEquals(linesAfter(two), ["⠋ Build  0.0s", "⠋ Load  0.0s", "  0 of 2 done"]);
});

const SUITE: SuiteStarted = {
  ...{ type: "suite_started", runId: "s", time: NOON, workflows: 3, hash: "" },
};

/** The events of a workflow of the suite, as far as its first step. */
function begun(runId: string, name: string, index: number): RunEvent[] {
  const suite = { id: "s", index };
  const events = [
    runStarted(["build"], { name, file: `${runId}.yml`, suite }),
    jobStarted("build"),
    stepStarted(build, "fetch"),
  ];
  return events.map((event) => ({ ...event, runId }));
}

Deno.test("withLiveLines() has a line for each workflow that runs, with the step under way", () => {
  const report = withLiveLines(SILENT, PLAIN, true, LATE);
  const takeOne = eventByEvent(report);
  const take = (events: readonly RunEvent[]) => events.forEach(takeOne);
  const lines = () => report.live!(NOON + 1200, 80, 20);
  take([SUITE, ...begun("a", "Shop", 0), ...begun("b", "Stock", 1)]);
  assertEquals(lines(), [
    "⠴ Shop › Build › fetch  1.2s",
    "⠴ Stock › Build › fetch  1.2s",
    "  0 of 3 done",
  ]);
  const failed = { state: "failed", jobs: { passed: 0, failed: 1, skipped: 0 } } as const;
  take([{ ...runFinished(failed), runId: "a" }]);
  assertEquals(lines(), ["⠴ Stock › Build › fetch  1.2s", "  1 of 3 done, 1 failed"]);
});

Deno.test("withLiveLines() counts setup of a suite only where it fails", () => {
  const report = withLiveLines(SILENT, PLAIN, true, LATE);
  const take = eventByEvent(report);
  const [setup, ...events] = begun("s", "Sign in", 0);
  const role = { id: "s", index: 0, role: "setup" } as const;
  for (const event of [SUITE, { ...setup, suite: role }, ...events]) {
    take(event as RunEvent);
  }
  const counts = () => report.live!(NOON, 80, 20).at(-1);
  assertEquals(counts(), "  0 of 3 done");
  const failed = { state: "failed", jobs: { passed: 0, failed: 1, skipped: 0 } } as const;
  take({ ...runFinished(failed), runId: "s" });
  take({ ...begun("a", "Shop", 0)[0]!, runId: "a" });
  assertEquals(counts(), "  0 of 3 done, 1 failed");
});

const LOAD = {
  stages: [{ rate: 200, duration: 10_000 }, { rate: 400, duration: 290_000, ramp: true as const }],
  ...{ warmUp: 2000, steps: ["sign in", "pay"] },
};

/** The second of a load job that begins then: its rounds take 1 to 100 ms, `slower` times that. */
function loadSecond(job: string, from: number, slower = 1): LoadSecond {
  const histogram = new Histogram();
  for (let time = 1; time <= 100; time++) histogram.add(time * slower);
  const times = histogram.encode()!;
  const isWarmUp = from < LOAD.warmUp;
  const failure = stepFinished({ job, step: 1 }, "pay", { failures: [falseTest()] });
  return {
    ...{ type: "load_second", runId: "r", time: NOON + from + 1000, job, from, length: 1000 },
    ...isWarmUp ? { phase: "warm_up" as const } : {},
    ...{
      stage: from < 12_000 ? 0 : 1,
      asked: 200,
      started: 200,
      inFlight: 12,
      late: 1,
      lateMax: 18,
    },
    ...{ rounds: { passed: 198, failed: 2, skipped: 0 }, times },
    steps: [
      stepTally(0, 200, { times }),
      stepTally(1, 198, {
        times,
        failures: [{
          ...{ cause: "api.yml:9:15 test is false", state: "failed", count: 2, round: 0 },
          ...{ from: NOON, to: NOON, first: { ...failure, inside: [] } },
        }],
      }),
    ],
  };
}

function loadEvents(ids: readonly string[], seconds: number): RunEvent[] {
  const times = Array.from({ length: seconds }, (_, at) => at * 1000);
  return [
    runStarted(ids),
    ...ids.map((id) => jobStarted(id, { load: LOAD })),
    ...times.flatMap((from) => ids.map((id) => loadSecond(id, from, from > 10_000 ? 2 : 1))),
  ];
}

Deno.test("withLiveLines() shows a load job that runs alone on the whole screen", () => {
  const events = loadEvents(["load"], 16);
  assertEquals(linesAfter(events, { now: NOON + 16_400, rows: 20 }), [
    "⠴ Load  0:16 of 5:02  stage 2 of 2  ━───────────────────",
    "    last 5s  200/s of 200/s   p50 100ms   p95 190ms   p99 198ms   12 at once",
    "    so far   2,800 rounds   28 failed (1 %)   14 late (worst 18ms)",
    "    step     count   rate    p95  failed",
    "    sign in  2,800  200/s  190ms       0",
    "    pay      2,800  200/s  190ms      28",
    "    rate     ████████████████ 200/s",
    "    p95      ▅▅▅▅▅▅▅▅▅▅▅█████ 190ms",
    "    28 × pay: test is false: res.body.total is 2 (int)",
  ]);
  // Between two seconds only the time goes on.
  const [head, ...rest] = linesAfter(events, { now: NOON + 16_999, columns: 120 });
  assertEquals(head?.slice(2, 21), "Load  0:16 of 5:02 ");
  assertEquals(rest[1], "    so far   2,800 rounds   28 failed (1 %)   14 late (worst 18ms)");
  const warm = linesAfter(loadEvents(["load"], 1), { now: NOON + 1000 });
  assertEquals(warm.slice(0, 3).map((line) => line.slice(2)), [
    "Load  0:01 of 5:02  warm-up  ────────────────────",
    "  last 5s  200/s of 200/s   p50 50ms   p95 95ms   p99 99ms   12 at once",
    "  so far   0 rounds   0 failed",
  ]);
  for (let rows = 1; rows < 12; rows++) {
    for (const columns of [1, 12, 30, 60]) {
      const lines = linesAfter(events, { rows, columns, now: NOON + 16_400 });
      assert(
        lines.length <= rows && lines.every((line) => displayWidth(line) <= columns),
        `${rows}`,
      );
    }
  }
});

Deno.test("withLiveLines() shows several load jobs in three lines each, or in one", () => {
  const events = loadEvents(["a", "b"], 3);
  const at = { now: NOON + 3000 };
  const block = [
    "  last 5s  200/s of 200/s   p50 50ms   p95 95ms   p99 99ms   12 at once",
    "  so far   200 rounds   2 failed (1 %)   1 late (worst 18ms)",
  ];
  const lines = (rows: number) => linesAfter(events, { ...at, rows }).map((line) => line.slice(2));
  const head = "  0:03 of 5:02  stage 1 of 2  ────────────────────";
  assertEquals(lines(20), [`A${head}`, ...block, `B${head}`, ...block, "0 of 2 done"]);
  const line = "  0:03 of 5:02  stage 1 of 2  200/s of 200/s  p95 95ms  2 failed";
  assertEquals(lines(4), [`A${line}`, `B${line}`, "0 of 2 done"]);
});
