import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { until } from "../support/run/processes.ts";
import { withRig } from "../support/run/rig.ts";
import { startCli, theProgram } from "../support/run/run_cli.ts";
import { runMain } from "../support/run/run_main.ts";
import { readDirectory, REPORT_FILES, runReports } from "../support/run/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";
import { assertPassed } from "../support/assert_passed.ts";

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
    load: { users: 1, count: 2, expect: stats.failed == 1 }
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
  const { schema, units } = JSON.parse(reports["x=y.json"]!);
  assertEquals([schema, units], ["runner-report/1", { times: "ms", thresholds: "s" }]);
});

Deno.test('"-" puts a report in place of the text', async () => {
  for (const name of ["junit", "tap", "json", "ndjson", "ctrf", "markdown", "html"]) {
    const args = ["--report", `${name}=-`, "w.yml"];
    const { code, stdout, stderr } = await runReports({ "w.yml": ONE }, { args });
    assertEquals([code, stderr], [0, ""], name);
    assert(!/^Time {7}/m.test(stdout), stdout);
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
    assertPassed(stdout);
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

const HELLO = "name: n\njobs: [{ name: j, steps: [{ name: s, uses: hello }] }]\n";

/** Runs the program with both outputs in files, as a shell does with `>`. */
async function runIntoFiles(cwd: string, args: readonly string[]) {
  const [program, before] = theProgram();
  const command = new Deno.Command("sh", {
    args: ["-c", 'exec "$@" > out 2> err', "sh", program, ...before, ...args, "w.yml"],
    cwd,
  });
  const { code } = await command.output();
  return {
    code,
    stdout: Deno.readTextFileSync(`${cwd}/out`),
    stderr: Deno.readTextFileSync(`${cwd}/err`),
  };
}

Deno.test("other names of standard output put a report in place of the text", async () => {
  for (const path of ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]) {
    await withFiles({ "w.yml": HELLO }, async (cwd) => {
      const { code, stdout, stderr } = await runIntoFiles(cwd, ["--report", `json=${path}`]);
      assertEquals([code, stderr, JSON.parse(stdout).state], [0, "", "passed"], path);
      const two = await runMain(["--report", `json=-,tap=${path}`, "w.yml"], { cwd });
      assertEquals(two.code, 1);
      assertStringIncludes(two.stderr, "two reports go to standard output: json and tap");
    });
  }
});

Deno.test("a report is appended to a file that is already open", async () => {
  for (const path of ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"]) {
    await withFiles({ "w.yml": HELLO }, async (cwd) => {
      const { code, stdout, stderr } = await runIntoFiles(cwd, ["-v", "--report", `tap=${path}`]);
      assertEquals(code, 0);
      assertPassed(stdout);
      const [details, tap] = stderr.split("TAP version 14\n");
      assertStringIncludes(details!, "s: started (hello)", path);
      assertStringIncludes(tap!, "ok 1 - j\n", path);
    });
  }
});

Deno.test("a link that leads nowhere yet is followed, and stays", async () => {
  for (const [link, file] of [["to", "to"], ["new/to", "new/to"], ["{cwd}/a/to", "a/to"]]) {
    for (const format of ["tap", "ndjson"]) {
      await withFiles({ "w.yml": HELLO, "links/x": "" }, async (cwd) => {
        Deno.symlinkSync(link!.replace("{cwd}", cwd), `${cwd}/links/first`);
        Deno.symlinkSync("links/first", `${cwd}/second`);
        const { code, stderr } = await runMain(["--report", `${format}=second`, "w.yml"], { cwd });
        assertEquals([code, stderr], [0, ""], link);
        const directory = link!.startsWith("{") ? `${cwd}/${file}` : `${cwd}/links/${file}`;
        assertEquals(Deno.lstatSync(directory).isFile, true);
        for (const name of ["links/first", "second"]) {
          assertEquals(Deno.lstatSync(`${cwd}/${name}`).isSymlink, true, name);
        }
      });
    }
  }
});

Deno.test("a report that is asked for twice in the same words is written once", async () => {
  await withFiles({ "w.yml": HELLO }, async (cwd) => {
    const once = ["--report", "github,tap=-", "w.yml"];
    const count = ({ stdout, stderr }: { stdout: string; stderr: string }) =>
      (stdout + stderr).split("::stop-commands::").length - 1;
    assertEquals(count(await runMain(once, { cwd })), 1);
    const twice = await runMain(["--report", "tap=-", "--report", "github", ...once], { cwd });
    assertEquals([twice.code, count(twice)], [0, 1]);
  });
});

Deno.test("one signal ends the wait for the reader of a pipe, and nothing is left", async () => {
  await withFiles({ "w.yml": HELLO }, async (cwd) => {
    await new Deno.Command("mkfifo", { args: [`${cwd}/pipe`] }).output();
    const child = startCli(["--report", "json=new/j,tap=pipe", "w.yml"], { cwd });
    const outputs = [child.stdout, child.stderr].map((output) => new Response(output).text());
    const names = () => [...Deno.readDirSync(cwd)].map(({ name }) => name).sort();
    await until(() => names().includes("new"), "the directory of the other report");
    child.kill("SIGINT");
    assertEquals((await child.status).code, 1);
    assertEquals(await Promise.all(outputs), ["", "runner: error: interrupted by SIGINT\n"]);
    assertEquals(names(), ["pipe", "w.yml"]);
  });
});

Deno.test("no report goes to the workflow or to another report by way of a link", async () => {
  for (
    const [reports, error] of [
      ["tap=to-workflow", "cannot write the report 'to-workflow': the run reads this file"],
      ["ndjson=folder/w.yml", "cannot write the report 'folder/w.yml': the run reads this file"],
      ["tap=new,json=to-new", "two reports go to 'to-new': tap and json"],
      ["tap=made/new,json=folder/made/new", "two reports go to 'folder/made/new': tap and json"],
    ] as const
  ) {
    await withFiles({ "w.yml": HELLO }, async (cwd) => {
      Deno.symlinkSync("w.yml", `${cwd}/to-workflow`);
      Deno.symlinkSync("new", `${cwd}/to-new`);
      Deno.symlinkSync(".", `${cwd}/folder`);
      const before = [...Deno.readDirSync(cwd)].length;
      const { code, stdout, stderr } = await runMain(["--report", reports, "w.yml"], { cwd });
      assertEquals([code, stdout], [1, ""], reports);
      assertStringIncludes(stderr, `runner: error: ${error}\n`);
      assertEquals(Deno.readTextFileSync(`${cwd}/w.yml`), HELLO);
      assertEquals([...Deno.readDirSync(cwd)].length, before);
    });
  }
});

const workflow = (test: string) => `
name: Shop
vars: { password: "{{SHOP_PASSWORD}}" }
jobs:
  - name: Products
    steps:
      - { name: always good, uses: hello, test: "true" }
      - { name: "now and then {{vars.password}}", uses: hello, test: ${test} }
`;

const ARGS = ["--report", "html=report.html", "--history", "history", "w.yml"];

/** Names of the files of a history, the oldest first. */
async function runsIn(directory: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(directory)) names.push(name);
  return names.filter((name) => name.startsWith("run-")).sort();
}

/** The text of the part of a page about its history. */
async function historyPart(cwd: string): Promise<string> {
  const page = await Deno.readTextFile(`${cwd}/report.html`);
  const start = page.indexOf('<details id="history-part"');
  assert(start >= 0, "the page has no history");
  return page.slice(start, page.indexOf("</details>", start));
}

/** The file of a run of `w.yml`. */
function fileOf(started: number, state: "passed" | "failed"): string {
  const tests = [["Products › always good", "passed", 1]];
  const run = { started, duration: 5, state, isPartial: false, tests };
  return JSON.stringify({ schema: "runner-history/1", subject: "w.yml", ...run });
}

Deno.test("--history shows earlier runs, and the tests that changed their state", () =>
  withFiles({ "w.yml": workflow("'true'") }, async (cwd) => {
    const run = () => runMain(ARGS, { cwd, env: { SHOP_PASSWORD: "s3cr3t-word" } });
    assertEquals((await run()).code, 0);
    assertStringIncludes(await historyPart(cwd), "This is the first run in the history");
    await Deno.writeTextFile(`${cwd}/w.yml`, workflow("'false'"));
    assertEquals((await run()).code, 1);
    const part = await historyPart(cwd);
    assertStringIncludes(part, "History: 2 runs, 1 flaky test");
    assertStringIncludes(part, "<td>Products › now and then {{vars.password}}</td>");
    assertStringIncludes(part, 'aria-label="passed, failed"');
    const page = await Deno.readTextFile(`${cwd}/report.html`);
    assertStringIncludes(page, 'aria-label="Last 2 runs: 1 failed"');
    const [first, second] = await runsIn(`${cwd}/history`);
    assertMatch(first!, /^run-\d{8}T\d{9}Z-[\da-f]{8}\.json$/);
    for (const name of [first, second]) {
      const text = await Deno.readTextFile(`${cwd}/history/${name}`);
      assert(!text.includes("s3cr3t-word"), text);
      assert(text.length < 1000, text);
    }
  }));

Deno.test("--history counts a test that needed retries as flaky", () => {
  const flaky = `
name: n
jobs:
  - name: j
    steps:
      - name: twice
        uses: shell
        with: { cmd: "[ -e made ] || { touch made; exit 1; }" }
        test: res.code == 0
        retry: { max_attempts: 2, interval: 1ms }
`;
  return withFiles({ "w.yml": flaky }, async (cwd) => {
    for (const expected of ["first run", 'aria-label="flaky, passed"']) {
      assertEquals((await runMain(ARGS, { cwd })).code, 0);
      assertStringIncludes(await historyPart(cwd), expected);
    }
  });
});

Deno.test("--history keeps the times of load jobs, and says what is slower than it was", () => {
  const load = `
name: n
jobs:
  - name: Shop
    load: { users: 1, count: 5 }
    steps:
      - { name: sh, uses: shell, with: { cmd: "sleep 0.01" }, test: res.code == 0 }
      - { name: quick, uses: hello, test: "true" }
`;
  const earlier = [8, 4, 2, 6].map((p95, index) => {
    const load = [["Shop", 5, 0, 9, 1, 9000, 9], ["Shop › sh", 5, 0, 9, 1, p95, 9]];
    const run = { ...JSON.parse(fileOf(1000 + index, "passed")), load };
    return [`history/run-1-${index}.json`, JSON.stringify(run)] as const;
  });
  return withFiles({ "w.yml": load, ...Object.fromEntries(earlier) }, async (cwd) => {
    const { code, stdout } = await runMain(ARGS, { cwd });
    assertEquals(code, 0);
    const [, p95, change] =
      /^Slower +Shop › sh: p95 (\d+)ms, \+(\d+) % against the median of the last 4 runs$/m
        .exec(stdout) ?? [stdout];
    assertEquals(stdout.match(/against the median/g)?.length, 1);
    // The median of these is 5 ms.
    assert(Math.abs(Number(change) - (Number(p95) * 20 - 100)) <= 20, `${p95} ${change}`);
    const name = (await runsIn(`${cwd}/history`)).at(-1)!;
    const { load: points } = JSON.parse(await Deno.readTextFile(`${cwd}/history/${name}`));
    assertEquals(points.map((point: unknown[]) => [point[0], point[1], point.length]), [
      ["Shop", 5, 7],
      ["Shop › sh", 5, 7],
      ["Shop › quick", 5, 7],
    ]);
  });
});

Deno.test("--history ignores what is not a run, with a warning, and leaves it alone", () => {
  const files = {
    "w.yml": workflow("'true'"),
    "history/broken.json": "{",
    "history/foreign.json": '{"schema": "other/1"}',
    "history/notes.txt": "remember",
    "history/wrong.json": '{"schema":"runner-history/1","subject":"w.yml","started":"now"}',
    "history/.gitkeep": "",
    "history/run-1.json": fileOf(1000, "failed"),
  };
  return withFiles(files, async (cwd) => {
    await Deno.symlink("itself", `${cwd}/history/itself`);
    const { code, stderr } = await runMain(ARGS, { cwd });
    assertEquals(code, 0, stderr);
    assertStringIncludes(
      stderr,
      "ignored in the history 'history': broken.json, foreign.json, notes.txt, … (4 files)",
    );
    assertStringIncludes(await historyPart(cwd), "History: 2 runs, no flaky tests");
    for (const [name, text] of Object.entries(files)) {
      assertEquals(await Deno.readTextFile(`${cwd}/${name}`), text);
    }
  });
});

Deno.test("--history keeps 50 runs of each workflow", () => {
  const files: Record<string, string> = { "w.yml": workflow("'true'") };
  for (let number = 0; number < 55; number++) {
    files[`history/run-${String(number).padStart(2, "0")}.json`] = fileOf(number, "passed");
  }
  files["history/run-other.json"] = fileOf(0, "passed").replace("w.yml", "other.yml");
  return withFiles(files, async (cwd) => {
    assertEquals((await runMain(ARGS, { cwd })).code, 0);
    assertStringIncludes(await historyPart(cwd), "History: 50 runs");
    const left = await runsIn(`${cwd}/history`);
    assertEquals(left.length, 51);
    assertEquals([left[0], left.at(-1)], ["run-06.json", "run-other.json"]);
  });
});

Deno.test("two runs at once are both in the history", () =>
  withFiles({ "w.yml": workflow("'true'") }, async (cwd) => {
    const args = ["--history", "history", "w.yml"];
    const results = await Promise.all([1, 2, 3].map(() => runMain(args, { cwd })));
    assertEquals(results.map(({ code }) => code), [0, 0, 0]);
    assertEquals((await runsIn(`${cwd}/history`)).length, 3);
  }));

Deno.test("--history is about the whole of a suite", () => {
  const files = { "flows/a.yml": workflow("'true'"), "flows/b.yml": workflow("'false'") };
  return withFiles(files, async (cwd) => {
    const args = ["--report", "html=report.html", "--history", "history", "flows"];
    for (const expected of ["first run", "History: 2 runs, no flaky tests"]) {
      assertEquals((await runMain(args, { cwd })).code, 1);
      assertStringIncludes(await historyPart(cwd), expected);
    }
    const [name] = await runsIn(`${cwd}/history`);
    const { tests, state } = JSON.parse(await Deno.readTextFile(`${cwd}/history/${name}`));
    assertEquals([state, tests.length], ["failed", 4]);
    assertEquals(tests[3].slice(0, 2), [
      "flows/b.yml › Products › now and then {{vars.password}}",
      "failed",
    ]);
  });
});

Deno.test("--history needs a directory that can be written, and something to run", () =>
  withFiles({ "w.yml": workflow("'true'"), "history": "a file" }, async (cwd) => {
    const { code, stderr } = await runMain(ARGS, { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stderr, "cannot write the history 'history': ");
    const listed = await runMain(["--history", "h", "--list", "w.yml"], { cwd });
    assertEquals(listed.code, 1);
    assertStringIncludes(listed.stderr, "--list runs nothing, so there is nothing to keep");
  }));

/** The report of a workflow of one job. */
function stepsOf(steps: string) {
  const workflow = `name: n\njobs:\n  - name: j\n    steps:\n${steps}`;
  return withFiles({ "w.yml": workflow }, (cwd) => runMain(["w.yml"], { cwd }));
}

Deno.test("a server that is down is one failure, with a line for each step that it took down", async () => {
  const steps = ["log in", "buy", "pay"].map((name) =>
    `      - {name: ${name}, uses: http, with: {get: "http://127.0.0.1:1/${name[0]}"}}\n`
  );
  const { code, stdout } = await stepsOf(
    steps.join("") +
      '      - {name: other, uses: hello, test: "1 == 2"}\n',
  );
  assertEquals(code, 1);
  const list = stdout.slice(stdout.indexOf("Failures\n")).split("\n");
  assertEquals(list.slice(1, -5), [
    "  1. j › log in   w.yml:5:30",
    '     cannot send GET "http://127.0.0.1:1/l": 127.0.0.1 port 1 refused the connection (ECONNREFUSED) – is the server running there?',
    "     and 2 more: buy, pay",
    "  2. j › other   w.yml:8:43",
    "     test is false",
  ]);
  assertStringIncludes(stdout, "\nJobs       1 failed (1)\nSteps      4 failed (4)\n");
});
