/** The files of `runner export`, on an engine where one can be had, and under linters of others. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { parse } from "@std/yaml/parse";
import { askTool } from "../support/programs/ask_tool.ts";
import { lintAll } from "../support/programs/lint_all.ts";
import { runCli, theProgram } from "../support/run/run_cli.ts";
import { RUNNER_KEY } from "../support/run/run_pieces.ts";
import { withFiles } from "../support/temp_dir.ts";

const ENGINES = fromFileUrl(new URL("../tools/engines/", import.meta.url));

/** Six jobs with outputs, a secret, a skipped job and rounds; it fails where STAGE is broken. */
const FLOW = `name: Release of $X, \${{ x }} and {{ y }}
vars:
  customer: "customer-{{random_str(6)}}"
  stage: "{{STAGE ?? 'test'}}"
jobs:
  - name: Build
    id: build
    steps:
      - name: compile
        id: artifact
        uses: shell
        with: { cmd: "echo app-1.2.3.tgz" }
        test: res.code == 0
        outputs: { file: trim(res.stdout), token: "'tok-' + vars.customer" }
  - name: Unit tests
    id: unit
    needs: [build]
    repeat: { count: 6, async: true }
    steps:
      - name: test {{outputs.file}}
        id: round
        uses: hello
        test: outputs.file == "app-1.2.3.tgz"
        outputs: { index: repeat_index }
  - name: Integration tests
    id: integration
    needs: [build]
    steps:
      - name: sees values
        uses: hello
        test: outputs.artifact.token == "tok-" + vars.customer && vars.stage != "broken"
  - name: Only in production
    id: production
    needs: [build]
    skipif: vars.stage != "production"
    steps: [{ name: never in a test, uses: hello }]
  - name: Publish
    id: publish
    needs: [unit, integration, production]
    steps:
      - { name: all were there, uses: hello, test: outputs.round.index == 5 }
  - name: Alarm
    id: alarm
    needs: [publish]
    when: failure
    steps: [{ name: calls somebody, uses: echo, with: { message: "{{needs.publish.state}}" } }]
finally:
  - { name: ends, uses: echo, with: { message: "{{run.state}}" }, echo: "run {{res.message}}" }
`;

/** The program under test as \`runner\` on the PATH. */
async function programOnPath(cwd: string): Promise<string> {
  const [program, args] = theProgram();
  const command = [program, ...args].map((word) => `'${word}'`).join(" ");
  await Deno.mkdir(`${cwd}/bin`);
  await Deno.writeTextFile(`${cwd}/bin/runner`, `#!/bin/sh\nexec ${command} "$@"\n`);
  await Deno.chmod(`${cwd}/bin/runner`, 0o755);
  return `${cwd}/bin:${Deno.env.get("PATH")}`;
}

async function runIn(
  cwd: string,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; text: string }> {
  const [program = "", ...args] = command;
  const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd, env }).output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  // deno-lint-ignore no-control-regex
  return { code, text: text.replace(/\x1b\[[0-9;]*m/g, "") };
}

/** gitlab-ci-local, which needs a repository. */
const GITLAB = [
  ...[Deno.execPath(), "run", "-A", "--quiet", "--frozen"],
  ...["--config", `${ENGINES}deno.json`, `${ENGINES}run_gitlab.ts`],
  ...["--shell-isolation", "--force-shell-executor"],
];

async function commitAll(cwd: string): Promise<void> {
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  for (
    const args of [
      ["init", "-q"],
      ["remote", "add", "origin", "git@gitlab.com:some/project.git"],
      ["add", "*.yml", ".gitlab-ci.yml"],
      [...author, "commit", "-qm", "flow"],
    ]
  ) assertEquals((await runIn(cwd, ["git", ...args], {})).code, 0);
}

Deno.test("GitLab CI runs the exported jobs", async (test) => {
  for (const stage of ["test", "broken"]) {
    await test.step(stage, async () => {
      await withFiles({ "flow.yml": FLOW }, async (cwd) => {
        const PATH = await programOnPath(cwd);
        const env = { PATH, RUNNER_KEY, STAGE: stage, RUNNER_OUTPUT: "stream" };
        const exported = await runCli(
          ["export", "gitlab", "flow.yml", "--split", "unit=2", "-o", ".gitlab-ci.yml"],
          { cwd },
        );
        assertEquals(exported.code, 0, exported.stderr);
        await commitAll(cwd);
        const pipeline = await runIn(cwd, GITLAB, env);
        // It does not start what always runs behind what was not started, unlike GitLab: the alarm
        // is lost, and the report has to be asked for.
        const report = stage === "broken"
          ? await runIn(cwd, [...GITLAB, "runner-report"], env)
          : pipeline;
        assertEquals([pipeline.code, report.code], stage === "test" ? [0, 0] : [1, 1], report.text);
        const last = report.text.split("\n").filter((line) => /\bJobs {7}/.test(line));
        assertStringIncludes(
          last.at(-1)!,
          stage === "test" ? " passed · 2 skipped (" : " 2 failed ",
        );
        const junit = await Deno.readTextFile(`${cwd}/report/junit.xml`);
        for (const name of ["Build", "Unit tests", "Integration tests", "Publish", "Alarm"]) {
          assertStringIncludes(junit, `<testsuite name="${name}"`);
        }
        assertEquals(junit.includes("tok-customer"), false);
      });
    });
  }
});

const SUITE = {
  "suite.yml": "name: Nightly\nworkflows: [flows]\nsetup: signs_in.yml\nteardown: signs_out.yml\n",
  "signs_in.yml": `name: Signs in
vars: { user: "user-{{random_str(6)}}", stage: "{{STAGE ?? 'test'}}" }
jobs:
  - name: Session
    steps:
      - name: begins
        id: session
        uses: shell
        with: { cmd: "echo in >> $LOG" }
        test: vars.stage != "closed"
        outputs: { token: "'tok-' + vars.user" }
`,
  "signs_out.yml": `name: Signs out
jobs:
  - name: Session
    steps:
      - name: ends
        uses: shell
        with: { cmd: "echo out >> $LOG" }
        test: res.code == 0
`,
  "flows/orders.yml": `name: Orders
vars: { stage: "{{STAGE ?? 'test'}}" }
jobs:
  - name: Orders
    steps:
      - name: with a token
        uses: hello
        test: outputs.session.token startsWith "tok-user-" && vars.stage != "broken"
`,
  "flows/prices.yml": "name: Prices\njobs: [{ name: Prices, steps: [{ name: sees, uses: hello, " +
    "test: outputs.session.token != nil }] }]\n",
};

Deno.test("GitLab CI runs an exported suite, with teardown whatever happened", async (test) => {
  const table = [
    { stage: "test", shards: [], code: 0, says: "2 passed (2)" },
    {
      stage: "broken",
      shards: ["--shards", "2"],
      code: 1,
      says: "1 passed · 1 failed (2)",
    },
    { stage: "closed", shards: [], code: 1, says: "1 failed · 2 skipped (3)" },
  ];
  for (const { stage, shards, code, says } of table) {
    await test.step(stage, async () => {
      await withFiles(SUITE, async (cwd) => {
        const PATH = await programOnPath(cwd);
        const env = { PATH, RUNNER_KEY, STAGE: stage, RUNNER_OUTPUT: "stream", LOG: `${cwd}/log` };
        const exported = await runCli(
          ["export", "gitlab", "suite.yml", ...shards, "-o", ".gitlab-ci.yml"],
          { cwd },
        );
        assertEquals(exported.code, 0, exported.stderr);
        await commitAll(cwd);
        const pipeline = await runIn(cwd, GITLAB, env);
        // After a failure it has to be asked for the report, unlike GitLab.
        const report = /merge/.test(pipeline.text) && pipeline.code === 0
          ? pipeline
          : await runIn(cwd, [...GITLAB, "runner-report"], env);
        assertEquals([pipeline.code, report.code], [code, code], report.text);
        assertStringIncludes(report.text, says);
        const log = (await Deno.readTextFile(`${cwd}/log`)).split("\n");
        assertEquals([log[0], log.includes("out")], ["in", true]);
        const junit = await Deno.readTextFile(`${cwd}/report/junit.xml`);
        for (const name of ["Signs in › Session", "Orders › Orders", "Prices › Prices"]) {
          assertStringIncludes(junit, `<testsuite name="${name}"`);
        }
        assertEquals(/tok-user-\w/.exec(junit), null);
      });
    });
  }
});

Deno.test("linters of others find nothing wrong with the workflow for GitHub", async () => {
  await withFiles({ "flow.yml": FLOW, ...SUITE }, async (cwd) => {
    const table = [
      ["flow.yml", "--split", "unit=2"],
      ["flow.yml", "--group", "none", "--secret", "API_TOKEN"],
      ["suite.yml"],
      ["flows", "--shards", "2", "--secret", "API_TOKEN", "--no-check"],
    ];
    for (const [at, args] of table.entries()) {
      const { stdout } = await runCli(["export", "github", ...args], { cwd });
      const path = `.github/workflows/flow${at}.yml`;
      assertEquals(await lintAll({ [path]: stdout }), { [path]: [] });
      assertEquals(await askTool(ENGINES, ["--frozen", "lint_github.ts"], stdout), []);
      const broken = stdout.replace("needs:", "neds:");
      assert((await askTool<string[]>(ENGINES, ["lint_github.ts"], broken)).length > 0);
    }
  });
});

Deno.test("the workflow for Argo has the types of its schema", async () => {
  const ask = (document: unknown) =>
    askTool<string[]>(ENGINES, ["--frozen", "check_argo.ts"], document);
  await withFiles({ "flow.yml": FLOW, ...SUITE }, async (cwd) => {
    for (
      const args of [["flow.yml", "--split", "unit=2"], ["flows", "--shards", "2", "--no-check"]]
    ) {
      const argv = ["export", "argo", ...args, "--image", "runner:1", "--secret", "API_TOKEN"];
      const { code, stdout, stderr } = await runCli(argv, { cwd });
      assertEquals(code, 0, stderr);
      const document = parse(stdout) as { readonly spec: object };
      assertEquals(await ask(document), []);
      const broken = { ...document, spec: { ...document.spec, onExit: 7 } };
      assertEquals(await ask(broken), ["/spec/onExit must be string"]);
    }
  });
});

/** A makefile that runs commands in a graph, as any engine does. */
const MAKEFILE = `R = R
PIECE = runner flow.yml --run $(R)/run.json --inputs $(R)
FILES = --outputs $(R)/$@/outputs.json --report ndjson=$(R)/$@/events.ndjson

report: publish alarm
\trunner flow.yml --run $(R)/run.json --finally --inputs $(R) --report ndjson=$(R)/finally.ndjson || true
\trunner report merge $(R)/run.json $(R) --report junit=report.xml

run.json:
\tmkdir -p $(R)
\trunner prepare flow.yml --out $(R)/run.json

build: run.json
unit integration production: build
publish: unit integration production
alarm: publish
build unit integration production publish alarm:
\tmkdir -p $(R)/$@
\t$(PIECE) --only $@ $(FILES)
.PHONY: report run.json build unit integration production publish alarm
`;

Deno.test("make runs a graph with the three commands", async () => {
  await withFiles({ "flow.yml": FLOW, "Makefile": MAKEFILE }, async (cwd) => {
    const env = { PATH: await programOnPath(cwd), RUNNER_KEY };
    const { code, text } = await runIn(cwd, ["make", "-j4"], env);
    assertEquals(code, 0, text);
    assertStringIncludes(text, " passed · 2 skipped (");
    await Deno.remove(`${cwd}/R`, { recursive: true });
    const failing = await runIn(cwd, ["make", "-k", "-j4"], { ...env, STAGE: "broken" });
    assertEquals(failing.code === 0, false);
    const merged = await runIn(cwd, ["bin/runner", "report", "merge", "R/run.json", "R"], env);
    assertEquals(merged.code, 1);
    assertStringIncludes(merged.text, 'needs "integration", which failed');
  });
});
