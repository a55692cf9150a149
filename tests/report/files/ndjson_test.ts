import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { RunnerError } from "../../../src/base/errors.ts";
import { VERSION } from "../../../src/cli/version.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import { readEvents } from "../../../src/report/files/ndjson.ts";
import { Recorder } from "../../../src/report/recorder.ts";
import { FILE_FORMATS } from "../../../src/report/files/registry.ts";
import { PLAIN, printableEvent } from "../../../src/report/reporter.ts";
import { textReport } from "../../../src/report/text/text_report.ts";
import type { RunEvent } from "../../../src/run/event.ts";
import { runReports } from "../../support/run/run_reports.ts";
import {
  eventByEvent,
  jobFinished,
  jobStarted,
  LATE,
  reportOf,
  runFinished,
  runStarted,
  stepFinished,
} from "../events.ts";
import { hostileWorkflow } from "./hostile_run.ts";
import { RICH_FILES } from "./rich_run.ts";

const TOOL = { name: "runner", version: VERSION };

for (
  const [title, files] of [["rich", RICH_FILES], ["hostile", {
    "w.yml": hostileWorkflow(),
  }]] as const
) {
  Deno.test(`every report of a ${title} run can be made again of its events.ndjson`, async () => {
    const { stdout, reports } = await runReports(files);
    const events = [...readEvents(reports["events.ndjson"]!, "events.ndjson")];
    const text = reportOf(
      textReport({ timing: false, style: PLAIN, late: LATE }),
      events.map(printableEvent),
    );
    // The names of the reports follow when they are written.
    assertEquals(text, stdout.slice(0, stdout.indexOf("\nReports ") + 1));
    const recorder = new Recorder({ keeps: "everything", tool: TOOL });
    for (const event of events) recorder.take(event);
    for (const format of FILE_FORMATS) {
      if (!format.file || format.isOnlyByName) continue;
      const again = format.kind === "document"
        ? [...(await format.load())(recorder.records())].join("")
        : events.map(eventByEvent({ report: await format.load(denoHost()) })).join("");
      assertEquals(again, reports[format.file], format.name);
    }
  });
}

function ndjson(...events: readonly unknown[]): string {
  return events.map((event, at) => `${JSON.stringify({ ...event as object, seq: at + 1 })}\n`)
    .join("");
}

Deno.test("readEvents() leaves out types of newer versions and a last line that was torn", () => {
  const text = ndjson(runStarted(["a"]), { type: "coverage", runId: "r" }, jobStarted("a"));
  const types = [...readEvents(`${text}\n{"type":"job_fin`, "f")].map(({ type }) => type);
  assertEquals(types, ["run_started", "job_started"]);
});

for (const line of ["nonsense", "[]", "{}", '{"type":"note","time":1}', '{"type":1,"runId":"r"}']) {
  Deno.test(`readEvents() names the line that is not an event: ${line}`, () => {
    const text = `${ndjson(runStarted(["a"]))}${line}\n`;
    assertThrows(() => [...readEvents(text, "f")], RunnerError, "f:2: not an event of a run");
  });
}

Deno.test("concurrent runs in one report are distinguished by their ids", async () => {
  const one = (runId: string, name: string): RunEvent[] =>
    [
      runStarted(["build"], { name }),
      jobStarted("build"),
      stepFinished({ job: "build", step: 0 }, name === "A" ? "fine" : "wrong", {
        state: name === "A" ? "passed" : "failed",
      }),
      jobFinished("build", { state: name === "A" ? "passed" : "failed" }),
      runFinished(),
    ].map((event) => ({ ...event, runId }));
  const recorder = new Recorder({ keeps: "everything", tool: TOOL });
  const [a, b] = [one("1", "A"), one("2", "B")];
  for (const [index, event] of a.entries()) {
    recorder.take(event);
    recorder.take(b[index]!);
  }
  const records = recorder.records();
  assertEquals(records.map(({ id, name }) => [id, name]), [["1", "A"], ["2", "B"]]);
  const render = async (name: string) => {
    const format = FILE_FORMATS.find((each) => each.name === name)!;
    assert(format.kind === "document");
    return [...(await format.load())(records)].join("");
  };
  const ctrf = JSON.parse(await render("ctrf"));
  assertEquals(ctrf.results.summary.tests, 2);
  assertEquals(ctrf.results.tests.map((test: { name: string }) => test.name), [
    "A › Build › fine",
    "B › Build › wrong",
  ]);
  const junit = await render("junit");
  assertStringIncludes(junit, '<testsuites name="2 workflows" tests="2"');
  assertEquals(junit.match(/<testsuite name="[^"]*"/g), [
    '<testsuite name="A › Build"',
    '<testsuite name="B › Build"',
  ]);
  assertEquals((await render("tap")).match(/^(not )?ok .*/gm), [
    "ok 1 - A › Build",
    "not ok 2 - B › Build",
  ]);
  assertEquals((await render("markdown")).match(/^## .*/gm)?.length, 2);
});
