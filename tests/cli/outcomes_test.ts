import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
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
    assertMatch(stdout, /^ {3}2\. ✓ assert.*\n {3}3\. ✗ assert/m);
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
  load: { users: 1, count: 2, expect: [{ that: stats.passed == 1, says: only one passes }] }
  steps: [{ uses: hello }]
`,
  };
  const { code, stdout, reports } = await runReports(files, { args: ["-v", ...REPORTS] });
  assertEquals(code, 1);
  const words = "the total of 7 is right: test 2 of 4 is false";
  assertStringIncludes(stdout, `w.yml:9:15: ${words}\n`);
  assertStringIncludes(stdout, "w.yml:10:19: nothing is missing: nil: res has no");
  assertStringIncludes(
    stdout,
    "w.yml:13:48\n     only one passes: expect is false: stats.passed is 2",
  );
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
  - name: sooner than the interval
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
    assertStringIncludes(stdout, " 1. ✗ a server that never answers (");
    assertStringIncludes(stdout, "w.yml:8:19: cannot send GET");
    assertMatch(stdout, /the step timed out after (300|29\d)ms while waiting for the answer/);
    assertMatch(stdout, / 2\. ✓ it answers in time ↻ 3 within 2m( \(.*)?\n/);
    assertMatch(stdout, / 3\. ✗ never ↻ [2-5] within 40ms\n/);
    // The next attempt would begin after the time is over: it begins at its end.
    assertMatch(stdout, / 4\. ✗ sooner than the interval ↻ 2 within 900ms/);
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
    assertStringIncludes(stderr, 'error: "for" must not be empty');
  });
});

const KNOWN = `name: n
vars: { env: staging }
jobs:
- name: j
  id: j
  on_failure: stop
  steps:
  - { name: marked, uses: assert, test: 1 == 2, allow_failure: vars.env == "staging" }
  - { name: after it, uses: assert, test: 1 == 1 }
- name: whole
  id: whole
  needs: [j]
  allow_failure: true
  on_failure: stop
  steps:
  - { name: in a marked job, uses: assert, test: 1 == 3 }
  - { name: left out, uses: assert, test: 1 == 1 }
  finally:
  - { name: sees it, uses: assert, test: job.state == "failed" }
- name: rounds
  id: rounds
  needs: [j]
  allow_failure: true
  repeat: { count: 2 }
  steps: [{ name: round, uses: assert, test: repeat_index == 1 }]
- name: after them
  needs: [whole, rounds]
  steps: [{ uses: assert, test: needs.whole.state == "passed" && needs.rounds.state == "passed" }]
`;

Deno.test("allowed failures are shown and counted, and fail nothing, in every report", async () => {
  const args = ["--fail-fast", "--jobs", "1", ...REPORTS];
  const { code, stdout, stderr, reports } = await runReports({ "w.yml": KNOWN }, { args });
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(
    stdout,
    "   1. ! marked (allowed failure)\n        w.yml:8:41: test is false\n",
  );
  assertStringIncludes(stdout, "   2. ✓ after it\n");
  assertStringIncludes(stdout, "   2. - left out (skipped: on_failure is stop,");
  assertMatch(stdout, /\n {3}3\. ✓ cleanup: sees it\n! .* \(allowed failure\)\n/);
  assertStringIncludes(stdout, "! 1/2 passed (50.0%), 1 allowed failure\n");
  assertEquals(stdout.includes("Failures\n"), false);
  const counts = "4 passed · 3 allowed · 1 skipped (8)";
  assertStringIncludes(stdout, `\nSteps      ${counts}\n`);
  const junit = reports["junit.xml"]!;
  assertMatch(junit, /<testsuites [^>]*tests="7" failures="0" errors="0"/);
  assertEquals(junit.split('<property name="allowed" value="true"/>').length - 1, 3);
  const tap = reports["report.tap"]!;
  assertStringIncludes(tap, "    not ok 1 - marked # TODO allowed failure\n");
  assertStringIncludes(tap, "\nok 1 - j\n");
  assertStringIncludes(tap, "# allowed 3\n");
  const ctrf = JSON.parse(reports["ctrf.json"]!).results;
  assertEquals([ctrf.summary.failed, ctrf.summary.extra.allowed], [0, 3]);
  assertStringIncludes(
    reports["summary.md"]!,
    "### Allowed failures\n\n- j › marked: test is false\n",
  );
  assertEquals(reports["summary.md"]!.includes("### Failures"), false);
  assertStringIncludes(reports["report.html"]!, '"state":"allowed","allowFailure":true');
  const report = JSON.parse(reports["report.json"]!);
  assertEquals([report.state, report.totals.steps.failed, report.totals.steps.allowed], [
    ...["passed", 0, 3],
  ]);
  assertEquals(
    report.jobs.map(({ state, allowFailure }: { state: string; allowFailure?: true }) => [
      ...[state, allowFailure],
    ]),
    [["passed", undefined], ["passed", true], ["passed", true], ["passed", undefined]],
  );
  assertEquals(validateAll(await readClosedSchema("report.schema.json"), { report }).report, []);
  const lines = reports["events.ndjson"]!.trim().split("\n").map((line) => JSON.parse(line));
  const wrong = validateAll(await readClosedSchema("events.schema.json"), { ...lines });
  assertEquals(Object.values(wrong).flat(), []);
});

Deno.test("an allowed failure is a notice on GitHub, and one that passed warns that the mark can go", () =>
  withFiles({
    "w.yml": KNOWN,
    "passes.yml": `name: n
jobs:
- name: j
  steps:
  - { name: a, uses: assert, test: 1 == 1, allow_failure: true }
  - { name: b, uses: assert, test: 1 == 1, allow_failure: 1 == 2 }
- { name: k, allow_failure: true, steps: [{ uses: assert, test: 1 == 1 }] }
`,
    "matrix.yml": `name: n
jobs:
- name: j
  matrix: { env: [staging, prod] }
  allow_failure: matrix.env == "staging"
  steps: [{ uses: assert, test: matrix.env == "prod" }]
`,
    "wrong.yml": `name: n
jobs:
- name: j
  steps:
  - { uses: assert, test: 1 == 1, allow_failure: '"yes"' }
`,
  }, async (cwd) => {
    const github = await runMain(["--no-check", "--report", "github", "w.yml"], { cwd });
    assertEquals(github.code, 0);
    assertStringIncludes(github.stdout, "::notice file=w.yml,line=8,");
    assertEquals(github.stdout.includes("::error"), false);
    const { code, stderr } = await runMain(["passes.yml"], { cwd });
    assertEquals(code, 0);
    assertEquals(stderr.trim().split("\n"), [
      'warning: j › a: it passed, so its "allow_failure" can go',
      'warning: the job "k" passed, so its "allow_failure" can go',
    ]);
    const strict = await runMain(["--strict", "passes.yml"], { cwd });
    assertEquals(strict.code, 1);
    assertStringIncludes(strict.stdout, "\nReason     --strict: 2 warnings\n");
    const matrix = await runMain(["--strict", "matrix.yml"], { cwd });
    assertEquals([matrix.code, matrix.stderr], [0, ""]);
    const wrong = await runMain(["--no-check", "wrong.yml"], { cwd });
    assertEquals(wrong.code, 1);
    assertStringIncludes(wrong.stdout, "allow_failure must be true or false, it is string");
  }));

Deno.test("an allowed failure of a round hides no failure that says the same in another round", async () => {
  const { code, stdout, reports } = await runReports({
    "w.yml": `name: n
jobs:
- name: j
  repeat: { count: 5 }
  steps:
  - { name: s, uses: assert, test: repeat_index < 2, allow_failure: repeat_index == 2 }
`,
  }, { args: ["--report", "github", ...REPORTS] });
  assertEquals(code, 1);
  assertStringIncludes(stdout, "1. j › s   w.yml:6:36\n     failed 2 times, first at");
  assertStringIncludes(reports["report.tap"]!, "    not ok 1 - s\n");
  assertEquals(reports["junit.xml"]!.includes("allowed_failure"), false);
  assertStringIncludes(stdout, "::error file=w.yml,line=6,");
  const tests = Array.from({ length: 12 }, (_, index) => `repeat_index != ${index}`);
  const many = `name: n
jobs:
- name: j
  repeat: { count: 12 }
  steps:
  - { name: s, uses: assert, test: [${tests}], allow_failure: repeat_index < 11 }
`;
  const other = await runReports({ "w.yml": many }, { args: REPORTS });
  assertStringIncludes(other.stdout, "1. j › s   w.yml:6:");
});

Deno.test("a load job runs for each kind of action, is measured, and its thresholds decide", async () => {
  let arrived = 0;
  let visits = 0;
  await using server = Deno.serve({ port: 0, onListen: () => {} }, (request) => {
    arrived++;
    if (request.headers.get("cookie") === "seen=1") visits++;
    const headers = { "set-cookie": "seen=1" };
    const isBad = new URL(request.url).search === "?2";
    return Response.json({ ok: !isBad }, { status: isBad ? 503 : 200, headers });
  });
  const url = `http://127.0.0.1:${server.addr.port}/`;
  await withFiles({
    "w.yml": `name: n
jobs:
- name: Shop
  id: shop
  load:
    users: 3
    count: 12
    keep: cookies
    data: rows.csv
    expect:
    - stats.count == 12
    - stats.steps.get.codes["5xx"] == 0
    - { that: 'stats.steps["sh 1"].failed == 1', says: the shell fails }
  steps:
  - { id: get, uses: http, with: { get: "${url}?{{vars.row}}" }, test: res.body.ok }
  - { name: sh 1, uses: shell, with: { cmd: 'true' }, test: res.code == 0 }
  finally: [{ uses: hello, name: bye }]
- name: Strict
  needs: [shop]
  when: always
  load: { rate: 100/s, count: 2 }
  steps: [{ uses: http, with: { get: "${url}?2" }, test: res.code == 200 }]
`,
    "rows.csv": "row\n1\n2\n3\n",
  }, async (cwd) => {
    const args = ["--report-dir", "reports", "--report", "prometheus=m.prom", "w.yml"];
    const { code, stdout, stderr } = await runMain(args, { cwd });
    assertEquals([code, stderr.includes("internal error")], [1, false], stderr);
    // Of 12 requests, the first of each user has no cookie.
    assertEquals([arrived, visits], [14, 9]);
    assertMatch(stdout, /12 rounds in .* by 3 users {3}4 failed \(33 %\)/);
    assertMatch(
      stdout,
      /\n +step +count +rate +p50 .*\n +get +12 .* 4(?: .*)?\n +sh 1 +12 .* 0(?: .*)?\n +bye +12 /,
    );
    assertMatch(stdout, /✓ stats.count == 12 +12\n +✗ stats.steps.get.codes\["5xx"\] == 0 +4\n/);
    assertStringIncludes(stdout, "get failed 4 times, ");
    assertStringIncludes(stdout, "Strict");
    const events = (await Deno.readTextFile(`${cwd}/reports/events.ndjson`)).trim().split("\n");
    const lines = Object.fromEntries(events.map((line, index) => [index, JSON.parse(line)]));
    const wrong = validateAll(await readClosedSchema("events.schema.json"), lines);
    assertEquals(Object.values(wrong).flat(), []);
    const report = JSON.parse(await Deno.readTextFile(`${cwd}/reports/report.json`));
    assertEquals(validateAll(await readClosedSchema("report.schema.json"), { report }).report, []);
    const ended = Object.values(lines).find(({ type, job }) =>
      type === "load_ended" && job === "shop"
    );
    // One case for each threshold, beside those of the steps.
    const read = async (name: string) => await Deno.readTextFile(`${cwd}/reports/${name}`);
    const junit = await read("junit.xml");
    const cases = [...junit.matchAll(/<testcase name="([^"]+)"(.*)>/g)]
      .map(([, name, others]) => [name, / line="(\d+)"/.exec(others!)?.[1]]);
    assertEquals(cases, [
      ["stats.count == 12", undefined],
      ["stats.steps.get.codes[&quot;5xx&quot;] == 0", "12"],
      ["the shell fails", "13"],
      ["http", "15"],
      ["sh 1", "16"],
      ["cleanup: bye", "17"],
      ["http", "22"],
    ]);
    assertMatch(junit, /^<testsuites name="n" tests="7" failures="3" errors="0" skipped="0"/m);
    const tap = await read("report.tap");
    assertMatch(tap, /not ok 2 - stats.steps.get.codes\["5xx"\] == 0\n/);
    assertMatch(tap, /^# allowed 4\n.*\n?# thresholds passed 1\n# thresholds failed 2\n/m);
    const { summary, tests } = JSON.parse(await read("ctrf.json")).results;
    assertEquals([summary.tests, summary.failed, tests[1].line], [7, 3, 12]);
    const markdown = await read("summary.md");
    assertMatch(markdown, /### Load: Shop\n\n12 rounds in .* by 3 users · 4 failed \(33 %\)\n/);
    assertStringIncludes(
      markdown,
      "- ✅ stats.count == 12: stats.count is 12\n- ❌ stats.steps.get",
    );
    const metrics = (await Deno.readTextFile(`${cwd}/m.prom`)).split("\n");
    const shop = 'workflow="n",file="w.yml",job_name="Shop"';
    for (
      const line of [
        "# TYPE runner_load_step_seconds histogram",
        `runner_load_step_seconds_bucket{${shop},step="get",le="+Inf"} 12`,
        `runner_load_step_runs{${shop},step="get",state="failed"} 4`,
        `runner_load_threshold_passed{${shop},threshold="stats.count == 12"} 1`,
        String
          .raw`runner_load_threshold_passed{${shop},threshold="stats.steps.get.codes[\"5xx\"] == 0"} 0`,
      ]
    ) assert(metrics.includes(line), `${line}\n${metrics.join("\n")}`);
    const [get] = ended.stats.steps;
    assertEquals([get.codes, get.bytesIn > 1000, get.bytesOut > 1000], [
      { "2xx": 8, "200": 8, "5xx": 4, "503": 4 },
      true,
      true,
    ]);
    const off = await runMain(["--load", "off", "w.yml"], { cwd });
    assertMatch(off.stdout, /● Shop\n +1\. ✓ http.*\n +2\. ✓ sh 1.*\n +3\. ○ cleanup: bye\n/);
    const refused = await runMain(["--load", "soon", "w.yml"], { cwd });
    assertStringIncludes(refused.stderr, "option --load must be a duration");
  });
});

Deno.test("users of a race connect first, and then send all at once", async () => {
  let connections = 0;
  const before: number[] = [];
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const answer = new TextEncoder().encode("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  const serve = async (connection: Deno.Conn) => {
    connections++;
    for await (const _ of connection.readable) {
      before.push(connections);
      await connection.write(answer);
    }
  };
  const serving = (async () => {
    for await (const connection of listener) serve(connection).catch(() => {});
  })();
  const { port } = listener.addr as Deno.NetAddr;
  await withFiles({
    "w.yml": `name: n
jobs:
- name: Race
  load: { users: 5, count: 10, together: true }
  steps: [{ uses: http, with: { post: "http://127.0.0.1:${port}/", body: x }, test: res.code == 200 }]
`,
  }, async (cwd) => {
    assertEquals((await runMain(["w.yml"], { cwd })).code, 0);
  });
  assertEquals([before.length, ...before.slice(0, 5)], [10, 5, 5, 5, 5, 5]);
  listener.close();
  await serving;
});
