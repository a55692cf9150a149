import { assertEquals } from "@std/assert";
import { makeReporter } from "../../src/report/open_report.ts";
import { REPORT_FORMATS } from "../../src/report/registry.ts";
import { PLAIN } from "../../src/report/style.ts";
import { jobFinished, jobStarted, reportOf, runStarted, stepFinished } from "./events.ts";

Deno.test("REPORT_FORMATS has spinner and stream, which make the same text", async () => {
  assertEquals(REPORT_FORMATS.map(({ name, live }) => [name, live]), [
    ["spinner", true],
    ["stream", false],
  ]);
  const events = [
    runStarted(["build"]),
    jobStarted("build"),
    stepFinished({ job: "build", step: 0 }, "compile"),
    jobFinished("build"),
  ];
  for (const name of ["text", "live"] as const) {
    const reporter = await makeReporter(name, { timing: false, style: PLAIN });
    assertEquals(
      reportOf(reporter, events),
      "Shop\n\n⏺ Build\n   0. ✓  compile\n  ⎿ Completed in 0.12s\n\n",
    );
  }
});
