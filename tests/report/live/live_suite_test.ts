import { assertEquals } from "@std/assert";
import { liveSuite } from "../../../src/report/live.ts";
import { PLAIN } from "../../../src/report/reporter.ts";
import type { RunEvent, SuiteStarted } from "../../../src/run/event.ts";
import { jobStarted, NOON, runFinished, runStarted, stepStarted } from "../events.ts";

const build = { job: "build", step: 0 };

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

Deno.test("liveSuite() has a line for each workflow that runs, with the step under way", () => {
  const report = liveSuite({ timing: false, style: PLAIN });
  const take = (events: readonly RunEvent[]) => events.forEach((event) => report.report(event));
  const lines = () => report.live!(NOON + 1200, 80, 20).map(({ text }) => text);
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

Deno.test("liveSuite() counts setup only where it fails", () => {
  const report = liveSuite({ timing: false, style: PLAIN });
  const [setup, ...events] = begun("s", "Sign in", 0);
  const role = { id: "s", index: 0, role: "setup" } as const;
  for (const event of [SUITE, { ...setup, suite: role }, ...events]) {
    report.report(event as RunEvent);
  }
  const counts = () => report.live!(NOON, 80, 20).at(-1)!.text;
  assertEquals(counts(), "  0 of 3 done");
  const failed = { state: "failed", jobs: { passed: 0, failed: 1, skipped: 0 } } as const;
  report.report({ ...runFinished(failed), runId: "s" });
  report.report({ ...begun("a", "Shop", 0)[0]!, runId: "a" });
  assertEquals(counts(), "  0 of 3 done, 1 failed");
});
