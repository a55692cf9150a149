import { assert, assertEquals } from "@std/assert";
import { Histogram } from "../../../src/base/value/histogram.ts";
import { PLAIN } from "../../../src/report/reporter.ts";
import { textReport } from "../../../src/report/text/text_report.ts";
import type { LoadEnded, LoadSecond, RunEvent } from "../../../src/run/event.ts";
import {
  falseTest,
  jobFinished,
  jobStarted,
  LATE,
  NOON,
  reportOf,
  runFinished,
  runStarted,
  stepTally,
} from "../events.ts";

const BASE = { runId: "r", time: NOON, job: "load" };
const TIMES = { min: 5, mean: 20, p50: 12, p90: 40, p95: 48, p99: 91, p999: 200, max: 310 };

function second(from: number, changes: Partial<LoadSecond> = {}): LoadSecond {
  const times = new Histogram();
  for (let time = 1; time <= 100; time++) times.add(time);
  return {
    ...{ type: "load_second", ...BASE, from, length: 1000, stage: 0, asked: 200, started: 200 },
    ...{ inFlight: 7, rounds: { passed: 198, failed: 2, skipped: 0 }, times: times.encode()! },
    steps: [],
    ...changes,
  };
}

const ENDED: LoadEnded = {
  ...{ type: "load_ended", ...BASE },
  stats: {
    ...{ count: 60_000, passed: 59_988, failed: 12, rate: 200, ...TIMES },
    ...{ elapsed: 300_000, asked: 200, started: 60_000, dropped: 0, late: 12, lateMax: 18 },
    ...{ busy: 0.4, inFlight: 9 },
    steps: [
      { step: 0, key: "sign in", count: 60_000, passed: 60_000, failed: 0, rate: 200, ...TIMES },
      { step: 1, key: "pay", count: 60_000, passed: 59_988, failed: 12, rate: 200, ...TIMES },
    ],
  },
  thresholds: [
    { expression: "stats.p95 < 0.3", passed: true, operands: [{ text: "stats.p95", value: 0.28 }] },
    {
      expression: "stats.steps.pay.p99 < 0.5",
      passed: false,
      operands: [{ text: "stats.steps.pay.p99", value: 0.61 }],
    },
  ],
};

/** The same step fails again and again. */
const FAILING = stepTally(1, 59_988, {
  failures: [{
    ...{ cause: "w.yml:1:1 test is false", state: "allowed", count: 12, round: 3 },
    ...{ from: NOON, to: NOON },
    first: {
      run: { job: "load", step: 1, round: 3 },
      inside: [],
      result: {
        ...{ name: "pay", uses: "http", state: "allowed", started: NOON, duration: 5 },
        ...{ attempts: [], failures: [falseTest()] },
      },
    },
  }],
});

function textOf(...events: readonly RunEvent[]): string[] {
  return reportOf(textReport({ timing: false, style: PLAIN, late: LATE }), [
    runStarted(["load"]),
    jobStarted("load", { load: { stages: [{ rate: 200, duration: 300_000 }], steps: ["pay"] } }),
    ...events,
    jobFinished("load", { state: "failed" }),
    runFinished({ state: "failed", jobs: { passed: 0, failed: 1, skipped: 0 } }),
  ]).split("\n");
}

Deno.test("a load job ends with a table of its steps and its thresholds", () => {
  const lines = textOf(second(0, { steps: [FAILING] }), ENDED);
  const from = lines.findIndex((line) => line.includes("60,000 rounds"));
  assertEquals(lines.slice(from, from + 6), [
    "    60,000 rounds in 5m   200/s of 200/s   0 dropped, 12 late (worst 18ms), 9 at once   12 failed (0.02 %)",
    "      step      count   rate   p50   p95   p99    max  failed",
    "      sign in  60,000  200/s  12ms  48ms  91ms  310ms       0",
    "      pay      60,000  200/s  12ms  48ms  91ms  310ms      12",
    "      ✓ stats.p95 < 0.3            280ms",
    "      ✗ stats.steps.pay.p99 < 0.5  610ms",
  ]);
  assertEquals(lines[from + 6]?.startsWith("    pay failed 12 times, at "), true, lines[from + 6]);
});

Deno.test("the table has the wait for connections of ours, if there was one", () => {
  const rowsWith = (queue: number) => {
    const [first, pay] = ENDED.stats.steps;
    const steps = [first!, { ...pay!, phases: { queue, first_byte: 12 } }];
    const lines = textOf({ ...ENDED, stats: { ...ENDED.stats, steps } });
    const from = lines.findIndex((line) => line.includes("p50   p95"));
    return lines.slice(from, from + 3);
  };
  assertEquals(rowsWith(243), [
    "      step      count   rate   p50   p95   p99    max  failed  queued",
    "      sign in  60,000  200/s  12ms  48ms  91ms  310ms       0     0ms",
    "      pay      60,000  200/s  12ms  48ms  91ms  310ms      12   243ms",
  ]);
  assert(!rowsWith(0.9)[0]!.includes("queued"));
});

Deno.test("a step that never ran has no times, and nothing measured is shown as that", () => {
  const none = { count: 0, passed: 0, failed: 0, rate: 0 };
  const zero = Object.fromEntries(Object.keys(TIMES).map((name) => [name, 0])) as typeof TIMES;
  const steps = [{ step: 0, key: "pay", ...none, ...zero }];
  const thresholds = [{
    ...{ expression: "stats.failed / stats.count < 1", passed: false },
    operands: [{ text: "stats.failed / stats.count", value: NaN }],
  }];
  const lines = textOf({ ...ENDED, stats: { ...ENDED.stats, ...none, steps }, thresholds });
  const at = lines.findIndex((line) => line.includes("    0 rounds in 5m"));
  assertEquals(lines.slice(at + 2, at + 4), [
    "      pay       0   0/s                           0",
    "      ✗ stats.failed / stats.count < 1  NaN: nothing was measured",
  ]);
});

Deno.test("where rounds are too slow, the table names the slowest step", () => {
  const [pay] = ENDED.stats.steps.slice(1);
  const steps = [ENDED.stats.steps[0]!, { ...pay!, p95: 240 }];
  const thresholds = [{ ...ENDED.thresholds[0]!, passed: false }];
  const lines = textOf({ ...ENDED, stats: { ...ENDED.stats, steps }, thresholds });
  const at = lines.indexOf("      ✗ stats.p95 < 0.3  280ms");
  assertEquals(lines[at + 1], "      the slowest step is pay: p95 240ms");
});

Deno.test("without a live view, a line every ten seconds shows a load job under way", () => {
  const seconds = Array.from({ length: 25 }, (_, at) => second(at * 1000));
  const slow = seconds.map((one) => ({ ...one, dropped: 1, late: 2 }));
  const lines = [...textOf(...seconds), ...textOf(...slow)]
    .filter((line) => /^ +\d+:\d\d /.test(line));
  assertEquals(lines, [
    "    0:10  200/s of 200/s  p95 95ms  20 failed  7 at once",
    "    0:20  200/s of 200/s  p95 95ms  20 failed  7 at once",
    "    0:10  200/s of 200/s  p95 95ms  20 failed  7 at once  10 dropped  20 late",
    "    0:20  200/s of 200/s  p95 95ms  20 failed  7 at once  10 dropped  20 late",
  ]);
});

Deno.test("of a load job that was cut off, the report has what its seconds say", () => {
  const outline = { stages: [{ rate: 200, duration: 300_000 }], steps: ["pay"] };
  const lines = reportOf(textReport({ timing: false, style: PLAIN, late: LATE }), [
    ...[runStarted(["load"]), jobStarted("load", { load: outline }), second(0), second(1000)],
    jobFinished("load", { state: "failed" }),
  ]).split("\n");
  assertEquals(lines.filter((line) => /rounds in|ended early/.test(line)), [
    "    400 rounds in 2s   200/s of 200/s   0 dropped, 0 late, 7 at once   4 failed (1 %)",
    "    ended early: its process was lost",
  ]);
});
