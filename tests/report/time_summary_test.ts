import { assertEquals } from "@std/assert";
import { PLAIN } from "../../src/report/style.ts";
import { TimeSummary } from "../../src/report/time_summary.ts";
import { jobFinished, jobStarted, NOON, runStarted, stepFinished } from "./events.ts";

Deno.test("TimeSummary names the slowest steps and the jobs that decided the time", () => {
  const summary = new TimeSummary();
  const { jobs, ...started } = runStarted(["build", "lint", "test"]);
  const needs = [[], [], ["build", "lint"]];
  summary.update({ ...started, jobs: jobs.map((job, at) => ({ ...job, needs: needs[at]! })) });
  const ran = [["build", 0, 200], ["lint", 0, 1500], ["test", 1500, 50]] as const;
  for (const [id, from, duration] of ran) {
    summary.update({ ...jobStarted(id), time: NOON + from });
    summary.update(stepFinished({ job: id, step: 0 }, `do ${id}`, { duration }));
    summary.update(stepFinished({ job: id, step: 1, round: 2 }, "again", { duration: 1 }));
    summary.update(jobFinished(id, { duration }));
  }
  assertEquals(summary.render(PLAIN), [
    "Slowest steps",
    "    1.50s  Lint › do lint",
    "  200.0ms  Build › do build",
    "   50.0ms  Test › do test",
    "    1.0ms  Build › again (repeat_index 2)",
    "    1.0ms  Lint › again (repeat_index 2)",
    "Critical path Lint → Test (1.55s)",
    "",
  ]);
});

Deno.test("TimeSummary says nothing of a run without steps", () => {
  const summary = new TimeSummary();
  summary.update(runStarted(["build"]));
  assertEquals(summary.render(PLAIN), []);
});
