import { assert, assertEquals } from "@std/assert";
import { displayWidth } from "../../../src/base/text/display_width.ts";
import { PLAIN, type Style } from "../../../src/report/reporter.ts";
import { IN_A_PIPE, type Room, roomOf } from "../../../src/report/text/lines.ts";
import { tallyRounds } from "../../../src/run/round_tally.ts";
import { Recorder } from "../../../src/report/recorder.ts";
import { TimeSummary } from "../../../src/report/text/time_summary.ts";
import type { JobState, RunEvent, StepResult, StepRun } from "../../../src/run/event.ts";
import { inner, jobFinished, jobStarted, NOON, runStarted, stepFinished } from "../events.ts";

/** A job that ran: its id, its needs, when it started and how long it took. */
type Ran = readonly [
  id: string,
  needs: readonly string[],
  from: number,
  duration: number,
  JobState?,
];

type Step = readonly [run: StepRun, name: string, duration: number, changes?: Partial<StepResult>];

function summaryOf(jobs: readonly Ran[], steps: readonly Step[]) {
  const summary = new TimeSummary();
  const recorder = new Recorder({ keeps: "outcomes" });
  const take = (event: RunEvent) => summary.update(recorder.take(event));
  const { jobs: outlines, ...started } = runStarted(jobs.map(([id]) => id));
  take({
    ...started,
    jobs: outlines.map((job, at) => ({ ...job, needs: jobs[at]![1] })),
  });
  for (const [id, , from, duration, state = "passed"] of jobs) {
    const ofJob = steps.filter(([run]) => run.job === id);
    const rounds = ofJob[0]?.[0].round === undefined ? {} : { rounds: ofJob.length };
    const events = tallyRounds([
      { ...jobStarted(id, rounds), time: NOON + from },
      ...ofJob.map(([run, name, time, changes]) =>
        stepFinished(run, name, { duration: time, ...changes })
      ),
      jobFinished(id, { duration, state }),
    ]);
    for (const event of events) take(event);
  }
  return {
    render: (style: Style, room: Room) => {
      return summary.render(recorder.records()[0]!.jobs, style, room);
    },
  };
}

const three: readonly Ran[] = [
  ["build", [], 0, 200],
  ["lint", [], 0, 1500],
  ["test", ["build", "lint"], 1500, 50],
];

Deno.test("TimeSummary names the slowest steps and the jobs that decided the time", () => {
  const steps = three.flatMap(([job, , , duration]): Step[] => [
    [{ job, step: 0 }, `do ${job}`, duration],
    [{ job, step: 1 }, "again", 1],
    [inner({ job, step: 0 }), "inside", duration],
  ]);
  assertEquals(summaryOf(three, steps).render(PLAIN, IN_A_PIPE), [
    "Slowest steps",
    "     1.5s  Lint › do lint",
    "    200ms  Build › do build",
    "     50ms  Test › do test",
    "      1ms  Build › again",
    "      1ms  Lint › again",
    "Critical path 1.6s",
    "  Lint → Test",
    "",
  ]);
});

Deno.test("TimeSummary names each step of a repeat once, with its slowest round", () => {
  const job = "load";
  const rounds = Array.from({ length: 20 }, (_, round): Step[] => [
    [{ job, step: 0, round }, "ping", round === 7 ? 90 : 50],
    [{ job, step: 1, round, entry: 1 }, "pong", 10],
  ]);
  const once: Step = [{ job: "build", step: 0 }, "make", 60];
  assertEquals(
    summaryOf([["build", [], 0, 60], [job, [], 0, 1200]], [once, ...rounds.flat()])
      .render(PLAIN, IN_A_PIPE),
    [
      "Slowest steps",
      "     90ms  Load › ping (slowest of 20 rounds, repeat_index 7)",
      "     60ms  Build › make",
      "     10ms  Load › pong (slowest of 20 rounds, repeat_index 0, entry 2)",
      "Critical path 1.2s",
      "  Load",
      "",
    ],
  );
});

Deno.test("TimeSummary omits skipped jobs, and finds those before them", () => {
  const jobs: readonly Ran[] = [
    ["slow", [], 0, 900],
    ["quick", [], 0, 100],
    ["between", ["slow", "quick", "not chosen"], 900, 0, "skipped"],
    ["last", ["between"], 900, 300],
  ];
  const steps: Step[] = [
    [{ job: "slow", step: 0 }, "wait", 900],
    [{ job: "last", step: 0 }, "skipped one", 0, { state: "skipped" }],
  ];
  assertEquals(summaryOf(jobs, steps).render(PLAIN, IN_A_PIPE), [
    "Slowest steps",
    "    900ms  Slow › wait",
    "Critical path 1.2s",
    "  Slow → Last",
    "",
  ]);
});

Deno.test("TimeSummary stays within a terminal, and is not long for a long path", () => {
  const ids = Array.from({ length: 40 }, (_, at) => `job number ${at}`);
  const jobs = ids.map((id, at): Ran => [id, at === 0 ? [] : [ids[at - 1]!], at * 10, 10]);
  const summary = summaryOf(jobs, [[{ job: ids[0]!, step: 0 }, "a step with a long name", 12_345]]);
  for (const columns of [20, 30, 39, 40, 80]) {
    for (const line of summary.render(PLAIN, roomOf(columns))) {
      assert(displayWidth(line) <= columns, `${columns}: ${line}`);
    }
  }
  assertEquals(summary.render(PLAIN, roomOf(42)).slice(0, 3), [
    "Slowest steps",
    "    12.3s  Job number 0 › a step with a",
    "           long name",
  ]);
  const path = summary.render(PLAIN, IN_A_PIPE).at(-2);
  assertEquals(path?.split(" → ").length, 13);
  assert(path?.includes("Job number 5 → … (28 more jobs) → Job number 34"), path);
});

Deno.test("TimeSummary says nothing of a run without steps", () => {
  assertEquals(summaryOf([["build", [], 0, 5]], []).render(PLAIN, IN_A_PIPE), []);
});
