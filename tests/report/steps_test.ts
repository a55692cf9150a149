import { assertEquals, assertStringIncludes } from "@std/assert";
import { quietReport } from "../../src/report/text/text_report.ts";
import { PLAIN, type Reporter } from "../../src/report/reporter.ts";
import type { TextOptions } from "../../src/report/text/late_texts.ts";
import { stepName } from "../../src/report/text/warning_report.ts";
import { Recorder } from "../../src/report/recorder.ts";
import { StepTrees } from "../../src/run/step_trees.ts";
import type { StepTree } from "../../src/run/event.ts";
import type { Failure, RunEvent } from "../../src/run/event.ts";
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
} from "./events.ts";
import { textReport } from "../../src/report/text/text_report.ts";

const outer = { job: "build", step: 0 };
const OPTIONS: TextOptions = { timing: false, style: PLAIN, late: LATE };

const failed = { state: "failed", failures: [falseTest()] } as const;

const failedInside: Failure = {
  kind: "embedded",
  field: "with.path",
  message: "jobs/x.yml failed: 1 of 1 step",
  place: { file: "api.yml", line: 9, column: 5, text: "path: jobs/x.yml", from: 0, to: 4 },
};

const retried = (run: typeof outer): RunEvent => ({
  type: "step_retried",
  runId: "r",
  time: NOON,
  run,
  attempt: { number: 1, started: NOON, duration: 5, outcome: "failed" },
  of: 3,
});

function namesIn({ result, inside }: StepTree): unknown {
  return inside.length === 0 ? result.name : [result.name, inside.map(namesIn)];
}

Deno.test("StepTrees gives a step back with all that ran inside of it, in order", () => {
  const trees = new StepTrees();
  const finish = (run: typeof outer, name: string) => trees.finish(stepFinished(run, name));
  const deep = inner(outer, 1);
  assertEquals(finish(inner(outer), "first"), undefined);
  assertEquals(finish(inner({ ...outer, job: "other" }), "of another job"), undefined);
  assertEquals(finish(inner(deep, 0), "deep"), undefined);
  assertEquals(finish(deep, "second"), undefined);
  assertEquals(namesIn(finish(outer, "outer")!), ["outer", ["first", ["second", ["deep"]]]]);
  assertEquals(namesIn(finish(outer, "outer again")!), "outer again");
});

Deno.test("StepTrees keeps rounds and entries apart, and forgets an attempt that is retried", () => {
  const trees = new StepTrees();
  const rounds = [0, 1].map((round) => ({ ...outer, round, entry: 1 - round }));
  for (const run of rounds) trees.finish(stepFinished(inner(run), `of ${run.round}`));
  trees.retry(rounds[0]!);
  assertEquals(
    rounds.map((run) => namesIn(trees.finish(stepFinished(run, "outer"))!)),
    ["outer", ["outer", ["of 1"]]],
  );
});

Deno.test("stepName() calls a step of an embedded job by the steps around it", () => {
  const recorder = new Recorder({ keeps: "outcomes" });
  const round = { ...outer, round: 2 };
  recorder.take(runStarted(["build"]));
  recorder.take(stepStarted(round, "sign in"));
  const { run } = recorder.take(stepStarted(inner(round, 3), "post"));
  assertEquals(stepName(run!, inner(round, 3)), "Build › sign in (repeat_index 2) › post");
});

const RETRIED = [
  runStarted(["build"]),
  jobStarted("build"),
  stepStarted(outer, "outer"),
  stepFinished(inner(outer), "inside", failed),
  retried(outer),
  stepFinished(inner(outer), "inside"),
  stepFinished(inner(outer, 1), "also inside", { state: "untested" }),
];

const reporters: readonly (readonly [string, (options: TextOptions) => Reporter])[] = [
  ["textReport", textReport],
  ["quietReport", quietReport],
];
for (const [name, make] of reporters) {
  Deno.test(`${name}() omits an attempt of an embedded job that was retried`, () => {
    const events = [...RETRIED, stepFinished(outer, "outer"), jobFinished("build")];
    assertEquals(reportOf(make(OPTIONS), events).includes("test is false"), false);
  });
}

Deno.test("textReport() holds the steps of an embedded job until the step around them is over", () => {
  const report = eventByEvent(textReport(OPTIONS));
  assertEquals(RETRIED.map(report).join(""), "Shop\n\n");
  assertEquals(
    report(stepFinished(outer, "outer", { echo: "said\n" })),
    [
      "● Build",
      "   1. ✓ outer",
      "        1. ✓ inside",
      "        2. ○ also inside",
      "        said",
      "",
    ].join("\n"),
  );
});

Deno.test("textReport() lists a step that failed once, with what failed inside of it", () => {
  const text = (failures: readonly Failure[]) =>
    reportOf(textReport(OPTIONS), [
      runStarted(["build"]),
      jobStarted("build"),
      stepFinished(inner(inner(outer)), "deep", failed),
      stepFinished(inner(inner(outer), 1), "too", failed),
      stepFinished(inner(outer), "inside", { state: "failed", failures: [failedInside] }),
      stepFinished(outer, "outer", { state: "failed", failures }),
      jobFinished("build", { state: "failed" }),
      runFinished({ state: "failed" }),
    ]);
  const list = (failures: readonly Failure[]) =>
    text(failures).split("\n").slice(text(failures).split("\n").indexOf("Failures") + 1, -5);
  assertStringIncludes(
    text([failedInside]),
    "\n        api.yml:9:5: jobs/x.yml failed: 1 of 1 step\n",
  );
  const falsely = "     test is false: res.body.total is 2 (int)";
  const deep = [
    "  1. Build › outer › inside › deep   api.yml:14:11",
    falsely,
    "     and 1 more: too",
  ];
  assertEquals(list([failedInside]), deep);
  assertEquals(list([failedInside, falseTest()]), [
    ...deep,
    "  2. Build › outer   api.yml:9:5",
    "     jobs/x.yml failed: 1 of 1 step; test is false: res.body.total is 2 (int)",
  ]);
});

Deno.test("textReport() keeps to a terminal inside of embedded jobs too", () => {
  const text = reportOf(textReport({ ...OPTIONS, columns: () => 60 }), [
    runStarted(["build"]),
    jobStarted("build"),
    stepFinished(inner(inner(outer)), "deep", {
      state: "failed",
      failures: [{ ...falseTest(), message: "word ".repeat(30).trim() }],
    }),
    stepFinished(inner(outer), "inside", { state: "failed", failures: [failedInside] }),
    stepFinished(outer, "outer", { state: "failed", failures: [failedInside] }),
  ]);
  assertEquals(text.split("\n").filter((line) => line.length > 60), []);
});
