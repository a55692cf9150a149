import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { loadWorkflow, makePlan, makeReport, type ReportName, run } from "../../mod.ts";
import type { ReportOptions, RunOptions } from "../../mod.ts";
import { FILE_FORMATS } from "../../src/report/files/registry.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const WORKFLOW = `
name: Library
jobs:
  - name: say
    id: say
    steps:
      - { uses: echo, with: { message: hello }, test: res.message == "hello" }
      - { name: wrong, uses: hello, test: status == 1 }
  - name: after
    needs: [say]
    steps:
      - { uses: hello }
`;

/** The text of a report of the workflow. */
function report(name: ReportName, look: ReportOptions = {}, how: RunOptions = {}) {
  return withFiles({ "w.yml": WORKFLOW }, async (directory) => {
    const plan = await makePlan(await loadWorkflow(`${directory}/w.yml`), { environment: {} });
    const add = await makeReport(name, look);
    let text = "";
    for await (const event of run(plan, how)) text += add(event);
    return text.replaceAll(`${directory}/`, "");
  });
}

/** Returns the output of the command line for the same run. */
async function printed(...options: string[]) {
  return await withFiles({ "w.yml": WORKFLOW }, (directory) => {
    return runMain(["--no-color", ...options, "w.yml"], { cwd: directory });
  });
}

/** Without what is another in each run: times, also of slow steps, and lines in an order of times. */
function steady(text: string): string[] {
  const timeless = text.replace(/\d+(\.\d+)?(s|ms|µs)\b|\d+:\d\d:\d\d(\.\d+)?/g, "0");
  return timeless.replaceAll(" (0)", "").replace(/[ \t]+/g, " ").split("\n").sort();
}

const FORMS: readonly {
  readonly name: ReportName;
  readonly look?: ReportOptions;
  readonly how?: RunOptions;
  readonly options: readonly string[];
}[] = [
  { name: "text", options: [] },
  { name: "text", look: { timing: true }, options: ["--timing"] },
  { name: "quiet", options: ["--quiet"] },
  { name: "quiet", look: { timing: true }, options: ["--quiet", "--timing"] },
  { name: "verbose", how: { debug: true }, options: ["--verbose"] },
];

for (const { name, look, how, options } of FORMS) {
  const title = [name, ...Object.keys(look ?? {})].join(" and ");
  Deno.test(`the report ${title} is that of the command line`, async () => {
    const { stdout, stderr } = await printed(...options);
    const wanted = name === "verbose" ? stderr : stdout;
    assertStringIncludes(wanted, "wrong");
    assertEquals(steady(await report(name, look, how)), steady(wanted));
  });
}

const BEGINNINGS: Readonly<Partial<Record<ReportName, string>>> = {
  junit: "<?xml",
  tap: "TAP version 14",
  json: '{\n  "',
  ndjson: '{"type":"run_started"',
  ctrf: '{"reportFormat":"CTRF"',
  markdown: "## ❌ ",
  html: "<!doctype html>",
  github: "::stop-commands::",
  "github-summary": "## ❌ ",
  warnings: "",
  coverage: '{\n  "schema": "runner-coverage/1"',
};

for (
  const name of [...FILE_FORMATS.map(({ name }) => name), "github-summary", "warnings"] as const
) {
  Deno.test(`makeReport() makes the report ${name}`, async () => {
    const text = await report(name, {}, { detailed: true });
    const beginning = BEGINNINGS[name];
    assert(beginning !== undefined);
    assertEquals(text.slice(0, beginning.length), beginning);
    assertEquals(text.includes("wrong"), name !== "warnings" && name !== "coverage");
  });
}

Deno.test("a report of an unknown name is refused", async () => {
  const name = "xml" as ReportName;
  await assertRejects(() => makeReport(name), TypeError, 'there is no report "xml"');
});

Deno.test("a report has colours and a width on request", async () => {
  assertStringIncludes(await report("text", { colour: true }), "\x1b[");
  const narrow = await report("quiet", { columns: 40 });
  for (const line of narrow.split("\n").slice(0, -2)) assert(line.length <= 40, line);
});
