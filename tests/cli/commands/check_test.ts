import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import type { CliResult } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const GOOD = "name: good\njobs: [{name: a, steps: [{uses: hello, test: res.status == 0}]}]\n";
const BAD = "name: bad\njobs:\n  - name: a\n    steps:\n      - uses: hello\n" +
  '        test: vars.nope == 1\n        echo: "{{outputs.x.y}}"\n';
const WARNED =
  "name: warned\njobs: [{name: a, steps: [{uses: hello, retry: {max_attempts: 2}}]}]\n";
const HINTED =
  "name: hinted\nvars: { a: 1 }\njobs: [{name: a, steps: [{uses: hello, test: res.status == 0}]}]\n";

type Files = Readonly<Record<string, string | Uint8Array>>;

function check(files: Files, ...args: string[]): Promise<CliResult> {
  return withFiles(files, (cwd) => runMain(["check", ...args], { cwd }));
}

Deno.test("check prints its findings with the lines of the file, and their number", async () => {
  assertEquals(await check({ "bad.yml": BAD }, "bad.yml"), {
    code: 1,
    stdout: `bad.yml:6:20: error: undefined variable "nope"
  6 |         test: vars.nope == 1
    |                    ^^^^ add it to the vars of the workflow, or write ?? "…" where it may be missing
bad.yml:7:26: error: no step publishes "x"
  7 |         echo: "{{outputs.x.y}}"
    |                          ^
1 workflow checked: 2 errors
`,
    stderr: "",
  });
});

Deno.test("check reports the findings of the loader together with its own", async () => {
  const text = BAD.replace("uses: hello", "uses: helo").replace("nope == 1", "nope = 1") +
    "      - uses: assert\n";
  const { code, stdout } = await check({ "a.yml": text }, "a.yml");
  assertEquals(code, 1);
  const shown = stdout.match(/^a\.yml:.*$/gm) ?? [];
  assertEquals(shown.map((line) => line.replace(/^a\.yml:(\d+:\d+: \w+).*/, "$1")), [
    "5:15: error",
    "6:25: error",
    "7:26: error",
    "8:15: warning",
  ]);
});

Deno.test("invalid YAML is reported by check as by the loader", async () => {
  const { code, stdout } = await check({ "a.yml": "name: 'x'#y\njobs: 5\n" }, "a.yml");
  assertEquals([code, stdout], [
    1,
    `a.yml:1:10: error: text after the closing quote
  1 | name: 'x'#y
    |          ^ put the whole value in quotes
1 workflow checked: 1 error
`,
  ]);
});

Deno.test("the exit code is 1 where there are errors; --strict makes errors of warnings", async () => {
  const files = { "good.yml": GOOD, "warned.yml": WARNED, "hinted.yml": HINTED };
  const cases = [
    ["good.yml", 0, "1 workflow checked: ok"],
    ["hinted.yml", 0, "1 workflow checked: 1 hint"],
    ["warned.yml", 0, "1 workflow checked: 1 warning"],
    ["--strict good.yml", 0, "1 workflow checked: ok"],
    ["--strict hinted.yml", 0, "1 workflow checked: 1 hint"],
    ["--strict warned.yml", 1, "1 workflow checked: 1 error"],
    ["good.yml warned.yml hinted.yml", 0, "3 workflows checked: 1 warning, 1 hint"],
  ] as const;
  await withFiles(files, async (cwd) => {
    for (const [line, expected, last] of cases) {
      const { code, stdout, stderr } = await runMain(["check", ...line.split(" ")], { cwd });
      assertEquals([code, stdout.trimEnd().split("\n").at(-1), stderr], [expected, last, ""], line);
    }
  });
});

Deno.test("several arguments are several workflows, a comma list is one", async () => {
  const files = {
    "vars.yml": "vars: { shop: a, other: b }\n",
    "jobs.yml": "name: x\njobs: [{name: a, steps: [{uses: hello, test: vars.shop == 'a'}]}]\n",
  };
  await withFiles(files, async (cwd) => {
    const joined = await runMain(["check", "vars.yml,jobs.yml"], { cwd });
    assertEquals([joined.code, joined.stdout], [0, "1 workflow checked: ok\n"]);
    const apart = await runMain(["check", "vars.yml", "jobs.yml"], { cwd });
    assertEquals(apart.code, 1);
    assertStringIncludes(apart.stdout, 'vars.yml:1:1: error: the workflow needs "name"');
    assertStringIncludes(apart.stdout, 'undefined variable "shop"');
    assertMatch(apart.stdout, /\n2 workflows checked: .*\n$/);
  });
});

Deno.test("of a directory, check finds the mistakes of all its workflows, and of nothing else", async () => {
  const files = {
    "flows/a.yml": "name: a\njobs: [{ name: j, steps: [{ uses: hallo }] }]\n",
    "flows/deep/b.yml": "name: b\njobs: [{ name: j, steps: [{ uses: hello }] }]\n",
    "flows/data.yml": "- 1\n",
    "flows/.hidden/c.yml": "name: c\njobs: []\n",
    "none/data.yml": "- 1\n",
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout } = await runMain(["check", "flows"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'flows/a.yml:2:35: error: unknown action "hallo"');
    assertStringIncludes(stdout, "2 workflows checked: 1 error");
    assertEquals((await runMain(["check", "flows/deep/"], { cwd })).code, 0);
    const none = await runMain(["check", "none"], { cwd });
    assertEquals([none.code, none.stderr], [1, "runner: error: no workflow in 'none'\n"]);
  });
});

Deno.test("patterns that the shell has left alone are several workflows", async () => {
  const files = {
    "flows/a.yml": GOOD,
    "flows/b.yaml": GOOD,
    "flows/deep/er/c.yml": GOOD,
    "flows/.hidden/d.yml": BAD,
    "flows/node_modules/e.yml": BAD,
    "flows/[f].yml": GOOD,
    "other.txt": "no workflow",
  };
  const cases = [
    ["flows/*.yml", 2],
    ["flows/*.y*ml", 3],
    ["flows/?.yml", 1],
    ["flows/[ab].y*", 2],
    ["flows/[!a].y*", 1],
    ["flows/{a,b}.{yml,yaml}", 2],
    ["flows/**/*.yml", 3],
    ["**/*.y*ml", 4],
    ["**/**/c.yml", 1],
    ["./flows/deep/*/*.yml", 1],
    ["*/*/*/c.yml", 1],
    ["flows/[f].yml", 1],
  ] as const;
  await withFiles(files, async (cwd) => {
    for (const [pattern, count] of cases) {
      for (const path of [pattern, `${cwd}/${pattern}`]) {
        const { code, stdout, stderr } = await runMain(["check", path], { cwd });
        const summary = `${count} workflow${count === 1 ? "" : "s"} checked: ok\n`;
        assertEquals([code, stdout, stderr], [0, summary, ""], path);
      }
    }
    const twice = ["flows/a.yml", "./flows/a.yml", "flows/*.yml", "flows/a.yml"];
    const { stdout } = await runMain(["check", ...twice], { cwd });
    assertEquals(stdout, "2 workflows checked: ok\n");
  });
});

Deno.test("links to directories are followed, but not in cycles", () =>
  withFiles({ "flows/a.yml": GOOD, "flows/deep/b.yml": GOOD }, async (cwd) => {
    await Deno.symlink(`${cwd}/flows`, `${cwd}/flows/deep/round`);
    await Deno.symlink(`${cwd}/flows/a.yml`, `${cwd}/flows/c.yml`);
    await Deno.symlink(`${cwd}/nowhere`, `${cwd}/flows/d.yml`);
    const deeply = await runMain(["check", "**/*.yml"], { cwd });
    assertEquals([deeply.code, deeply.stdout], [1, "4 workflows checked: 1 error\n"]);
    const named = await runMain(["check", "flows/deep/*/*.yml"], { cwd });
    assertEquals([named.code, named.stdout], [1, "3 workflows checked: 1 error\n"]);
  }));

Deno.test("json is an array of findings with their places", async () => {
  const { code, stdout, stderr } = await check(
    { "bad.yml": BAD, "hinted.yml": HINTED },
    "--format=json",
    "bad.yml",
    "hinted.yml",
    "nowhere.yml",
  );
  assertEquals([code, stderr], [1, ""]);
  assertEquals(JSON.parse(stdout), [
    {
      file: "bad.yml",
      line: 6,
      column: 20,
      severity: "error",
      code: "undefined-var",
      message: 'undefined variable "nope"',
      hint: 'add it to the vars of the workflow, or write ?? "…" where it may be missing',
    },
    {
      file: "bad.yml",
      line: 7,
      column: 26,
      severity: "error",
      code: "unpublished-output",
      message: 'no step publishes "x"',
      hint: null,
    },
    {
      file: "hinted.yml",
      line: 2,
      column: 9,
      severity: "hint",
      code: "unused-var",
      message: 'nothing reads the var "a"',
      hint: null,
    },
    {
      file: "nowhere.yml",
      line: null,
      column: null,
      severity: "error",
      code: "file",
      message: "workflow file 'nowhere.yml' not found",
      hint: null,
    },
  ]);
  const clean = await check({ "good.yml": GOOD }, "--format", "json", "good.yml");
  assertEquals([clean.code, clean.stdout], [0, "[]\n"]);
});

Deno.test("github has commands with every sign of theirs escaped", async () => {
  const odd =
    "name: x\njobs: [{name: a, steps: [{uses: hello, test: vars.nope == 1}], needs: ['a%0A,b::c']}]\n";
  const { code, stdout, stderr } = await check(
    { "a:100%.yml": odd, "warned.yml": WARNED, "hinted.yml": HINTED },
    "--format=github",
    "./a*.yml",
    "warned.yml",
    "hinted.yml",
    "nowhere.yml",
  );
  assertEquals([code, stderr], [1, ""]);
  assertEquals(stdout.trimEnd().split("\n"), [
    '::error file=./a%3A100%25.yml,line=2,col=51,title=undefined-var::undefined variable "nope"%0Aadd it to the vars of the workflow, or write ?? "…" where it may be missing',
    '::error file=./a%3A100%25.yml,line=2,col=72,title=unknown-need::unknown job "a%250A,b::c" in needs of "a"',
    "::warning file=warned.yml,line=2,col=40,title=pointless-retry::hello cannot fail, so this retry never repeats it%0Aadd a test, or remove the retry",
    '::notice file=hinted.yml,line=2,col=9,title=unused-var::nothing reads the var "a"',
    "::error file=nowhere.yml,title=file::workflow file 'nowhere.yml' not found",
  ]);
});

Deno.test("github names files from the root of the repository", () =>
  withFiles({ "sub/bad.yml": BAD }, async (root) => {
    const env = { GITHUB_WORKSPACE: root };
    const { stdout } = await runMain(["check", "--format=github", "bad.yml"], {
      cwd: `${root}/sub`,
      env,
    });
    assertStringIncludes(stdout, "::error file=sub/bad.yml,line=6,");
  }));

Deno.test("unreadable files are reported as by a run, and the others are checked", async () => {
  const files: Files = {
    "good.yml": GOOD,
    "broken.yml": "name: x\njobs: [\n",
    "empty.yml": "",
    "binary.yml": new Uint8Array([0, 1, 2, 255, 254]),
    "folder/a.txt": "x",
    "hinted.yml": HINTED,
  };
  const cases = [
    ["nowhere.yml", /^runner: error: workflow file 'nowhere.yml' not found\n$/],
    ["good.yml/x", /^runner: error: workflow file 'good.yml\/x' not found\n$/],
    ["folder", /^runner: error: no workflow in 'folder'\n$/],
    [
      "binary.yml",
      /^runner: error: cannot read workflow file 'binary.yml': it is not UTF-8 text: /,
    ],
    ["empty.yml", /^runner: error: workflow file 'empty.yml' is empty\n/],
    ["broken.yml", /^runner: error: YAML syntax error at line 2\n$/],
    ["good.yml,nowhere.yml", /^runner: error: workflow file 'nowhere.yml' not found\n$/],
    [
      "good.yml,,x",
      /^runner: error: cannot load a workflow: "good.yml,,x" has an empty path in it\n/,
    ],
    [
      "no*.yml",
      /^runner: error: workflow file 'no\*.yml' not found\n {2}no file fits this pattern\n$/,
    ],
    ["no/**/*.yml", /^runner: error: workflow file 'no\/\*\*\/\*.yml' not found\n/],
    ["[z-a].yml", /^runner: error: workflow file '\[z-a\].yml' not found\n/],
  ] as const;
  await withFiles(files, async (cwd) => {
    for (const [name, said] of cases) {
      const result = await runMain(["check", name, "hinted.yml"], { cwd });
      assertNoTrace(result);
      assertEquals(result.code, 1, name);
      assertMatch(result.stderr, said, name);
      assertStringIncludes(result.stdout, "hinted.yml:2:9: hint:", name);
      assertMatch(result.stdout, /\n2 workflows checked: 1 error, 1 hint\n$/, name);
    }
    const all = cases.map(([name]) => name);
    const { stdout, stderr } = await runMain(["check", ...all, "good.yml"], { cwd });
    assertEquals(stderr.match(/^runner: error: /gm)?.length, all.length);
    assertMatch(
      stdout,
      new RegExp(`\\n${all.length + 1} workflows checked: ${all.length} errors\\n$`),
    );
    assertStringIncludes(stdout, 'broken.yml:2:7: error: this "[" is not closed');
  });
});

Deno.test("a file without read permission is reported, with the others", {
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
}, () =>
  withFiles({ "closed.yml": GOOD, "good.yml": GOOD }, async (cwd) => {
    await Deno.chmod(`${cwd}/closed.yml`, 0);
    const { code, stdout, stderr } = await runMain(["check", "*.yml"], { cwd });
    assertEquals([code, stderr], [1, "runner: error: permission denied reading 'closed.yml'\n"]);
    assertEquals(stdout, "2 workflows checked: 1 error\n");
  }));

Deno.test("an invalid command line is reported before anything is checked", async () => {
  const cases = [
    [[], /<workflow_file> is missing\n {2}try runner check --help/],
    [["--format=xml", "a.yml"], /invalid value "xml" for option --format/],
    [["--format", "jsn", "a.yml"], /did you mean "json"\?/],
    [["--stict", "a.yml"], /unknown option --stict\n {2}did you mean --strict\?/],
    [["--strict=no", "a.yml"], /option --strict takes no value/],
    [["--mermaid", "a.yml"], /runner check has no option --mermaid/],
  ] as const;
  for (const [args, said] of cases) {
    const { code, stdout, stderr } = await check({ "a.yml": GOOD }, ...args);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, said);
  }
});

Deno.test("limits are those of a run", () =>
  withFiles({ "a.yml": GOOD.replace("steps", "repeat: {count: 3}, steps") }, async (cwd) => {
    const env = { RUNNER_MAX_REPEAT_COUNT: "2" };
    const { code, stdout } = await runMain(["check", "a.yml"], { cwd, env });
    assertEquals(code, 1);
    assertStringIncludes(stdout, '"count" must be at most 2, not 3');
  }));

Deno.test("nothing is run, and the environment is not asked for", () =>
  withFiles({
    "a.yml": "name: x\nvars: { a: 'is {{SURELY_NOT_SET}}' }\n" +
      "jobs: [{name: '{{vars.a}}', steps: [{uses: shell, with: {cmd: touch ran}, test: res.code == 0}]}]\n",
  }, async (cwd) => {
    const { code, stdout } = await runMain(["check", "a.yml"], { cwd });
    assertEquals([code, stdout], [0, "1 workflow checked: ok\n"]);
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), ["a.yml"]);
  }));

const flow = (steps: string, rest = "") =>
  `name: n\nvars: { a: 1, unset: "{{NOT_SET}}", list: [], map: {} }\njobs:\n- name: j\n  id: j\n${rest}` +
  `  steps:\n  - { uses: hello, id: first, outputs: { x: "1" } }\n${steps}`;

/** Steps that certainly fail, so that a run is refused. */
const FAIL: readonly string[] = [
  "{ uses: hello, test: vars.nope == 1 }",
  "{ uses: hello, test: vars.nope }",
  "{ uses: hello, test: status == 0 && vars.nope == 1 }",
  "{ uses: hello, test: vars.nope contains 'a' }",
  "{ uses: hello, test: \"'a' in vars.nope\" }",
  "{ uses: hello, test: vars.nope < 1 < 2 }",
  "{ uses: hello, test: upper(outputs.nope) == 0 }",
  "{ uses: hello, test: (vars.nope.deep ?? 1) == 1 }",
  "{ uses: hello, test: rt.ms < 1 }",
  "{ uses: hello, test: needs.other.state == 'passed' }",
  "{ uses: echo, with: { message: '{{outputs.nope}}' } }",
  "{ uses: hello, with: { a: 'x {{outputs.first.y}}' } }",
  "{ uses: hello, with: { a: 'x {{vars.unset}}' } }",
  "{ uses: hello, echo: '{{outputs.later.x.y}}' }",
  "{ uses: hello, wait: '{{vars.nope}}' }",
  "{ uses: hello, skipif: vars.nope }",
  "{ uses: hello, id: own, with: { a: '{{outputs.own.x}}' }, outputs: { x: '1' } }",
  "{ uses: hello, iteration: [{ n: 1 }], test: vars.m == 1 }",
  "{ uses: hello, retry: { max_attempts: 1, until: res.a.b == outputs.nope.x } }",
];

/** Unknown names that no run would fail by. */
const UNKNOWN: readonly string[] = [
  "{ uses: hello, test: vars.nope != 1 }",
  "{ uses: hello, test: not vars.nope }",
  "{ uses: hello, test: vars.nope == nil }",
  "{ uses: hello, test: vars.nope == outputs.nope }",
  "{ uses: hello, test: status == 0 || vars.nope == 1 }",
  "{ uses: hello, test: '(vars.a == 1 ? 1 : vars.nope.x) == 1' }",
  "{ uses: hello, test: 'not any(vars.list, vars.nope.x == 1)' }",
  "{ uses: hello, test: len(outputs.first.nope) == 1 }",
  "{ uses: hello, test: int(vars.nope) == 1 }",
  "{ uses: hello, test: outputs[vars.nope]?.x == nil }",
  "{ uses: http, with: { get: 'http://127.0.0.1:1' }, test: not res.bdy }",
  "{ uses: hello, skipif: vars.nope == 1 }",
  "{ uses: hello, skipif: vars.a == 1, test: vars.nope.x == 1 }",
  "{ uses: hello, id: o, outputs: { x: vars.nope } }",
  "{ uses: hello, with: { a: '{{vars.nope}}' } }",
  "{ uses: hello, name: '{{vars.nope}}' }",
  "{ uses: hello, echo: '{{vars.nope}}' }",
  "{ uses: hello, test: true, retry: { max_attempts: 2, interval: '{{vars.nope}}' } }",
  "{ uses: hello, iteration: [], test: vars.nope.x == 1 }",
  "{ uses: hello, allow_failure: 'true', test: vars.nope == 1 }",
  "{ uses: hello, test: vars.map.nope == nil }",
];

/** Values that may be missing, by what their expressions say or because only the run knows. */
const PASS: readonly string[] = [
  "{ uses: hello, test: vars.unset == nil || vars.unset == '' }",
  "{ uses: hello, test: (vars.nope ?? 1) == 1 }",
  "{ uses: hello, test: vars.nope?.x == nil }",
  "{ uses: hello, test: (vars.map.nope ?? 1) == 1 }",
  "{ uses: hello, test: \"not ('nope' in vars) || vars.nope == 1\" }",
  "{ uses: hello, test: needs.other?.state == nil }",
  "{ uses: hello, test: outputs.skipped?.nope == nil }",
  "{ uses: hello, test: res.anything == nil }",
  "{ uses: hello, iteration: '{{vars.list}}', test: vars.column.x == 1 }",
];

Deno.test("a run is refused by what certainly fails, and by unknown names wherever they are", () =>
  withFiles({}, async (cwd) => {
    const run = async (step: string, ...args: string[]) => {
      const skipped = "{ uses: hello, id: skipped, skipif: true, outputs: { x: '1' } }";
      const later = "  - { uses: hello, id: later, outputs: { x: '1' } }\n";
      const other = "- { name: other, id: other, steps: [{ uses: hello }] }\n";
      const text = flow(`  - ${skipped}\n  - ${step}\n${later}${other}`);
      await Deno.writeTextFile(`${cwd}/w.yml`, text);
      const { code, stdout } = await runMain([...args, "w.yml"], { cwd });
      return [code, /^Time {7}/m.test(stdout)];
    };
    for (const step of FAIL) {
      assertEquals(await run(step), [1, false], step);
      assertEquals(await run(step, "--no-check"), [1, true], step);
    }
    for (const step of UNKNOWN) assertEquals(await run(step), [1, false], step);
    for (const step of PASS) assertEquals(await run(step), [0, true], step);
  }));

Deno.test("what may not run, or may fail, refuses no run", () =>
  withFiles({}, async (cwd) => {
    const bad = "  - { uses: hello, with: { a: 'x {{vars.unset}}' } }\n";
    for (
      const [job, code] of [
        ["  skipif: true\n", 0],
        ["  when: failure\n  needs: [k]\n", 0],
        ["  load: { users: 1, count: 2, expect: stats.failed == 2 }\n", 0],
        ["  load: { users: 1, count: 2, expect: stats.passed == 2 }\n", 1],
      ] as const
    ) {
      const text = flow(bad, job) + "- { name: k, id: k, steps: [{ uses: hello }] }\n";
      await Deno.writeTextFile(`${cwd}/w.yml`, text);
      const { code: got, stdout } = await runMain(["w.yml"], { cwd });
      assertEquals([got, stdout !== ""], [code, true], job);
    }
    await Deno.writeTextFile(
      `${cwd}/w.yml`,
      flow(bad) + "- { name: k, id: k, steps: [{ uses: hello }] }\n",
    );
    for (const args of [["--only", "k"], ["--skip", "j"], ["--dry-run", "--only", "k"]]) {
      const { code, stderr } = await runMain([...args, "w.yml"], { cwd });
      assertEquals([code, stderr], [0, ""], args.join(" "));
    }
    assertEquals((await runMain(["--only", "j", "w.yml"], { cwd })).code, 1);
  }));

Deno.test("a run prints what check warns of", () =>
  withFiles({
    "w.yml": flow(
      "  - { uses: shell, with: { cmd: ls }, timeout: 5000, test: [1 == 1, status != 7] }\n",
    ),
    "two.yml": flow("", "  repeat: { count: 0 }\n"),
  }, async (cwd) => {
    const { code, stderr } = await runMain(["w.yml", "two.yml"], { cwd });
    assertEquals([code, stderr.match(/^\w.*/gm)], [0, [
      "w.yml:8:48: warning: a number is one of seconds: 5000 is 1h23m20s",
      "w.yml:8:61: warning: this test is always true",
      "w.yml:8:69: warning: status is 0 or 1, so that this is always true",
      "two.yml:6:20: warning: with a count of 0 the job never runs",
    ]]);
  }));

Deno.test("values that are not what they look like are warned of, or say what to write", () => {
  const table: [step: string, said: string][] = [
    ["with: { id: 0e12345 }", "warning: 0e12345 is read as 0"],
    ["with: { id: 1e3 }", "warning: 1e3 is read as 1000"],
    ["with: { api_version: 1.10 }", "warning: 1.10 is read as 1.1"],
    ["with: { headers: { X: 2.0 } }", "warning: 2.0 is read as 2"],
    ["wait: PT1H30M", 'not "PT1H30M": write 1h30m'],
    ["timeout: P1DT2H", 'not "P1DT2H": write 1d2h'],
    ["test\u00a0: status == 0", "it ends with a non-breaking space"],
    ["retry: { times: 3 }", '"max_attempts" or "for"'],
    ["wait: PT1H", 'like "300ms"'],
    ["test: date(1700000000000) < now()", "write date(value / 1000)"],
    ["vars: { k: b }, test: 'outputs[vars.k].x == 1'", 'outputs has no "b"'],
  ];
  return withFiles({}, async (cwd) => {
    for (const [step, said] of table) {
      await Deno.writeTextFile(`${cwd}/w.yml`, flow(`  - { uses: hello, ${step} }\n`));
      const { stdout, stderr } = await runMain(["w.yml"], { cwd });
      assertStringIncludes(stdout + stderr, said);
    }
    await Deno.writeTextFile(`${cwd}/w.yml`, "name: n\njobs:\n  - name:\u00a0a\n    steps: []\n");
    const { stderr } = await runMain(["w.yml"], { cwd });
    assertStringIncludes(stderr, 'a non-breaking space follows the ":"');
    await Deno.writeTextFile(`${cwd}/w.yml`, flow("  - { uses: hello, timeout: 1d }\n"));
    assertEquals((await runMain(["w.yml"], { cwd })).code, 0);
  });
});

Deno.test("an output that an embedded job never has is an error", () =>
  withFiles({
    "job.yml": 'name: j\nsteps: [{ uses: hello, id: h, outputs: { token: "1" } }]\n',
    "w.yml": flow(
      "  - { uses: embedded, with: { path: job.yml }, test: res.outputs.tokn == res.outputs.h.token }\n",
    ),
  }, async (cwd) => {
    const { code, stdout } = await runMain(["check", "w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'unknown field "tokn" of the outputs of the job');
  }));

Deno.test("one finding switches no other off", () => {
  const text = (vars: string, keys: string) =>
    `name: n\nvars: ${vars}\njobs:\n- name: j\n  id: j\n  steps:\n` +
    `  - { uses: hello, id: session, outputs: { token: "1" }${keys} }\n` +
    `  - { uses: hello, test: outputs.sesion.token == vars.typo, with: { a: "{{outputs.session.tokn}}" } }\n` +
    `- { name: k, needs: [j], steps: [{ uses: hello, test: "needs.j.stat == 'passed'" }] }\n`;
  const map = (jobs: string) =>
    jobs.replace("- name: j\n  id: j", "  j:\n   name: j").replace(/^ {2}(steps|- )/gm, "   $1")
      .replace("- { name: k", "  k: { name: k");
  return withFiles({}, async (cwd) => {
    for (
      const [file, own] of [
        [text("{ a: 1 }", ""), 0],
        [text("{ a: 1 }", ", retries: 1"), 1],
        [text("{ a: 1 }", ", outputz: [1]"), 1],
        [text("{ a: 1, a: 2 }", ""), 1],
        [text("{ a: 1 }", ", wait: soon, test: nope && 1"), 2],
        [text("{ a: 1 }", "").replace("needs:", "needz: 1, needs:"), 1],
        [map(text("{ a: 1 }", "")), 1],
        [text("{ a: 1 }\nunknown: 1", ", vars: 1"), 2],
      ] as const
    ) {
      await Deno.writeTextFile(`${cwd}/w.yml`, file);
      const { stdout } = await runMain(["check", "w.yml"], { cwd });
      const errors = [...stdout.matchAll(/ error: (.*)/g)].map(([, message]) => message!);
      const expected = [
        'no step publishes "sesion"',
        'undefined variable "typo"',
        'the step "session" publishes no "tokn"',
        'unknown field "stat" of needs.j: it is always nil',
      ];
      assertEquals(errors.filter((one) => expected.includes(one)), expected, file + stdout);
      assertEquals(errors.length, expected.length + own, file + stdout);
    }
  });
});

const REFUSE_RUN_BAD = flow(
  "  - { uses: hello, test: vars.nope == 1 }\n  - { uses: hello, echo: '{{outputs.b.c}}' }\n",
).replace("{{NOT_SET}}", "{{NOT_SET ?? nil}}");

Deno.test("run, --dry-run, prepare, export and suites refuse before the first job, with all errors", () =>
  withFiles({ "w.yml": REFUSE_RUN_BAD, "good.yml": flow("") }, async (cwd) => {
    for (
      const args of [
        ["w.yml"],
        ["--dry-run", "w.yml"],
        ["--report", "junit=out.xml", "w.yml"],
        ["prepare", "w.yml", "--out", "out.json"],
        ["export", "github", "w.yml", "-o", "out.yml"],
      ]
    ) {
      assertEquals(await runMain(args, { cwd }), {
        code: 1,
        stdout: "",
        stderr: `runner: error: workflow file 'w.yml' has 2 errors
  found by check; --no-check runs it all the same
w.yml:8:31: error: undefined variable "nope"
  8 |   - { uses: hello, test: vars.nope == 1 }
    |                               ^^^^ add it to the vars of the workflow, or write ?? "…" where it may be missing
w.yml:9:37: error: no step publishes "b"
  9 |   - { uses: hello, echo: '{{outputs.b.c}}' }
    |                                     ^
`,
      }, args.join(" "));
    }
    assertEquals([...Deno.readDirSync(cwd)].length, 2);
    const suite = await runMain([".", "--report", "junit=out.xml"], { cwd });
    assertEquals([suite.code, suite.stdout], [1, ""]);
    assertStringIncludes(suite.stderr, 'w.yml:8:31: error: undefined variable "nope"');
    for (const args of [["--list"], ["dag"]]) {
      assertEquals((await runMain([...args, "w.yml"], { cwd })).code, 0);
    }
  }));

Deno.test("with --strict a run is refused by what check warns of", () =>
  withFiles(
    { "w.yml": flow("  - { uses: shell, with: { cmd: ls }, test: true }\n") },
    async (cwd) => {
      assertEquals((await runMain(["w.yml"], { cwd })).code, 0);
      const { code, stdout, stderr } = await runMain(["--strict", "w.yml"], { cwd });
      assertEquals([code, stdout], [1, ""]);
      assertStringIncludes(stderr, "w.yml:8:45: error: this test is always true");
    },
  ));

Deno.test("vars that are set elsewhere, and outputs of the setup of a suite, are there", () =>
  withFiles({
    "suite.yml": "workflows: [w.yml]\nsetup: set.yml\nvars: { more: 1 }\n",
    "set.yml": "name: s\njobs:\n- name: j\n  steps:\n  - " +
      "{ uses: hello, id: login, outputs: { token: \"'t'\" } }\n",
    "w.yml": flow("  - { uses: hello, test: outputs.login.token == 't' && vars.more == 1 }\n"),
  }, async (cwd) => {
    for (const args of [["suite.yml"], ["check", "suite.yml"], ["--no-check", "suite.yml"]]) {
      const { code, stdout, stderr } = await runMain(args, { cwd });
      assertEquals(code, 0, stdout + stderr);
    }
    assertEquals((await runMain(["w.yml"], { cwd })).stderr.match(/error: /g)?.length, 3);
  }));

Deno.test("job files count wherever a step embeds them", () =>
  withFiles(
    { "in.yml": "name: in\nsteps: [{ uses: hello, test: vars.nope == 1 }]\n" },
    async (cwd) => {
      const step = (fields: string) =>
        flow(`  - { uses: embedded, with: { path: "{{vars.file}}" }${fields} }\n`)
          .replace("a: 1", "file: in.yml");
      for (const [fields, code] of [["", 1], [", skipif: true", 1]] as const) {
        await Deno.writeTextFile(`${cwd}/w.yml`, step(fields));
        const result = await runMain(["w.yml"], { cwd });
        assertEquals(
          [result.code, result.stderr.includes("does not give")],
          [code, code === 1],
          fields,
        );
      }
    },
  ));

Deno.test("a variable that is not set is one line, if a run cannot do without it", () =>
  withFiles({
    "w.yml": 'name: n\nvars:\n  token: "{{API_TOKEN}}"\n  other: "{{OTHER}}"\njobs:\n' +
      '- { name: j, steps: [{ uses: hello, with: { a: "Bearer {{vars.token}}" }, test: vars.other != 1 }] }\n',
  }, async (cwd) => {
    const line =
      'API_TOKEN is not set (vars.token, w.yml:3)\n  set it, in the environment or by --var name=…, or give a default: "{{NAME ?? …}}"\n';
    assertEquals(await runMain(["w.yml"], { cwd }), {
      code: 1,
      stdout: "",
      stderr: `runner: error: ${line}`,
    });
    for (const args of [["--var", "token=t", "w.yml"], ["check", "w.yml"]]) {
      assertEquals((await runMain(args, { cwd })).code, 0);
    }
    assertEquals((await runMain(["w.yml"], { cwd, env: { API_TOKEN: "t" } })).code, 0);
    const nested = 'name: n\nvars: { api: { token: "{{API_TOKEN}}" } }\njobs:\n' +
      '- { name: j, steps: [{ uses: hello, with: { a: "Bearer {{vars.api.token}}" } }] }\n';
    await Deno.writeTextFile(`${cwd}/nested.yml`, nested);
    assertStringIncludes(
      (await runMain(["nested.yml"], { cwd })).stderr,
      "runner: error: API_TOKEN is not set (vars.api.token, nested.yml:2)\n",
    );
    const ways = ["bearer: '{{vars.token}}'", "basic: { username: a, password: '{{vars.token}}' }"];
    for (const auth of ways) {
      const step = `{ uses: http, with: { get: "http://127.0.0.1:1", auth: { ${auth} } } }`;
      const text =
        `name: n\nvars:\n  token: "{{API_TOKEN}}"\njobs:\n- { name: j, steps: [${step}] }\n`;
      await Deno.writeTextFile(`${cwd}/auth.yml`, text);
      const { stderr } = await runMain(["auth.yml"], { cwd });
      assertEquals(stderr, `runner: error: ${line.replace("w.yml", "auth.yml")}`);
    }
  }));
