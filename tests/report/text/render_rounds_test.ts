import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { displayWidth } from "../../../src/base/text/display_width.ts";
import { PLAIN } from "../../../src/report/reporter.ts";
import type { Failure, JobState, RunEvent, StepResult } from "../../../src/run/event.ts";
import {
  falseTest,
  jobFinished,
  jobStarted,
  LATE,
  NOON,
  reportOf,
  runFinished,
  runStarted,
  stepFinished,
} from "../events.ts";
import { textReport } from "../../../src/report/text/text_report.ts";

/** Returns the text of a job and the text after it; the results are of its only step by round. */
function roundsText(
  results: readonly Partial<StepResult>[],
  { rounds = results.length, withTimes = false } = {},
): string {
  const events = results.flatMap((changes, round): RunEvent[] => {
    const state: JobState = changes.state === "failed" ? "failed" : "passed";
    return [
      stepFinished({ job: "load", step: 0, round }, "ping", changes),
      { type: "round_finished", runId: "r", time: NOON, job: "load", round, state },
    ];
  });
  const isFailed = results.some(({ state }) => state === "failed");
  const state = isFailed ? "failed" : "passed";
  const text = reportOf(textReport({ timing: false, style: PLAIN, late: LATE }), [
    runStarted(["load"]),
    jobStarted("load", { rounds }),
    ...events,
    jobFinished("load", { state }),
    runFinished({
      state,
      jobs: { passed: isFailed ? 0 : 1, failed: isFailed ? 1 : 0, skipped: 0 },
    }),
  ]);
  assert(text.startsWith("Shop\n\n"));
  const job = text.slice("Shop\n\n".length).replace(/\n*Jobs {7}[^]*$/, "");
  const shown = job.replace(/\n +times of rounds: .*$/m, "");
  return withTimes ? shown : shown.replace(/\n +response times: .*$/m, "");
}

const refused: Failure = { kind: "action", field: "uses", message: "connection refused" };
const failed = { state: "failed", failures: [falseTest()] } as const;
const untested = { state: "untested" } as const;
const skipped = { state: "skipped", reason: "skipif is true" } as const;

const cases: readonly (readonly [string, readonly Partial<StepResult>[], string])[] = [
  [
    "all passed",
    [{}, {}, {}],
    `● Load
   1. ping (repeating 3 times)
      ✓ 3/3 passed (100.0%)
✓ Load 120ms (3 rounds)`,
  ],
  [
    "there was nothing to test",
    [untested, untested, untested],
    `● Load
   1. ping (repeating 3 times)
      ○ 3/3 not tested
✓ Load 120ms (3 rounds)`,
  ],
  [
    "some were skipped",
    [{}, skipped, {}],
    `● Load
   1. ping (repeating 3 times)
      ✓ 2/2 passed (100.0%), 1 skipped
✓ Load 120ms (3 rounds)`,
  ],
  [
    "all were skipped",
    [skipped, skipped],
    `● Load
   1. ping (repeating 2 times)
      - 2/2 skipped (skipif is true)
✓ Load 120ms (2 rounds)`,
  ],
  [
    "each said something",
    [{ echo: "one" }, { echo: " " }, { echo: "three\nlines\n" }],
    `● Load
   1. ping (repeating 3 times)
      ✓ 3/3 passed (100.0%)
        repeat_index 0: one
        repeat_index 2:
          three
          lines
✓ Load 120ms (3 rounds)`,
  ],
  [
    "all said the same",
    [{ echo: "one" }, { echo: "one" }, {}],
    `● Load
   1. ping (repeating 3 times)
      ✓ 3/3 passed (100.0%)
        one
✓ Load 120ms (3 rounds)`,
  ],
  [
    "some said the same",
    [{ echo: "one" }, { echo: "two" }, { echo: "one" }, { echo: "one" }],
    `● Load
   1. ping (repeating 4 times)
      ✓ 4/4 passed (100.0%)
        repeat_index 0 and 2 more: one
        repeat_index 1: two
✓ Load 120ms (4 rounds)`,
  ],
  [
    "some failed, each kind of failure once",
    [{}, failed, { state: "failed", failures: [refused] }, {
      state: "failed",
      failures: [falseTest(7)],
    }],
    `● Load
   1. ping (repeating 4 times)
      ✗ 1/4 passed (25.0%)
        failed 2 times, first at repeat_index 1:
          api.yml:14:11: test is false
            14 |     test: res.body.total == 3
               |           ^^^^^^^^^^^^^^^^^^^
          res.body.total is 2 (int)
        failed once, at repeat_index 2:
          connection refused
✗ Load 120ms (4 rounds, 3 failed)

Failures
  1. Load › ping   api.yml:14:11
     failed 2 times, first at repeat_index 1: test is false: res.body.total is 2 (int)
  2. Load › ping
     failed once, at repeat_index 2: connection refused`,
  ],
];
for (const [title, results, expected] of cases) {
  Deno.test(`textReport() counts rounds: ${title}`, () => {
    assertEquals(roundsText(results), expected);
  });
}

Deno.test("textReport() says neither all nor none if one round differs", () => {
  const many = Array.from({ length: 2999 }, () => ({ state: "passed" }) as const);
  assertStringIncludes(roundsText([...many, failed]), "2999/3000 passed (99.9%)");
  const bad = Array.from({ length: 2999 }, () => failed);
  assertStringIncludes(roundsText([...bad, { state: "passed" }]), "1/3000 passed (0.1%)");
});

Deno.test("textReport() counts rounds that an interruption prevented", () => {
  assertEquals(
    roundsText([{}, {}], { rounds: 5 }),
    `● Load
   1. ping (repeating 5 times)
      ✓ 2/2 passed (100.0%), 3 not run
✓ Load 120ms (5 rounds, 3 not run)`,
  );
});

Deno.test("textReport() sums up the response times of rounds", () => {
  const times = [10, 1, 2, 3].map((duration) => ({ duration }));
  assertEquals(
    roundsText(times, { withTimes: true }),
    `● Load
   1. ping (repeating 4 times)
      ✓ 4/4 passed (100.0%)
        response times: min 1ms, mean 4ms, p50 2ms, p90 10ms, p95 10ms, p99 10ms, max 10ms
✓ Load 120ms (4 rounds)`,
  );
});

Deno.test("textReport() draws the response times of many rounds", () => {
  const times = [1, 1, 1, 1, 2, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5];
  const lines = roundsText(times.map((duration) => ({ duration })), { withTimes: true })
    .split("\n");
  assertEquals(lines[4], "        distribution: 1ms ▄▂▁█ 5ms");
});

Deno.test("textReport() omits the times of actions without requests", () => {
  const lines = (instant: { instant?: true }) => {
    const rounds = [0.1, 7, 0.2].map((duration) => ({ duration, ...instant }));
    return roundsText(rounds, { withTimes: true }).split("\n").length;
  };
  assertEquals([{}, { instant: true as const }].map(lines), [5, 4]);
});

Deno.test("textReport() counts the rounds in which a step was flaky", () => {
  assertEquals(
    roundsText([{ flaky: true }, {}, { flaky: true }]).split("\n")[2],
    "      ✓ 3/3 passed (100.0%), 2 flaky",
  );
});

Deno.test("textReport() distinguishes failures by their brief results, not by numbers in messages", () => {
  const withCode = (code: number) => ({
    ...failed,
    exchange: { req: null, res: { code }, brief: `HTTP ${code}` },
  });
  const refusedAt = (round: number) => ({
    state: "failed" as const,
    failures: [{ ...refused, message: `cannot get /${round}` }],
  });
  const text = roundsText([
    withCode(500),
    withCode(404),
    withCode(500),
    refusedAt(3),
    refusedAt(4),
  ]);
  assertEquals(text.match(/^ {8}failed .*/gm), [
    "        failed 2 times, first at repeat_index 0:",
    "        failed once, at repeat_index 1:",
    "        failed 2 times, first at repeat_index 3:",
  ]);
});

Deno.test("textReport() shows the first of similar failures, in any order of rounds", () => {
  const text = reportOf(textReport({ timing: false, style: PLAIN, late: LATE }), [
    runStarted(["load"]),
    jobStarted("load", { rounds: 3 }),
    ...[2, 0, 1].map((round) =>
      stepFinished({ job: "load", step: 0, round }, "ping", {
        state: "failed",
        failures: [falseTest(round)],
      })
    ),
    jobFinished("load", { state: "failed" }),
  ]);
  assertStringIncludes(text, "failed 3 times, first at repeat_index 0:");
  assertStringIncludes(text, "res.body.total is 0 (int)");
});

Deno.test("textReport() keeps the picture of times within a narrow terminal", () => {
  const events = [
    runStarted(["load"]),
    jobStarted("load", { rounds: 400 }),
    ...Array.from(
      { length: 400 },
      (_, round) =>
        stepFinished({ job: "load", step: 0, round }, "ping", { duration: 1 + round % 37 }),
    ),
    jobFinished("load"),
  ];
  const picture = (columns: number) => {
    const text = reportOf(
      textReport({ timing: false, style: PLAIN, late: LATE, columns: () => columns }),
      events,
    );
    const lines = text.split("\n");
    const first = lines.findIndex((line) => line.includes(" passed (")) + 1;
    const times = lines.slice(
      first,
      lines.findIndex((line, at) => at > first && /^✓|^$/.test(line)),
    );
    assertStringIncludes(times.join(" "), "p99");
    for (const line of times) assert(displayWidth(line) <= Math.max(columns, 21), line);
    return lines.find((line) => /[▁-█]/.test(line));
  };
  assertEquals(/ms (.*) 37/.exec(picture(80) ?? "")?.[1]?.length, 20);
  assertEquals(displayWidth(picture(40) ?? ""), 40);
  assertEquals(picture(30), undefined);
});

Deno.test("textReport() shows a job that repeats once like any other", () => {
  assertEquals(
    roundsText([{ echo: "hi" }]),
    `● Load
   1. ✓ ping
        hi
✓ Load 120ms`,
  );
});

Deno.test("textReport() shows a job that repeats not at all", () => {
  assertEquals(roundsText([], { rounds: 0 }), "✓ Load 120ms (0 rounds)");
});

Deno.test("textReport() orders the steps of rounds that ran side by side as the file does", () => {
  const text = reportOf(textReport({ timing: false, style: PLAIN, late: LATE }), [
    runStarted(["load"]),
    jobStarted("load", { rounds: 2 }),
    stepFinished({ job: "load", step: 1, round: 1 }, "second"),
    stepFinished({ job: "load", step: 0, entry: 1, round: 0 }, "first b"),
    stepFinished({ job: "load", step: 0, entry: 0, round: 0 }, "first a"),
    jobFinished("load"),
  ]);
  assertEquals(
    [...text.matchAll(/^ {3}\d\. (.*) \(/gm)].map(([, name]) => name),
    ["first a", "first b", "second"],
  );
});

Deno.test("textReport() orders what rounds said that ran side by side", () => {
  const text = reportOf(textReport({ timing: false, style: PLAIN, late: LATE }), [
    runStarted(["load"]),
    jobStarted("load", { rounds: 3 }),
    ...[2, 0, 1].map((round) =>
      stepFinished({ job: "load", step: 0, round }, "ping", { echo: round === 0 ? "b" : "a" })
    ),
    jobFinished("load"),
  ]);
  assertEquals(text.match(/repeat_index.*/g), [
    "repeat_index 0: b",
    "repeat_index 1 and 1 more: a",
  ]);
});

Deno.test("textReport() keeps the same few things of ten rounds and of ten thousand", () => {
  const unlike = (count: number) =>
    roundsText(Array.from({ length: count }, (_, round): Partial<StepResult> => ({
      state: "failed",
      echo: `echo ${round}`,
      failures: [{ kind: "action", field: "uses", message: "a".repeat(round % 5000) }],
    })));
  const lines = unlike(10_000).split("\n");
  assertEquals(lines.filter((line) => /^ {8}repeat_index \d+: echo /.test(line)).length, 100);
  assert(lines.includes("        … (9900 more)"));
  assertEquals(lines.filter((line) => line.startsWith("        failed 2 times")).length, 10);
  assert(lines.includes("        9980 other failures"));
});

Deno.test("a common name is what all names begin and end with", () => {
  const table: [names: string[], common: string][] = [
    [["ping"], "ping"],
    [["ping", "ping", "ping"], "ping"],
    [["request 0", "request 1"], "request …"],
    // No part of a number or word is taken for the whole.
    [["request 10", "request 11", "request 12"], "request …"],
    [["order", "orders"], "order, …"],
    [["user1@shop", "user2@shop"], "user…@shop"],
    [["get 1 of 3 as ann", "get 2 of 3 as ann", "get 3 of 3 as bob"], "get …"],
    [["a 1 b", "a 2 b", "a 3 b", "a 3 c"], "a …"],
    [["a a", "a"], "a…"],
    [["a", "a a", "a a a"], "a…"],
    [["0", "1", "2"], "0, …"],
    [["(0)", "(1)"], "(0), …"],
    [["vögel 一 1", "vögel 一 2"], "vögel 一 …"],
  ];
  for (const [names, expected] of table) {
    const text = reportOf(textReport({ timing: false, style: PLAIN, late: LATE }), [
      runStarted(["load"]),
      jobStarted("load", { rounds: 9 }),
      ...names.map((name, round) => stepFinished({ job: "load", step: 0, round }, name)),
      jobFinished("load"),
    ]);
    assertStringIncludes(text, `   1. ${expected} (repeating 9 times)\n`);
  }
});
