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
const HINTED = "name: hinted\njobs: [{name: a, steps: [{uses: shell, with: {cmd: ls}}]}]\n";

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
    "      - uses: shell\n        with: { cmd: ls }\n";
  const { code, stdout } = await check({ "a.yml": text }, "a.yml");
  assertEquals(code, 1);
  const shown = stdout.match(/^a\.yml:.*$/gm) ?? [];
  assertEquals(shown.map((line) => line.replace(/^a\.yml:(\d+:\d+: \w+).*/, "$1")), [
    "5:15: error",
    "6:25: error",
    "7:26: error",
    "8:15: hint",
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

Deno.test("the exit code is 1 where there are errors; --strict makes errors of warnings and of untested results", async () => {
  const files = { "good.yml": GOOD, "warned.yml": WARNED, "hinted.yml": HINTED };
  const cases = [
    ["good.yml", 0, "1 workflow checked: ok"],
    ["hinted.yml", 0, "1 workflow checked: 1 hint"],
    ["warned.yml", 0, "1 workflow checked: 1 warning"],
    ["--strict good.yml", 0, "1 workflow checked: ok"],
    ["--strict hinted.yml", 1, "1 workflow checked: 1 error"],
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
        const words = `${count} workflow${count === 1 ? "" : "s"} checked: ok\n`;
        assertEquals([code, stdout, stderr], [0, words, ""], path);
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
      column: 33,
      severity: "hint",
      code: "untested-result",
      message: "nothing tests the result of this step",
      hint: "add a test, like test: res.code == 0",
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
    "::notice file=hinted.yml,line=2,col=33,title=untested-result::nothing tests the result of this step%0Aadd a test, like test: res.code == 0",
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
      assertStringIncludes(result.stdout, "hinted.yml:2:33: hint:", name);
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
