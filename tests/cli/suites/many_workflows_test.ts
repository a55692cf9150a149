import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runFilesAt } from "../../support/run/run_at.ts";
import { runMain } from "../../support/run/run_main.ts";
import { ORIGIN } from "../../support/run/run_pieces.ts";
import { withFiles } from "../../support/temp_dir.ts";

const flow = (name: string, ...steps: string[]) =>
  `name: ${name}\njobs:\n  - name: Job\n    id: job\n    steps:\n` +
  steps.map((step) => `      - ${step}\n`).join("");
const PASS = "{ uses: hello, name: good, test: 1 < 2 }";
const FAIL = "{ uses: hello, name: bad, test: 2 < 1 }";
const get = (path: string) =>
  `{ uses: http, with: { get: "{url}${path}" }, test: res.code == 200 }`;

/** The numbers of workflows and of steps: `1 passed · 1 failed (2); 3`. */
const totals = (text: string) =>
  text.replace(/^[^]*^Workflows {2}(.*)\n(?:Steps .*\((\d+)\)\n)?[^]*$/m, "$1; $2");

const TREE = {
  "flows/a.yml": flow("A", PASS),
  "flows/sub/b.yaml": flow("B", PASS, PASS),
  "flows/job.yml": "name: J\nsteps: [{ uses: hello }]\n",
  "flows/data.yml": "- 1\n",
  "flows/note.txt": "x",
  "flows/.hidden/c.yml": flow("C", FAIL),
  "flows/node_modules/d.yml": flow("D", FAIL),
};

Deno.test("arguments, directories and patterns select the workflows in them", async (test) => {
  const table: [args: string[], last: string][] = [
    [["flows"], "2 passed (2); 3"],
    [["flows/"], "2 passed (2); 3"],
    [["flows/a.yml", "flows"], "2 passed (2); 3"],
    [["flows/*.yml"], "1 passed (1); 1"],
    [["flows/**/*.y*ml"], "2 passed (2); 3"],
    [["flows/a.yml", "flows/sub/b.yaml"], "2 passed (2); 3"],
  ];
  for (const [args, last] of table) {
    await test.step(args.join(" "), async () => {
      const { code, stdout, stderr } = await runFilesAt(TREE, args);
      assertEquals([code, totals(stdout), stderr], [0, last, ""]);
    });
  }
});

Deno.test("-v counts the YAML files that are not workflows", async () => {
  const { stderr } = await runFilesAt(TREE, ["-v", "flows"]);
  assertStringIncludes(stderr, "YAML files left out, as they are not workflows: 2");
});

Deno.test("a path that exists is never a pattern", async () => {
  const { code, stdout } = await runFilesAt({ "a[1].yml": flow("A", PASS) }, ["a[1].yml"]);
  assertEquals(code, 0);
  assertStringIncludes(stdout, "\nSteps      1 passed (1)\n");
});

Deno.test("a workflow that cannot be loaded stops all, with everything that is wrong", async () => {
  const files = {
    "a.yml": "name: [\n",
    "b.yml": flow("B", get("/b")),
    "c.yml": "name: C\njobs: 1\n",
    "d.yml": flow("D", "{ uses: hello, when: always }"),
    "suite.yml": "workflows: [b.yml]\nteardown: c.yml\n",
  };
  const table: [args: string[], said: string[]][] = [
    [["a.yml", "b.yml", "c.yml", "no.yml"], [
      "runner: error: 3 workflows cannot be loaded",
      "a.yml:1:7: error: ",
      'c.yml:2:7: error: "jobs" must be a list',
      "workflow file 'no.yml' not found",
    ]],
    [["b.yml", "d.yml"], ['d.yml:6:24: error: unknown key "when" in a step']],
    [["."], ["3 workflows cannot be loaded"]],
    [["suite.yml"], ['c.yml:2:7: error: "jobs" must be a list']],
  ];
  for (const [args, said] of table) {
    const { code, stdout, stderr, seen } = await runFilesAt(files, args);
    assertEquals([code, stdout, seen], [1, "", []]);
    for (const text of said) assertStringIncludes(stderr, text);
  }
});

Deno.test("an entry of a directory that cannot be read stops all, everywhere", async () => {
  const files = {
    "flows/a.yml": flow("A", PASS),
    "suite.yml": "workflows: [flows]\n",
    "R/x": "",
  };
  await withFiles(files, async (cwd) => {
    const run = (...args: string[]) => runMain(args, { cwd });
    assertEquals((await run("prepare", "flows/a.yml", "--out", "run.json")).code, 0);
    Deno.symlinkSync("gone.yml", `${cwd}/flows/b.yml`);
    Deno.symlinkSync("c.yml", `${cwd}/flows/c.yml`);
    Deno.symlinkSync("/nowhere/flows", `${cwd}/flows/d`);
    Deno.symlinkSync("/nowhere/hidden", `${cwd}/flows/.hidden.yml`);
    // It can be no workflow, and no directory of workflows.
    Deno.symlinkSync("/nowhere/note.txt", `${cwd}/flows/note.txt`);
    Deno.symlinkSync("gone", `${cwd}/R/lost`);
    const all = [
      "'flows/b.yml' not found",
      "'flows/c.yml': Too many levels",
      "'flows/d",
    ];
    const table: [args: string[], errors: string[]][] = [
      [["flows"], all],
      [["flows/**/*.yml"], all],
      [["flows/*.yml"], all.slice(0, 2)],
      [["flows/*/x.yml"], all],
      [["suite.yml"], all],
      [["check", "flows"], all],
      [["check", "flows/**/*.yml"], all],
      [["check", "suite.yml"], all],
      [["fmt", "--check", "flows"], all],
      [["fmt", "--check", "flows/**/*.yml"], all],
      [["dag", "flows"], all],
      [["--list", "flows"], all],
      [["prepare", "flows", "--out", "x.json"], all],
      [["flows/a.yml", "--run=run.json", "--only=job", "--inputs=R"], ["'R/lost' not found"]],
      [["report", "merge", "R"], ["'R/lost' not found"]],
    ];
    for (const [args, errors] of table) {
      const { code, stdout, stderr } = await run(...args);
      assertEquals(code, 1, args.join(" "));
      for (const error of errors) assertStringIncludes(stdout + stderr, error, args.join(" "));
    }
    const { stdout, stderr } = await run("flows");
    assertEquals(stdout, "");
    assertStringIncludes(stderr, "it is a link to '/nowhere/flows', which does not exist");
  });
});

Deno.test("links are followed, and no directory is entered twice", async () => {
  const files = { "flows/z/a.yml": flow("A", PASS), "far/b.yml": flow("B", PASS) };
  await withFiles(files, async (cwd) => {
    for (const [to, link] of [["z", "again"], ["..", "z/up"], ["../far", "c"], ["../far", "d"]]) {
      Deno.symlinkSync(to!, `${cwd}/flows/${link}`);
    }
    for (const operand of ["flows", "flows/**/*.yml"]) {
      const { code, stdout } = await runMain([operand], { cwd });
      const ran = [...stdout.matchAll(/^✓ \w+ {2}(.*yml) /gm)].map(([, path]) => path).sort();
      assertEquals([code, ran], [0, ["flows/c/b.yml", "flows/z/a.yml"]], operand);
    }
  });
});

Deno.test("a misspelled jobs in a directory is an error, not another YAML file", async () => {
  const files = {
    "flows/a.yml": flow("A", PASS),
    "flows/b.yml": flow("B", PASS).replace("jobs", "job"),
    "flows/c.yml": flow("C", PASS).replace("jobs", "Jobs"),
    "flows/compose.yml": "name: shop\nservices: []\n",
    "flows/values.yml": "name: shop\njob: { image: x }\n",
  };
  for (const args of [["flows"], ["flows/*.yml"], ["check", "flows"]]) {
    const { code, stdout, stderr } = await runFilesAt(files, args);
    assertEquals(code, 1);
    const said = stdout + stderr;
    assertEquals(said.match(/\b[bc]\.yml:1:1: .*the workflow needs "jobs"$/gm)?.length, 2);
    assertMatch(said, /^(?:runner: error: 2 workflows|3 workflows checked: .*)/m);
  }
});

Deno.test("each workflow has its own vars and outputs", async () => {
  const outputs =
    '{ uses: echo, id: e, with: { message: "{{vars.x}}" }, outputs: { got: res.message } }';
  const files = {
    "a.yml": `vars: { x: one }\n${
      flow("A", outputs, "{ uses: hello, test: outputs.got == 'one' }")
    }`,
    "b.yml": `vars: { x: two }\n${
      flow("B", outputs, "{ uses: hello, test: outputs.got == 'two' }")
    }`,
  };
  const { code, stdout } = await runFilesAt(files, ["--workers", "2", "a.yml", "b.yml"]);
  assertEquals([code, totals(stdout)], [0, "2 passed (2); 4"], stdout);
});

Deno.test("--workers workflows run at once, and --jobs bounds all of them together", async () => {
  const files = { "a.yml": flow("A", get("/meet/x/2")), "b.yml": flow("B", get("/meet/x/2")) };
  assertEquals((await runFilesAt(files, ["--workers", "2", "a.yml", "b.yml"])).code, 0);
  const two = { "a.yml": flow("A", get("/a"), get("/a2")), "b.yml": flow("B", get("/b")) };
  const { seen } = await runFilesAt(two, ["--workers", "2", "--jobs", "1", "a.yml", "b.yml"]);
  assertEquals(seen, ["/a", "/a2", "/b"]);
});

Deno.test("jobs with the same lock never overlap in all workflows of a suite", async () => {
  const locked = (name: string) =>
    flow(name, get(`/${name}1`), get(`/${name}2`)).replace(
      "    id: job\n",
      "    id: job\n    lock: db\n",
    );
  const files = { "a.yml": locked("a"), "b.yml": locked("b"), "c.yml": locked("c") };
  const { code, seen } = await runFilesAt(files, ["--workers", "3", ...Object.keys(files)]);
  assertEquals([code, seen.length], [0, 6]);
  const pairs = [0, 2, 4].map((index) => seen.slice(index, index + 2).join(" "));
  assertEquals(pairs.sort(), ["/a1 /a2", "/b1 /b2", "/c1 /c2"]);
});

Deno.test("--fail-fast skips the workflows that have not begun", async () => {
  const files = { "a.yml": flow("A", FAIL), "b.yml": flow("B", get("/b")) };
  const { code, stdout, seen, reports } = await runFilesAt(files, [
    "--workers=1",
    "--fail-fast",
    "--report-dir=reports",
    ...Object.keys(files),
  ]);
  assertEquals([code, seen], [1, []]);
  assertEquals(reports["summary.md"]!.match(/^## .*/gm), ["## ❌ A", "## ➖ B"]);
  assertStringIncludes(reports["report.html"]!, 'aria-label="skipped:">-</span> B</h1>');
  assertEquals(totals(stdout), "1 failed · 1 skipped (2); 2");
  assertStringIncludes(stdout, "- B (skipped: not started: --fail-fast after");
});

Deno.test("a name is an error only where no workflow has it", async (test) => {
  const files = {
    "a.yml": `vars: { x: 1 }\n${flow("A", PASS)}`,
    "b.yml": flow("B", PASS).replace("id: job", "id: other"),
  };
  const table: [args: string[], code: number, text: string][] = [
    [["--var", "x=2"], 0, "2 passed (2)"],
    [["--var", "y=2"], 1, 'option --var: unknown variable "y"'],
    [["--only", "job"], 0, "1 passed (1)"],
    [["--only", "nothing"], 1, 'option --only: unknown job "nothing"'],
    [["--skip", "job"], 0, "1 passed · 1 skipped (2)"],
    [["--skip", "job", "--skip", "other"], 1, "no job is left to run"],
    [["--skip", "nothing"], 1, 'option --skip: unknown job "nothing"'],
  ];
  for (const [args, code, text] of table) {
    await test.step(args.join(" "), async () => {
      const result = await runFilesAt(files, [...args, "a.yml", "b.yml"]);
      assertEquals(result.code, code, result.stderr);
      assertStringIncludes(result.stdout + result.stderr, text);
    });
  }
});

Deno.test("--tags selects jobs of all workflows with their needs", async (test) => {
  const files = {
    "a.yml": "name: A\ntags: [smoke]\njobs:\n" +
      "  - { name: One, id: one, steps: [{ uses: hello }] }\n" +
      "  - { name: Two, id: two, tags: [slow], needs: [one], steps: [{ uses: hello }] }\n",
    "b.yml": `tags: [other]\n${flow("B", PASS)}`,
  };
  const table: [tags: string, last: string][] = [
    ["smoke", "1 passed (1); 2"],
    ["slow", "1 passed (1); 2"],
    ["smoke and not slow", "1 passed (1); 1"],
    ["not (smoke or slow)", "1 passed (1); 1"],
    ["other || slow", "2 passed (2); 3"],
  ];
  for (const [tags, last] of table) {
    await test.step(tags, async () => {
      const { stdout } = await runFilesAt(files, ["--tags", tags, "a.yml", "b.yml"]);
      assertEquals(totals(stdout), last);
    });
  }
  const cleans = { "a.yml": `${files["a.yml"]}finally: [${PASS}]\n` };
  assertStringIncludes(
    (await runFilesAt(cleans, ["--tags", "not smoke", "a.yml"])).stderr,
    'no job has the tags "not smoke"',
  );
  const { code, stderr } = await runFilesAt(files, ["--tags", "nope", "a.yml", "b.yml"]);
  assertEquals([code, stderr], [
    1,
    'runner: error: option --tags: no job has the tags "nope"\n  the tags are smoke, slow, other\n',
  ]);
});

Deno.test("--shuffle prints a seed that gives the same order again", async () => {
  const files = Object.fromEntries(
    ["a", "b", "c", "d", "e", "f"].map((id) => [`${id}.yml`, flow(id, get(`/${id}`))]),
  );
  const first = await runFilesAt(files, ["--workers=1", "--shuffle", ...Object.keys(files)]);
  const [, seed] = /--shuffle=(\d+)/.exec(first.stderr)!;
  const again = await runFilesAt(files, [
    "--workers=1",
    `--shuffle=${seed}`,
    ...Object.keys(files),
  ]);
  assertEquals(first.code, 0);
  assertEquals(again.seen, first.seen);
});

Deno.test("one report of each format is about all workflows", async () => {
  const files = { "a.yml": flow("A", PASS), "b.yml": flow("B", FAIL), "c.yml": flow("C", FAIL) };
  const { code, reports } = await runFilesAt(files, [
    "--report-dir",
    "reports",
    ...Object.keys(files),
  ]);
  assertEquals(code, 1);
  const suites = [...reports["junit.xml"]!.matchAll(/<testsuite name="([^"]*)"/g)].map(([, n]) =>
    n
  );
  assertEquals(suites, ["A › Job", "B › Job", "C › Job"]);
  const classes = [...reports["junit.xml"]!.matchAll(/ classname="([^"]*)"/g)].map(([, n]) => n);
  assertEquals(classes, ["A.Job", "B.Job", "C.Job"]);
  assertStringIncludes(reports["report.tap"]!, "1..3\n");
  const { schema, runs, totals } = JSON.parse(reports["report.json"]!);
  assertEquals([schema, runs.length], ["runner-suite-report/1", 3]);
  assertEquals(totals.workflows, { passed: 1, failed: 2, skipped: 0 });
  const { summary, tests } = JSON.parse(reports["ctrf.json"]!).results;
  assertEquals([summary.failed, tests[1].suite], [2, ["B", "Job"]]);
  assertStringIncludes(reports["summary.md"]!, "## ❌ B");
  assertMatch(reports["report.html"]!, /<a id="run-link-1" href="#run-1">B<\/a>/);
  const events = reports["events.ndjson"]!.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals([events[0].type, events.at(-1).type], ["suite_started", "suite_finished"]);
  assertEquals(new Set(events.map(({ runId }) => runId)).size, 4);
});

Deno.test("annotations for GitHub begin and end around all workflows", async () => {
  const files = { "a.yml": flow("A", FAIL), "b.yml": flow("B", FAIL) };
  const { stdout } = await runFilesAt(files, ["a.yml", "b.yml"], { GITHUB_ACTIONS: "true" });
  assertEquals([...stdout.matchAll(/^::stop-commands::/gm)].length, 1);
  const [, ends] = stdout.split("\nWorkflows  2 failed (2)\n");
  const annotations = [...ends!.matchAll(/^::error .*/gm)].map(([text]) => text);
  assertEquals(annotations.length, 1);
  assertMatch(annotations[0]!, /title=[AB] › Job › bad::[^]*%0Aand 1 more: [AB] › Job › bad$/);
});

Deno.test("workflows that passed are folded in the log of GitHub, and failures are not", async () => {
  const files = {
    "a.yml": flow("A", PASS, "{ uses: hello, echo: '##[endgroup]' }"),
    "b.yml": flow("B", FAIL),
    "c.yml": flow("C", PASS),
  };
  const args = ["a.yml", "b.yml", "c.yml"];
  const { stdout } = await runFilesAt(files, args, { GITHUB_ACTIONS: "true" });
  const text = stdout.replaceAll(/ [\d.]+ms(?= )/gm, "");
  const titles = [...text.matchAll(/^##\[group\](.*yml) .*\n([^\n]*)/gm)].map(([, ...found]) =>
    found
  );
  assertEquals(titles.toSorted(), [
    ["✓ A  a.yml", ""],
    ["✓ C  c.yml", ""],
  ]);
  const open = text.replaceAll(/^##\[group\][^]*?^##\[endgroup\]\n/gm, "");
  assertMatch(open, /^✗ B {2}b\.yml {2}[^]*^● Job\n[^]*\nFailures\n[^]*\n::error /m);
  assertEquals(/(?<!^)##\[|[AC] {2}[ac]\.yml/m.test(open), false, open);
  for (const options of [["--no-github"], ["--quiet"]]) {
    const { stdout } = await runFilesAt(files, [...options, ...args], { GITHUB_ACTIONS: "true" });
    assertEquals(stdout.includes("##[group]"), false);
  }
  const { stdout: local } = await runFilesAt(files, args);
  assertEquals(local.includes("##[group]"), false);
});

Deno.test("--list and --dry-run show every workflow and run nothing", async () => {
  const files = { "a.yml": flow("A", get("/a")), "b.yml": flow("B", get("/b")) };
  for (const option of ["--list", "--dry-run"]) {
    const { code, stdout, seen } = await runFilesAt(files, [option, "a.yml", "b.yml"]);
    assertEquals([code, seen], [0, []]);
    assertMatch(stdout, /^a\.yml\n {2}\S[^]*^b\.yml\n {2}\S/m);
  }
});

Deno.test("--rerun-failed runs what failed when one file ran, and what that kept from running", () => {
  const text = (test: string) =>
    `name: W
jobs:
  - { id: first, name: first, steps: [{ uses: hello, test: "true" }] }
  - { id: second, name: second, needs: [first], steps: [{ uses: hello, test: "${test}" }] }
  - { id: third, name: third, needs: [second], steps: [{ uses: hello, test: "true" }] }
  - { id: off, name: off, skipif: "true", steps: [{ uses: hello }] }
  - { id: other, name: other, steps: [{ uses: hello, test: "true" }] }
`;
  const files = { "w.yml": text("false"), "other.yml": flow("Other", PASS), "bad.yml": "name: [" };
  return withFiles(files, async (cwd) => {
    const env = { XDG_CACHE_HOME: `${cwd}/cache` };
    const run = (...args: string[]) => runMain(args, { cwd, env });
    const first = await run("w.yml");
    assertEquals(first.code, 1);
    assertStringIncludes(first.stdout, "\nNext       runner --rerun-failed w.yml\n");
    const ci = await runMain(["w.yml"], { cwd, env: { ...env, CI: "true" } });
    assertEquals(ci.stdout.includes("Next"), false);
    const elsewhere = await run("--rerun-failed", "--list", "other.yml");
    assertStringIncludes(
      elsewhere.stderr,
      "no failed run of 'other.yml' is known in this directory",
    );
    Deno.writeTextFileSync(`${cwd}/w.yml`, text("true"));
    const again = await run("--rerun-failed", "w.yml");
    assertEquals([again.code, again.stderr], [0, ""]);
    assertEquals(
      [...again.stdout.matchAll(/^✓ (.*) [\d.]+ms$/gm)].map(([, name]) => name),
      ["first", "second", "third"],
    );
    // It is reported as the run of one workflow, as without the option.
    assertStringIncludes(again.stdout, "\nJobs       3 passed (3 of 5 selected)\n");
    assertStringIncludes((await run("--rerun-failed", "w.yml")).stderr, "everything runs");
    const edited = text("false").replace(
      'other, steps: [{ uses: hello, test: "true"',
      () => 'other, steps: [{ uses: hello, test: "false"',
    );
    Deno.writeTextFileSync(`${cwd}/w.yml`, edited);
    await run("w.yml");
    Deno.writeTextFileSync(`${cwd}/w.yml`, edited.replace("id: other", "id: renamed"));
    assertStringIncludes((await run("--rerun-failed", "w.yml")).stdout, " other ");
    Deno.writeTextFileSync(`${cwd}/w.yml`, `${text("true")}finally: [${FAIL}]\n`);
    await run("w.yml");
    assertStringIncludes((await run("--rerun-failed", "w.yml")).stdout, " other ");
    Deno.writeTextFileSync(`${cwd}/w.yml`, text("true"));
    assertEquals((await run("w.yml")).code, 0);
    await run("bad.yml");
    Deno.writeTextFileSync(`${cwd}/bad.yml`, flow("Bad", PASS));
    assertEquals(
      totals((await run("--rerun-failed", "bad.yml", "w.yml")).stdout),
      "1 passed (1); 1",
    );
    assertEquals((await run("w.yml")).code, 0);
    assertStringIncludes((await run("--rerun-failed", "w.yml")).stderr, "no failed run of 'w.yml'");
  });
});

Deno.test("--rerun-failed forgets a failed job only when the job passes", () =>
  withFiles({ "w.yml": "", "other.yml": flow("Other", PASS) }, async (cwd) => {
    const write = (failing: string) => {
      const jobs = ["a", "b", "c"].map((id) => {
        const test = failing.includes(id) ? "1 == 2" : "1 == 1";
        return `  - { id: ${id}, name: ${id}, steps: [{ uses: hello, test: ${test} }] }\n`;
      });
      Deno.writeTextFileSync(`${cwd}/w.yml`, `name: W\njobs:\n${jobs.join("")}`);
    };
    const run = async (...args: string[]) => {
      const { stdout } = await runMain(args, { cwd, env: { XDG_CACHE_HOME: `${cwd}/cache` } });
      return [...stdout.matchAll(/^[✓✗] (\w) [\d.]+m?s$/gm)].map(([, id]) => id).sort().join("");
    };
    write("ab");
    assertEquals(await run("w.yml"), "abc");
    await run("other.yml");
    write("a");
    assertEquals(await run("--rerun-failed", "--only", "a", "w.yml"), "a");
    assertEquals(await run("--skip", "b", "w.yml"), "ac");
    write("");
    assertEquals(await run("--rerun-failed", "w.yml"), "ab");
    assertEquals(await run("--rerun-failed", "w.yml"), "abc");
  }));

Deno.test("Next is the whole command line, with variables for its secrets", () =>
  withFiles(
    { "w.yml": `vars: { token: "", db: "", text: "" }\n${flow("W", FAIL)}` },
    async (cwd) => {
      const env = { XDG_CACHE_HOME: `${cwd}/cache`, CI_TOKEN: "f0rty-tw0-f0rty" };
      const next = async (...args: string[]) =>
        /^Next {7}(.*)\n/m.exec((await runMain(args, { cwd, env })).stdout)?.[1];
      assertEquals(
        await next("--var", "token=f0rty-tw0-f0rty", "--var=text=it's\n$1", "--fail-fast", "w.yml"),
        `runner --rerun-failed --var token="$CI_TOKEN" $'--var=text=it\\'s\\x0a$1' --fail-fast w.yml`,
      );
      assertEquals(
        await next(
          "w.yml",
          "--rerun-failed",
          "--var",
          "db=postgres://me:pass-word@db/x",
          "--seed",
          "a b",
        ),
        `runner --rerun-failed w.yml --var db="$DB" --seed 'a b'`,
      );
    },
  ));

Deno.test("--rerun-failed runs the entry of a path that failed, not all entries of that path", () => {
  const isBig = '{ uses: hello, name: "{{vars.n}}", test: vars.n > 1 }';
  const suite = "workflows:\n" +
    [1, 2, 0, 3].map((n) => `  - { path: a.yml, vars: { n: ${n} } }\n`).join("");
  const files = { "a.yml": `vars: { n: 9 }\n${flow("A", isBig)}`, "s.yml": suite };
  return withFiles(files, async (cwd) => {
    const run = (...args: string[]) =>
      runMain([...args, "-v", "s.yml"], { cwd, env: { XDG_CACHE_HOME: `${cwd}/cache` } });
    const stepsOf = ({ stdout }: { stdout: string }) =>
      [...stdout.matchAll(/^ +1\. . (\d)$/gm)].map(([, n]) => n).sort();
    assertEquals(stepsOf(await run()), ["0", "1", "2", "3"]);
    assertEquals(stepsOf(await run("--rerun-failed")), ["0", "1"]);
    Deno.writeTextFileSync(`${cwd}/s.yml`, suite.replace("n: 1", "n: 4"));
    assertEquals(stepsOf(await run("--rerun-failed")), ["0", "4"]);
    assertEquals(stepsOf(await run("--rerun-failed")), ["0"]);
  });
});

Deno.test("--rerun-failed runs what failed in the last run here, or all where nothing did", () =>
  withFiles(
    { "a.yml": flow("A", PASS), "b.yml": flow("B", FAIL), "c.yml": flow("C", FAIL) },
    async (cwd) => {
      const env = { XDG_CACHE_HOME: `${cwd}/cache` };
      const run = (...args: string[]) =>
        runMain([...args, "a.yml", "b.yml", "c.yml"], { cwd, env });
      const first = await run("--rerun-failed");
      assertStringIncludes(
        first.stderr,
        "no failed run of 'a.yml', 'b.yml', 'c.yml' is known in this directory: everything runs",
      );
      assertEquals(totals(first.stdout), "1 passed · 2 failed (3); 3");
      assertEquals(totals((await run("--rerun-failed")).stdout), "2 failed (2); 2");
      Deno.writeTextFileSync(`${cwd}/b.yml`, flow("B", PASS));
      Deno.writeTextFileSync(`${cwd}/c.yml`, flow("C", PASS));
      assertEquals(
        totals((await run("--rerun-failed")).stdout),
        "2 passed (2); 2",
      );
      assertEquals(
        totals((await run("--rerun-failed")).stdout),
        "3 passed (3); 3",
      );
    },
  ));

const oneStepFlow = (name: string, test: string) =>
  `name: ${name}\njobs: [{ name: Job, steps: [{ uses: hello, name: step, test: ${test} }] }]\n`;
const FILES = {
  "suite.yml": "name: All\nworkflows: [flows]\nsetup: set_up.yml\n",
  "set_up.yml": oneStepFlow("Set up", "1 == 1"),
  ...Object.fromEntries(
    ["a", "b", "c", "d", "e"].map((
      id,
    ) => [`flows/${id}.yml`, oneStepFlow(id, id === "c" ? "1 == 2" : "1 == 1")]),
  ),
};

const run = (cwd: string, ...args: string[]) => runMain(args, { cwd });
const shard = (cwd: string, which: string, ...args: string[]) =>
  run(cwd, "suite.yml", "--shard", which, "--report", `ndjson=events/${which[0]}.ndjson`, ...args);

/** A report without times, ids and machine-specific values. */
function steady(text: string): string {
  return text.replace(ORIGIN, "").replace(/ (?:time|timestamp)="[^"]*"/g, "")
    .replace(/duration_ms: .*/g, "")
    .replace(/"(?:start|stop|duration|timestamp|started|responseTime|runId)":\s*[^,}\n]*/g, "")
    .replace(/ Time: [\d.]+m?s\b|\| [\d.]+m?s \|/g, "");
}

Deno.test("the merged report of all shards is that of one run", () =>
  withFiles(FILES, async (cwd) => {
    const whole = await run(cwd, "suite.yml", "--report-dir", "whole");
    assertEquals(whole.code, 1);
    for (const which of ["1/3", "2/3", "3/3"]) await shard(cwd, which);
    const merged = await run(cwd, "report", "merge", "events", "--report-dir", "merged");
    assertEquals([merged.code, merged.stderr], [1, ""]);
    for (const name of ["junit.xml", "report.tap", "ctrf.json", "summary.md"]) {
      const [a, b] = ["whole", "merged"].map((dir) =>
        Deno.readTextFileSync(`${cwd}/${dir}/${name}`)
      );
      assertEquals(steady(b!), steady(a!), name);
    }
    const [a, b] = ["whole", "merged"].map((dir) =>
      JSON.parse(Deno.readTextFileSync(`${cwd}/${dir}/report.json`))
    );
    assertEquals(b.totals, a.totals);
    assertEquals(
      // deno-lint-ignore no-explicit-any
      b.runs.map((one: any) => [one.workflow, one.state, one.totals]),
      // deno-lint-ignore no-explicit-any
      a.runs.map((one: any) => [one.workflow, one.state, one.totals]),
    );
  }));

Deno.test("every workflow is in one shard, and an empty shard passes", () =>
  withFiles(FILES, async (cwd) => {
    const seen: string[] = [];
    for (let index = 1; index <= 7; index++) {
      const { stdout, code } = await run(cwd, "suite.yml", "--shard", `${index}/7`);
      const found = [...stdout.matchAll(/^. (\w) +flows/gm)].map(([, name]) => name!);
      if (found.length === 0) {
        assertEquals(code, 0);
        assertStringIncludes(stdout, `shard ${index} of 7 has no workflows`);
      }
      seen.push(...found);
    }
    assertEquals(seen.toSorted(), ["a", "b", "c", "d", "e"]);
  }));

Deno.test("--shard-times makes shares that take the same time", () =>
  withFiles(FILES, async (cwd) => {
    const runs = ["a", "b", "c", "d", "e"].map((id, at) => {
      return { workflow: { file: `flows/${id}.yml` }, duration: at === 4 ? 1000 : 100 };
    });
    Deno.writeTextFileSync(`${cwd}/times.json`, JSON.stringify({ runs }));
    const shards = ["--shard", "1/2", "--shard-times", "times.json"];
    // An earlier report may make way for that of this run.
    const { stdout } = await run(cwd, "suite.yml", ...shards, "--report", "json=times.json");
    assertStringIncludes(stdout, "\nWorkflows  1 passed (1)\n");
    assertStringIncludes(stdout, " flows/e.yml ");
    assertStringIncludes(Deno.readTextFileSync(`${cwd}/times.json`), "set_up.yml");
  }));

Deno.test("a shard that is missing, torn or of another suite is an error", () =>
  withFiles(FILES, async (cwd) => {
    await shard(cwd, "1/2");
    const merge = async () => (await run(cwd, "report", "merge", "events")).stderr.split("\n")[0];
    assertEquals(await merge(), "runner: error: shard 2 of 2 is missing");
    await shard(cwd, "2/2");
    const path = `${cwd}/events/2.ndjson`;
    const text = Deno.readTextFileSync(path);
    Deno.writeTextFileSync(path, text.slice(0, -20));
    assertEquals(await merge(), "runner: error: 'events/2.ndjson' ends in the middle");
    Deno.writeTextFileSync(`${cwd}/flows/a.yml`, oneStepFlow("changed", "1 == 1"));
    await shard(cwd, "2/2");
    assertEquals(
      await merge(),
      "runner: error: 'events/2.ndjson' is of another suite than 'events/1.ndjson'",
    );
  }));

Deno.test("one file alone cannot be divided", () =>
  withFiles(FILES, async (cwd) => {
    const { code, stderr } = await run(cwd, "flows/a.yml", "--workers", "2", "--shard", "1/2");
    assertEquals(code, 1);
    assertStringIncludes(
      stderr,
      "option --shard is for several workflows, and 'flows/a.yml' is one",
    );
  }));
