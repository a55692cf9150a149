import { assertEquals, assertStringIncludes } from "@std/assert";
import { readClosedSchema, validateAll } from "../support/programs/ajv.ts";
import { runMain } from "../support/run/run_main.ts";
import { REPORT_FILES, runReports } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";

const REPORTS = ["--no-check", "--report-dir", "reports", "w.yml"];

Deno.test("uses: assert is the action of a step that only asserts", () =>
  withFiles({
    "w.yml": `name: n
jobs:
- name: j
  steps:
  - { id: a, uses: hello, outputs: { total: 12 } }
  - { uses: assert, test: outputs.a.total == 12 }
  - { uses: assert, test: outputs.a.total == 13 }
`,
    "without.yml": "name: n\njobs:\n- name: j\n  steps:\n  - test: 1 == 1\n",
  }, async (cwd) => {
    const { code, stdout } = await runMain(["w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "   2. ✓ assert\n   3. ✗ assert\n");
    assertStringIncludes(stdout, "outputs.a.total is 12 (int)");
    // The format wants an action of every step.
    const { code: refused, stderr } = await runMain(["without.yml"], { cwd });
    assertEquals(refused, 1);
    assertStringIncludes(stderr, 'without.yml:5:5: error: a step needs "uses"');
    assertStringIncludes(stderr, '^^^^^^^^^^^^ a step that only asserts is "uses: assert"');
  }));

Deno.test("assertions with words say them in every report, whether they hold or not", async () => {
  const files = {
    "w.yml": `name: n
vars: { id: 7, total: 11 }
jobs:
- name: j
  steps:
  - uses: assert
    test:
    - vars.id == 7
    - { that: vars.total == 12, says: "the total of {{vars.id}} is right" }
    - { that: res.none.at.all == 1, says: "nothing is missing: {{res.none}}" }
    - { that: vars.total == 11, says: "no {{vars.id}} is left out" }
- name: k
  repeat: { count: 2, expect: [{ that: stats.passed == 1, says: only one passes }] }
  steps: [{ uses: hello }]
`,
  };
  const { code, stdout, reports } = await runReports(files, { args: ["-v", ...REPORTS] });
  assertEquals(code, 1);
  const words = "the total of 7 is right: test 2 of 4 is false";
  assertStringIncludes(stdout, `w.yml:9:15: ${words}\n`);
  assertStringIncludes(stdout, "w.yml:10:19: nothing is missing: nil: res has no");
  assertStringIncludes(stdout, "w.yml:13:40: only one passes: expect is false: stats.passed is 2");
  for (const name of REPORT_FILES) assertStringIncludes(reports[name]!, words, name);
  const report = JSON.parse(reports["report.json"]!);
  const { tests } = report.jobs[0].steps[0];
  assertEquals(tests.map((test: { says?: string }) => test.says), [undefined, "no 7 is left out"]);
  assertEquals(validateAll(await readClosedSchema("report.schema.json"), { report }).report, []);
});
