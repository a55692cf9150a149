import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { withRig } from "../../support/run/rig.ts";
import { runFilesAt } from "../../support/run/run_at.ts";
import { startCli } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { readDirectory, REPORT_FILES } from "../../support/run/run_reports.ts";
import { withFiles } from "../../support/temp_dir.ts";

const get = (path: string) =>
  `{ uses: http, with: { get: "{url}${path}" }, test: res.code == 200 }`;
const flow = (name: string, step: string) =>
  `name: ${name}\njobs: [{ name: Job, steps: [${step}] }]\n`;

const SIGN_IN = flow(
  "Sign in",
  "{ uses: echo, id: session, with: { message: t0ken-of-user }, outputs: { token: res.message } }",
);
const USE = flow("Use", '{ uses: http, with: { get: "{url}/use/{{outputs.session.token}}" } }');
const CLEAN = flow(
  "Clean",
  `{ uses: http, with: { get: "{url}/clean/{{outputs.session?.token ?? 'none'}}" } }`,
);

/** The numbers of workflows and of steps: `1 passed · 1 failed (2); 3`. */
const totals = (text: string) =>
  text.replace(/^[^]*^Workflows {2}(.*)\n(?:Steps .*\((\d+)\)\n)?[^]*$/m, "$1; $2");

const SUITE = "workflows: [use.yml]\nsetup: in.yml\nteardown: out.yml\n";

Deno.test("setup runs first, and its outputs are read by step id in all others", async () => {
  const files = { "s/suite.yml": SUITE, "s/in.yml": SIGN_IN, "s/use.yml": USE, "s/out.yml": CLEAN };
  const { code, stdout, seen } = await runFilesAt(files, ["s/suite.yml"]);
  assertEquals([code, seen], [0, ["/use/t0ken-of-user", "/clean/t0ken-of-user"]], stdout);
  assertEquals(totals(stdout), "1 passed (1); 3");
});

Deno.test("the HTML page counts workflows as the text does, without setup and teardown", async () => {
  const files = {
    "suite.yml": SUITE,
    "in.yml": SIGN_IN,
    "use.yml": flow("Use", "{ uses: hello }"),
    "out.yml": flow("Out", "{ uses: hello }"),
  };
  const page = (await runFilesAt(files, ["--report", "html=-", "suite.yml"])).stdout;
  assertStringIncludes(page, '<li>1 workflow: <span class="passed">1 passed</span></li>');
  assertStringIncludes(page, "setup: Sign in");
});

Deno.test("outputs of setup have no flat names, and a step of the workflow with that id wins", async () => {
  const workflow = "name: Own\njobs: [{ name: J, steps: [" +
    "{ uses: echo, id: session, with: { message: mine }, outputs: { token: res.message } }, " +
    "{ uses: hello, test: outputs.session.token == 'mine' }] }]\n";
  const flat = flow("Flat", "{ uses: hello, test: outputs.token == nil }");
  const files = {
    "suite.yml": "workflows: [own.yml, flat.yml]\nsetup: in.yml\n",
    "in.yml": SIGN_IN,
    "own.yml": workflow,
    "flat.yml": flat,
  };
  const { code, stdout } = await runFilesAt(files, ["suite.yml"]);
  assertEquals([code, totals(stdout)], [0, "2 passed (2); 4"], stdout);
});

Deno.test("what an expression of setup marks as secret is secret in all others", async () => {
  const files = {
    "suite.yml": SUITE,
    "in.yml": SIGN_IN.replace("token: res.message", 'token: "{ of: [secret(res.message)] }"'),
    "use.yml": flow(
      "Use",
      '{ uses: echo, with: { message: "{{outputs.session.token.of[0]}}" }, test: 1 == 2 }',
    ),
    "out.yml": flow("Out", '{ uses: hello, echo: "is {{outputs.session.token.of[0]}}" }'),
  };
  const { code, stdout } = await runFilesAt(files, ["-v", "suite.yml"]);
  assertEquals([code, stdout.includes("t0ken-of-user")], [1, false], stdout);
  assertStringIncludes(stdout, "is ***");
});

Deno.test("where setup fails nothing but teardown runs, and setup is counted", async () => {
  const files = {
    "suite.yml": SUITE,
    "in.yml": flow("Sign in", get("/status/500")),
    "use.yml": USE,
    "out.yml": CLEAN,
  };
  const { code, stdout, seen } = await runFilesAt(files, ["--no-check", "suite.yml"]);
  assertEquals([code, seen], [1, ["/status/500", "/clean/none"]], stdout);
  assertEquals(totals(stdout), "1 failed · 1 skipped (2); 3");
  assertStringIncludes(stdout, "- Use (skipped: not started: setup failed)");
});

Deno.test("vars of the suite are added, those beside a path win, and --var wins over all", async () => {
  const show = (name: string) =>
    flow(
      name,
      '{ uses: echo, with: { message: "{{vars.a}} {{vars.b}} {{vars.c}}" }, echo: "= {{vars.a}} {{vars.b}} {{vars.c}}" }',
    );
  const files = {
    "suite.yml": 'vars: { a: "{{FROM_ENV}}", b: suite, c: suite }\n' +
      "workflows: [one.yml, { path: two.yml, vars: { b: entry } }]\nenv_file: [.env]\n",
    ".env": "FROM_ENV=file\n",
    "one.yml": "vars: { a: own }\n" + show("One"),
    "two.yml": show("Two"),
  };
  const args = ["-v", "--workers=1", "--var", "c=line", "suite.yml"];
  const { code, stdout } = await runFilesAt(files, args);
  assertEquals(code, 0, stdout);
  const said = [...stdout.matchAll(/= (.*)$/gm)].map(([, text]) => text);
  assertEquals(said, ["file suite line", "file entry line"]);
});

Deno.test("--var may set what only setup has", async () => {
  const files = {
    "suite.yml": "workflows: [use.yml]\nsetup: in.yml\n",
    "in.yml": "vars: { user: ann }\n" +
      flow("In", "{ uses: echo, with: { message: 'as {{vars.user}}' }, echo: '{{res.message}}' }"),
    "use.yml": flow("Use", "{ uses: hello }"),
  };
  const { code, stdout } = await runFilesAt(files, ["-v", "--var", "user=bob", "suite.yml"]);
  assertEquals(code, 0, stdout);
  assertStringIncludes(stdout, "as bob");
  const { stderr } = await runFilesAt(files, ["--var", "usr=bob", "suite.yml"]);
  assertStringIncludes(stderr, 'option --var: unknown variable "usr"');
});

Deno.test("tags beside a path are those of all its jobs", async () => {
  const files = {
    "suite.yml": "workflows: ['*_flow.yml', { path: a_flow.yml, tags: [slow] }]\n",
    "a_flow.yml": flow("A", "{ uses: hello }"),
    "b_flow.yml": flow("B", "{ uses: hello }"),
  };
  const { stdout } = await runFilesAt(files, ["--tags", "not slow", "suite.yml"]);
  assertEquals(totals(stdout), "1 passed (1); 1");
  assertStringIncludes(stdout, "B  b_flow.yml");
});

Deno.test("reports that a suite file asks for are beside it", () =>
  withFiles({
    "s/suite.yml": "workflows: [a.yml]\nreport: 'junit=out/j,1.xml,tap=out/t.tap'\n",
    "s/a.yml": flow("A", "{ uses: hello }"),
  }, async (cwd) => {
    const { code, stderr } = await runMain(["s/suite.yml"], { cwd });
    assertEquals([code, stderr], [0, ""]);
    const names = [...Deno.readDirSync(`${cwd}/s/out`)].map(({ name }) => name);
    assertEquals(names.sort(), ["j,1.xml", "t.tap"]);
  }));

Deno.test("mistakes in a suite file are reported together, with their places", async () => {
  const files = { "suite.yml": "workflows: [{ file: a.yml }, 3]\nworkers: 0\nvars: 1\n" };
  const { code, stderr } = await runFilesAt(files, ["suite.yml"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "suite file 'suite.yml' has 5 errors");
  assertStringIncludes(stderr, 'suite.yml:1:15: error: unknown key "file"');
  assertStringIncludes(stderr, '"workers" must be at least 1, not 0');
});

Deno.test("check knows the vars and outputs that a suite gives to its workflows", async () => {
  const files = {
    "suite.yml": "workflows: [use.yml]\nsetup: in.yml\nteardown: out.yml\nvars: { given: 1 }\n",
    "in.yml": SIGN_IN,
    "out.yml": flow("Out", '{ uses: echo, with: { message: "{{outputs.session?.token ?? 1}}" } }'),
    "use.yml": flow(
      "Use",
      '{ uses: echo, with: { message: "{{outputs.session.token}} {{vars.given}} {{vars.other}}" } }',
    ),
  };
  const { stdout } = await runFilesAt(files, ["check", "suite.yml"]);
  assertStringIncludes(stdout, 'undefined variable "other"');
  assertEquals([...stdout.matchAll(/(?:error|warning|hint): (.*)/g)].length, 1, stdout);
  assertStringIncludes(
    (await runFilesAt(files, ["check", "use.yml"])).stdout,
    'publishes "session"',
  );
});

/** A workflow that passes in some regions and stages. */
const IN_STAGE = `name: Prices
vars: { region: none, stage: none }
jobs:
  - name: Job
    steps:
      - uses: hello
        test: '[vars.region, vars.stage] in [["eu", "test"], ["us", "test"], ["eu", "prod"], ["ap", "none"]]'
`;

Deno.test("an entry has a name, and runs for each combination of its matrix, in all reports", async () => {
  const files = {
    "suite.yml": `
workflows:
  - path: prices.yml
    name: "Prices {{matrix.region}}/{{vars.stage}}"
    matrix:
      region: "{{split(REGIONS, ' ')}}"
      stage: [test, prod]
      exclude: [{ region: us, stage: prod }]
      include: [{ region: ap, stage: none }]
    vars: { region: "{{matrix.region}}", stage: "{{matrix.stage}}" }
  - { path: flows, name: All, matrix: { n: [{ name: one, at: 1 }] } }
  - { path: prices.yml, name: Plain, matrix: { n: [1, 2] }, vars: { region: ap } }
  - { path: prices.yml, name: "Of {{vars.region}}" }
env_file: .env
workers: 1
`,
    ".env": "REGIONS=eu us\n",
    "prices.yml": IN_STAGE,
    "flows/a.yml": flow("A", "{ uses: hello }"),
    "flows/b.yml": flow("B", "{ uses: hello, test: 1 == 2 }"),
  };
  const namesOf = (stdout: string) =>
    [...stdout.matchAll(/<testsuite name="([^"]*)"/g)].map(([, name]) => name);
  const { code, stdout } = await runFilesAt(files, ["--report", "junit=-", "suite.yml"]);
  assertEquals([code, namesOf(stdout)], [1, [
    "Prices eu/test › Job",
    "Prices eu/prod › Job",
    "Prices us/test › Job",
    "Prices ap/none › Job",
    "All (one) › A › Job",
    "All (one) › B › Job",
    "Plain (1) › Job",
    "Plain (2) › Job",
    "Of none › Job",
  ]], stdout);
  const set = ["--report", "junit=-", "--var", "region=ap", "suite.yml"];
  assertEquals(namesOf((await runFilesAt(files, set)).stdout).at(-1), "Of ap › Job");
});

Deno.test("the name of an entry shows no secret", () =>
  withFiles({
    "suite.yml": `workflows:
- { path: good.yml, name: "with {{vars.token}} {{vars.password}}" }
vars: { token: "{{SHOP_TOKEN}}", password: in-the-file }
`,
    "good.yml":
      "name: G\nvars: { token: x, password: x }\njobs:\n- name: j\n  steps: [{ uses: hello }]\n",
  }, async (cwd) => {
    const env = { SHOP_TOKEN: "s3cr3t-of-shop" };
    const isSafe = (text: string) => !/s3cr3t-of-shop|in-the-file/.test(text);
    for (const option of ["--list", "--dry-run", "--report-dir=out"]) {
      const { stdout } = await runMain([option, "suite.yml"], { cwd, env });
      assertStringIncludes(stdout, "with *** ***");
      assertEquals(isSafe(stdout), true, option);
    }
    for await (const { name } of Deno.readDir(`${cwd}/out`)) {
      const report = await Deno.readTextFile(`${cwd}/out/${name}`);
      assertEquals(isSafe(report), true, name);
    }
  }));

Deno.test("mistakes in a matrix and a name are reported at their places", async () => {
  const run = async (entry: string) => {
    const files = { "suite.yml": `workflows:\n  - ${entry}\n`, "a.yml": IN_STAGE };
    const { code, stderr, stdout } = await runFilesAt(files, ["suite.yml"]);
    assertEquals(code, 1, stdout);
    return stderr + stdout;
  };
  const constant = await run("{ path: a.yml, matrix: { region: eu } }");
  assertStringIncludes(constant, 'suite.yml:2:38: error: "region" must be a list, not "eu"');
  const evaluated = await run('{ path: a.yml, matrix: { region: "{{NONE}}" } }');
  assertStringIncludes(evaluated, 'suite.yml:2:38: error: "region" of the matrix must be a list');
  const none = await run("{ path: a.yml, matrix: { n: [1], exclude: [{ n: 1 }] } }");
  assertStringIncludes(none, "the matrix has no combinations");
  const unknown = await run("{ path: a.yml, matrix: { n: [1, 2], exclude: [{ m: 1 }] } }");
  assertStringIncludes(unknown, 'unknown name "m" in "exclude"');
  const name = await run('{ path: a.yml, name: "in {{res.code}}" }');
  assertStringIncludes(name, 'unknown name "res" in the name of a workflow of a suite');
  assertStringIncludes(await run('{ path: a.yml, name: "{{vars.nope}}" }'), "suite.yml:2:");
});

Deno.test("files behind a suite file choose its workflows", async () => {
  const files = {
    "s/suite.yml": "workflows: [use, other.yml]\nsetup: in.yml\n",
    "s/in.yml": SIGN_IN,
    "s/use/use.yml": USE,
    "s/other.yml": flow("Other", "{ uses: hello }"),
    "third.yml": flow("Third", "{ uses: hello }"),
  };
  const chosen = await runFilesAt(files, ["s/suite.yml", "s/use/use.yml"]);
  assertEquals([chosen.code, chosen.seen], [0, ["/use/t0ken-of-user"]], chosen.stdout);
  assertEquals(totals(chosen.stdout), "1 passed (1); 2");
  const other = await runFilesAt(files, ["s/suite.yml", "third.yml"]);
  assertStringIncludes(other.stderr, "the suite 's/suite.yml' has no workflow 'third.yml'");
  const alone = await runFilesAt(files, ["s/use/use.yml"]);
  assertEquals([alone.code, alone.seen], [1, []]);
});

Deno.test("a workflow that passed is one line, and one that failed is followed by its jobs", async () => {
  const files = {
    "suite.yml": "workflows: [b.yml, a.yml]\nsetup: in.yml\n",
    "in.yml": SIGN_IN,
    "a.yml": flow("A", "{ uses: hello, test: 1 == 2 }"),
    "b.yml": flow("B", "{ uses: hello }"),
  };
  const { stdout } = await runFilesAt(files, ["--workers=1", "suite.yml"]);
  assertStringIncludes(
    stdout.replaceAll(/ +[\d.]+ms(?= |$)/gm, "  0ms"),
    `✓ setup: Sign in  in.yml  0ms  1 not tested (1)
✓ B               b.yml  0ms  1 not tested (1)

✗ A               a.yml  0ms  1 failed (1)

● Job
   1. ✗ hello
        a.yml:2:50: test is false
          2 | jobs: [{ name: Job, steps: [{ uses: hello, test: 1 == 2 }] }]
            |                                                  ^^^^^^
        response:
          status: 0
✗ Job  0ms

Failures
  1. A › Job › hello   a.yml:2:50
     test is false

Workflows  1 passed · 1 failed (2)
Steps      1 failed · 2 not tested (3)
`,
  );
});

Deno.test("schema --suite describes a suite file", async () => {
  const { code, stdout } = await runFilesAt({}, ["schema", "--suite"]);
  assertEquals([code, JSON.parse(stdout).required], [0, ["workflows"]]);
});

// deno-lint-ignore no-explicit-any
type Json = any;

/** A workflow whose job never ends by itself, and that cleans up. */
function endless(name: string): string {
  return `name: ${name}
jobs:
  - id: work
    name: work
    steps: [${get(`/begun/${name}`)}, ${get(`/hang/${name}`)}, ${get(`/late/${name}`)}]
    finally:
      - ${get(`/clean/${name}/job/{{job.state}}`)}
      - ${get("/status/500")}
  - { name: next, needs: [work], steps: [${get(`/next/${name}`)}] }
finally:
  - ${get(`/clean/${name}/run/{{run.state}}`)}
`;
}

const FILES = {
  "suite.yml": `name: All
workflows: [flows]
setup: setup.yml
teardown: teardown.yml
workers: 2
`,
  "setup.yml": `name: Setup
jobs:
  - name: session
    steps: [{ id: session, uses: http, with: { get: "{url}/setup" }, outputs: { token: res.code } }]
`,
  "teardown.yml": `name: Teardown
jobs: [{ name: session, steps: [${get("/teardown/{{outputs.session.token}}")}] }]
`,
  "flows/a.yml": endless("a"),
  "flows/b.yml": endless("b"),
  "flows/c.yml": endless("c"),
};

for (const signal of ["SIGINT", "SIGTERM", "RUNNER_TIMEOUT"] as const) {
  const env: Record<string, string> = signal === "RUNNER_TIMEOUT" ? { RUNNER_TIMEOUT: "4s" } : {};
  const reason = signal === "RUNNER_TIMEOUT"
    ? "RUNNER_TIMEOUT of 4s is over"
    : `interrupted by ${signal}`;
  Deno.test(`${signal} ends a suite: all that runs cleans up, then teardown, with complete reports`, () =>
    withRig((rig) => {
      const files = Object.fromEntries(
        Object.entries(FILES).map(([name, text]) => [name, text.replaceAll("{url}", rig.url)]),
      );
      return withFiles(files, async (cwd) => {
        const child = startCli(["--report-dir", "reports", "suite.yml"], { cwd, env });
        const output = Promise.all([
          new Response(child.stdout).text(),
          new Response(child.stderr).text(),
        ]);
        await Promise.all([rig.untilSeen("/hang/a"), rig.untilSeen("/hang/b")]);
        if (signal !== "RUNNER_TIMEOUT") child.kill(signal);
        const [{ code }, [stdout, stderr]] = await Promise.all([child.status, output]);
        assertEquals([code, stderr], [1, ""]);

        const seen = rig.seen.filter((path) => !path.startsWith("-"));
        assertEquals(seen[0], "/setup");
        assertEquals(seen.at(-1), "/teardown/200");
        assertEquals(
          seen.filter((path) => path.startsWith("/clean")).sort(),
          ["a", "b"].flatMap((name) => [
            `/clean/${name}/job/interrupted`,
            `/clean/${name}/run/interrupted`,
          ]),
        );
        assert(!seen.some((path) => /late|next|\/c$/.test(path)), String(seen));

        assertMatch(stdout, /\nWorkflows {2}2 failed · 1 skipped \(3\)\nSteps .* \(\d+\)\n/);
        assertStringIncludes(stdout, `\nReason     ${reason}\n`);

        const reports = readDirectory(`${cwd}/reports`);
        assertEquals(Object.keys(reports).sort(), [...REPORT_FILES].sort());
        const json = JSON.parse(reports["report.json"]!);
        assertEquals([json.state, json.interrupted], ["failed", reason]);
        assertEquals(
          json.runs.map(({ workflow: { name }, role }: Json) => [
            name,
            role,
          ]),
          [
            ["Setup", "setup"],
            ...["a", "b", "c"].map((name) => [name, undefined]),
            ["Teardown", "teardown"],
          ],
        );
        assertEquals(JSON.parse(reports["ctrf.json"]!).results.summary.failed, 4);
        assert(reports["junit.xml"]!.trimEnd().endsWith("</testsuites>"));
        assert(reports["report.html"]!.trimEnd().endsWith("</html>"));
        const events = reports["events.ndjson"]!.trimEnd().split("\n").map((one) =>
          JSON.parse(one)
        );
        assertEquals(events.at(-1).type, "suite_finished");
      });
    }));
}

Deno.test("a second SIGINT within the cleanup of a suite ends it at once, without teardown", () =>
  withRig((rig) => {
    const work = `name: a
jobs: [{ name: j, steps: [${get("/hang/a")}], finally: [${get("/hang/clean")}] }]
`;
    const suite = "workflows: [flows/a.yml]\nsetup: setup.yml\nteardown: teardown.yml\n";
    const files = Object.entries({ ...FILES, "flows/a.yml": work, "suite.yml": suite })
      .map(([name, text]) => [name, text.replaceAll("{url}", rig.url)]);
    return withFiles(Object.fromEntries(files), async (cwd) => {
      const child = startCli(["suite.yml"], { cwd });
      const output = Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      await rig.untilSeen("/hang/a");
      child.kill("SIGINT");
      await rig.untilSeen("/hang/clean");
      // Two in a short time may be one that npm sends as well.
      const again = setInterval(() => {
        try {
          child.kill("SIGINT");
        } catch { // It has ended.
        }
      }, 50);
      const { code } = await child.status;
      clearInterval(again);
      await output;
      assertEquals(code, 1);
      assertEquals(rig.seen.filter((path) => !path.startsWith("-")), [
        "/setup",
        "/hang/a",
        "/hang/clean",
      ]);
    });
  }));

Deno.test("defaults of RUNNER_CONFIG, the suite, the job and the step win in this order", async () => {
  const echo = (message: string, params = "") =>
    `{ uses: echo, ${params} test: 'string(res.message) == "${message}"' }`;
  const message = (names: string) => `{ message: { ${names} } }`;
  const merged = (text: string) => text.replaceAll('"', '\\"');
  const files = {
    "config.yml": `defaults: { echo: ${message("a: config, b: config, c: config, d: config")} }\n`,
    "suite.yml": "workflows: [flow.yml]\nvars: { who: suite }\n" +
      `defaults: { echo: ${message('b: "{{vars.who}}", c: suite, d: suite')} }\n`,
    "flow.yml": "name: Flow\nvars: { who: x }\njobs:\n" +
      `  - name: Job\n    defaults: { echo: ${message("c: job, d: job")} }\n    steps:\n      - ` +
      echo(
        merged('{"a":"config","b":"suite","c":"job","d":"step"}'),
        `with: ${message("d: step")},`,
      ) +
      "\n      - { uses: embedded, with: { path: job.yml, vars: { who: job } }, test: status == 0 }\n" +
      "finally:\n  - " + echo(merged('{"a":"config","b":"suite","c":"suite","d":"suite"}')) + "\n",
    "job.yml": "name: Job file\nsteps:\n  - " +
      echo(merged('{"a":"config","b":"job","c":"suite","d":"suite"}')) + "\n",
  };
  const env = { RUNNER_CONFIG: "config.yml" };
  await withFiles(files, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["suite.yml"], { cwd, env });
    assertEquals(
      [code, stderr, totals(stdout)],
      [0, "", "1 passed (1); 3"],
      stdout,
    );
    const { stdout: checked } = await runMain(["check", "suite.yml"], { cwd, env });
    assertStringIncludes(checked, "2 workflows checked: ok");
    const alone = await runMain(["flow.yml"], { cwd });
    assertStringIncludes(alone.stderr, 'job.yml:3:5: error: echo needs "message"');
  });
});

Deno.test("a mistake in defaults of a suite or of RUNNER_CONFIG is shown there", async () => {
  const flows = { "flow.yml": "name: F\njobs: [{ name: J, steps: [{ uses: echo }] }]\n" };
  const wrong: readonly (readonly [defaults: string, said: string])[] = [
    ["echo: 5", '1:19: error: the defaults of "echo" must be a map, not 5'],
    ["echo: { message: a, msg: b }", '1:33: error: unknown parameter "msg" of echo'],
    ["echo: { message: '{{vars.x.y}}' }", '1:38: error: undefined variable "x"'],
    ["ehco: { message: a }, echo: { message: a }", '1:13: error: unknown action "ehco"'],
  ];
  for (const [defaults, said] of wrong) {
    const text = `defaults: { ${defaults} }\n`;
    const files = { ...flows, "suite.yml": `${text}workflows: [flow.yml]\n`, "config.yml": text };
    await withFiles(files, async (cwd) => {
      const { stdout } = await runMain(["check", "suite.yml"], { cwd });
      assertStringIncludes(stdout, `suite.yml:${said}`);
      const env = { RUNNER_CONFIG: "config.yml" };
      const { stdout: ofConfig } = await runMain(["check", "flow.yml"], { cwd, env });
      assertStringIncludes(ofConfig, `config.yml:${said}`);
    });
  }
});
