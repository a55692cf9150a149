import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
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

Deno.test("retry.for limits the time of all attempts, and waiting is never flaky", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${silent.addr.port}/`;
  const files = {
    "w.yml": `name: n
jobs:
- name: j
  steps:
  - name: a server that never answers
    uses: http
    with: { get: "${url}" }
    retry: { for: 300ms, interval: 20ms }
  - name: it answers in time
    uses: shell
    with: { cmd: "echo x >> tries; grep -c x tries" }
    retry: { for: 2m, interval: 1ms }
    test: trim(res.stdout) == "3"
  - name: never
    uses: assert
    retry: { for: 40ms, interval: 10ms }
    test: 1 == 2
  - name: too late for another
    uses: assert
    retry: { for: 900ms }
    test: 1 == 2
  - name: beside max_attempts
    uses: assert
    retry: { for: 2m, max_attempts: 2 }
    test: 1 == 2
`,
    "wrong.yml": "name: n\njobs:\n- name: j\n  steps:\n  - { uses: hello, retry: { for: } }\n",
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout } = await runMain(["--report-dir", "reports", "w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, " 1. ✗ a server that never answers ↻ 1 within 300ms (");
    assertStringIncludes(stdout, "w.yml:8:19: cannot send GET");
    assertMatch(stdout, /the step timed out after (300|29\d)ms while waiting for the answer/);
    assertMatch(stdout, / 2\. ✓ it answers in time ↻ 3 within 2m( \(.*)?\n/);
    assertMatch(stdout, / 3\. ✗ never ↻ [2-5] within 40ms\n/);
    // The next attempt would begin after the time is over.
    assertStringIncludes(stdout, " 4. ✗ too late for another ↻ 1 within 900ms\n");
    assertStringIncludes(stdout, " 5. ✗ beside max_attempts ↻ 2/2\n");
    assertEquals(stdout.includes("flaky"), false);
    const report = JSON.parse(await Deno.readTextFile(`${cwd}/reports/report.json`));
    const steps: Record<string, unknown>[] = report.jobs[0].steps;
    assertEquals(steps.map((step) => step.retryTime), [300, 120_000, 40, 900, 120_000]);
    assertEquals(steps.map((step) => step.maxAttempts), [...Array(4).fill(undefined), 2]);
    assertEquals(validateAll(await readClosedSchema("report.schema.json"), { report }).report, []);
    const events = (await Deno.readTextFile(`${cwd}/reports/events.ndjson`)).trim().split("\n");
    const lines = Object.fromEntries(events.map((line, index) => [index, JSON.parse(line)]));
    const wrong = validateAll(await readClosedSchema("events.schema.json"), lines);
    assertEquals(Object.values(wrong).flat(), []);
    const { stderr } = await runMain(["wrong.yml"], { cwd });
    assertStringIncludes(stderr, 'error: retry needs "max_attempts"');
  });
});
