import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withRig } from "../support/run/rig.ts";
import { theProgram } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { readDirectory, REPORT_FILES, runReports } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";

const ONE = `name: Shop
jobs:
  - name: j
    steps: [{ name: ask, uses: http, with: { get: "{url}/asked" }, test: res.code == 200 }]
`;

Deno.test("--report-dir writes a report of every format into directories that it makes", async () => {
  const args = ["--report-dir", "reports", "w.yml"];
  const { code, stdout, stderr, reports } = await runReports({ "w.yml": ONE }, { args });
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, "✓ ask");
  assertEquals(Object.keys(reports).sort(), [...REPORT_FILES].sort());
  for (const [name, text] of Object.entries(reports)) assertStringIncludes(text, "Shop", name);
  const deep = await runReports({ "w.yml": ONE, "reports/old": "" }, {
    args: ["--report-dir", "./a/b//", "w.yml"],
  });
  assertEquals([deep.code, deep.reports], [0, { old: "" }]);
});

Deno.test("JUnit has a false expect or until as a failure, and what cannot be evaluated as an error", async () => {
  const { reports } = await runReports({
    "w.yml": `name: w
jobs:
  - name: expect
    repeat: { count: 2, expect: stats.failed == 1 }
    steps: [{ uses: hello }]
  - name: until
    steps:
      - { uses: hello, retry: { max_attempts: 2, until: status == 1 } }
      - { uses: hello, iteration: { max: 1, until: status == 1 } }
      - { uses: hello, test: "parse_json('{') == 1" }
`,
  });
  const problems = [...reports["junit.xml"]!.matchAll(/<(failure|error) .*type="(\w+)"/g)];
  assertEquals(problems.map(([, element, type]) => [element, type]), [
    ...Array(3).fill(["failure", "test"]),
    ["error", "expression"],
  ]);
});

Deno.test("--report may be given several times, with several reports each", async () => {
  const { code, reports } = await runReports({ "w.yml": ONE }, {
    args: [
      ...["--report", "junit=reports/a,b.xml,tap=reports/t", "--report=json=reports/x=y.json"],
      ...["w.yml", "--report", "markdown=reports/m"],
    ],
  });
  assertEquals(code, 0);
  assertEquals(Object.keys(reports).sort(), ["a,b.xml", "m", "t", "x=y.json"]);
  assertStringIncludes(reports["a,b.xml"]!, "<testsuites");
  assertStringIncludes(reports.t!, "TAP version 14");
  assertEquals(JSON.parse(reports["x=y.json"]!).schema, "runner-report/1");
});

Deno.test('"-" puts a report in place of the text', async () => {
  for (const name of ["junit", "tap", "json", "ndjson", "ctrf", "markdown", "html"]) {
    const args = ["--report", `${name}=-`, "w.yml"];
    const { code, stdout, stderr } = await runReports({ "w.yml": ONE }, { args });
    assertEquals([code, stderr], [0, ""], name);
    assert(!stdout.includes("Total workflow time"), stdout);
    if (name === "json") assertEquals(JSON.parse(stdout).jobs[0].steps[0].name, "ask");
    if (name === "ndjson") {
      for (const line of stdout.trimEnd().split("\n")) assert(JSON.parse(line).type, line);
      // To the microsecond, not to where the clock is noise.
      const durations = stdout.matchAll(/"(?:duration|responseTime)":([\d.]+)/g).toArray();
      assertEquals(durations.map(([, time]) => /\.\d{4}/.test(time!)), [
        false,
        false,
        false,
        false,
        false,
      ]);
    }
  }
});

const REFUSED: readonly (readonly [args: string, error: string, hint?: string])[] = [
  ["--report jnuit=x", 'unknown report format "jnuit"', 'did you mean "junit"?'],
  ["--report junit=x,JUnti=y", 'unknown report format "JUnti"', 'did you mean "junit"?'],
  ["--report pdf=x", 'unknown report format "pdf"', "the formats are junit, tap, json"],
  ["--report junit", "--report junit needs a path", "--report junit=junit.xml, or junit=-"],
  ["--report junit=a,tap", "--report tap needs a path"],
  ["--report tap=", "--report tap needs a path"],
  ["--report =x", 'unknown report format ""'],
  ["--report github=x", "--report github takes no path"],
  ["--report github --no-github", "options --report github and --no-github cannot be combined"],
  ["--report junit=r,tap=./r", "two reports go to './r': junit and tap"],
  ["--report junit=x/../junit.xml --report-dir .", "two reports go to './junit.xml'"],
  ["--report json=- --report tap=-", "two reports go to standard output: json and tap"],
  ["--report json=w.yml", "cannot write the report 'w.yml': the run reads this file"],
  ["--report json=folder", "cannot write the report 'folder': it is a directory"],
  ["--report json=new/", "cannot write the report 'new/': it is a directory"],
  ["--report json=file/x", "cannot write the report 'file/x': Not a directory"],
  ["--report tap=new/t,ndjson=folder", "cannot write the report 'folder': it is a directory"],
  ["--report-dir file", "cannot write the report 'file/junit.xml': Not a directory"],
  ["--report json=x --dry-run", "--dry-run runs nothing, so there is nothing to report"],
  ["--report-dir x --list", "--list runs nothing, so there is nothing to report"],
];

Deno.test("a report that cannot be written is an error before anything runs, and leaves nothing", () =>
  withRig((rig) =>
    withFiles(
      { "w.yml": ONE.replace("{url}", rig.url), "file": "", "folder/x": "" },
      async (cwd) => {
        for (const [args, error, hint = ""] of REFUSED) {
          const { code, stdout, stderr } = await runMain([...args.split(" "), "w.yml"], { cwd });
          assertEquals([code, stdout], [1, ""], args);
          assertStringIncludes(stderr, `runner: error: ${error}`);
          assertStringIncludes(stderr, hint);
          const left = [...Deno.readDirSync(cwd)].map(({ name }) => name).sort();
          assertEquals(left, ["file", "folder", "w.yml"], args);
        }
        assertEquals(rig.seen, []);
      },
    )
  ));

Deno.test("a full disk is reported, and the other reports are written", async () => {
  for (const format of ["junit", "ndjson", "html"]) {
    const args = ["--report", `${format}=/dev/full,tap=reports/t,json=reports/j`, "w.yml"];
    const { code, stdout, stderr, reports } = await runReports({ "w.yml": ONE }, { args });
    assertStringIncludes(stdout, "All jobs succeeded");
    const message = "cannot write the report '/dev/full': No space left on device";
    assertEquals([code, stderr], [1, `runner: error: ${message}\n`]);
    assertEquals(Object.keys(reports).sort(), ["j", "t"]);
  }
});

Deno.test("where standard output cannot be written, all reports are", async () => {
  const hello = "name: n\njobs: [{ name: j, steps: [{ uses: hello }] }]\n";
  await withFiles({ "w.yml": hello }, async (cwd) => {
    const [program, before] = theProgram();
    const args = ["-c", 'exec "$@" > /dev/full', "sh", program, ...before];
    const { code, stderr } = await new Deno.Command("sh", {
      args: [...args, "--report-dir", "reports", "w.yml"],
      cwd,
    }).output();
    const message = "cannot write to standard output: No space left on device";
    assertEquals([code, new TextDecoder().decode(stderr)], [1, `runner: error: ${message}\n`]);
    assertEquals(Object.keys(readDirectory(`${cwd}/reports`)).sort(), [...REPORT_FILES].sort());
  });
});

Deno.test("no report is written of a workflow that cannot be loaded", async () => {
  const files = { "w.yml": "name: n\njobs: []\n", "reports/junit.xml": "of an earlier run" };
  const { code, stderr, reports } = await runReports(files);
  assertEquals([code, reports], [1, { "junit.xml": "of an earlier run" }]);
  assertStringIncludes(stderr, "jobs");
});

Deno.test("a report is of the jobs that were chosen, as they ran", async () => {
  const yaml = `name: n
jobs:
  - { name: first, id: first, steps: [{ name: a, uses: hello, test: "false" }, { name: b, uses: hello }] }
  - { name: second, id: second, steps: [{ name: c, uses: hello }] }
  - { name: third, id: third, steps: [{ name: d, uses: hello }] }
`;
  const jobsOf = async (...options: string[]) => {
    const args = [...options, "--report", "json=-", "w.yml"];
    const { stdout } = await runReports({ "w.yml": yaml }, { args });
    const { jobs } = JSON.parse(stdout);
    return jobs.map((job: Record<string, string>) => [job.id, job.state, job.reason ?? ""]);
  };
  assertEquals(await jobsOf("--only", "second"), [["second", "passed", ""]]);
  assertEquals(await jobsOf("--skip", "second", "--jobs", "1"), [
    ["first", "failed", ""],
    ["second", "skipped", "--skip"],
    ["third", "passed", ""],
  ]);
  assertEquals(await jobsOf("--fail-fast", "--jobs", "1"), [
    ["first", "failed", ""],
    ["second", "skipped", 'not started: --fail-fast after "first" failed'],
    ["third", "skipped", 'not started: --fail-fast after "first" failed'],
  ]);
});

Deno.test("a report that takes the place of another keeps its readers", async () => {
  await withFiles(
    { "w.yml": ONE.replace(/uses: http.*/, "uses: hello }]"), "r": "old" },
    async (cwd) => {
      Deno.chmodSync(`${cwd}/r`, 0o640);
      const { code } = await runMain(["--report", "tap=r", "w.yml"], { cwd });
      assertEquals([code, Deno.statSync(`${cwd}/r`).mode! & 0o777], [0, 0o640]);
      assertStringIncludes(readDirectory(cwd).r!, "TAP version 14");
    },
  );
});
