import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runAt } from "../../support/run/run_at.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { CHECKOUT } from "../../support/documents.ts";

const HELLO = "name: n\njobs:\n  - name: j\n    steps:\n      - uses: hello\n";

/** Runs the program in a directory with a hello workflow. */
function runner(
  args: string[],
  env: Record<string, string> = {},
  files: Record<string, string> = { "ok.yml": HELLO },
) {
  return withFiles(files, (cwd) => runMain(args, { cwd, env }));
}

Deno.test("a wrong command line is an error on stderr, and nothing is run", async (test) => {
  const table: [args: string[], message: string, hint: string][] = [
    [[], "<workflow_file> is missing", "runner -h"],
    [["--verbos", "ok.yml"], "unknown option --verbos", "did you mean --verbose?"],
    [["ok.yml", "--nope=1"], "unknown option --nope", "try runner --help"],
    [["-x", "ok.yml"], "unknown option -x", "try runner --help"],
    [["ok.yml", "--output"], "option --output needs a value", "one of auto, spinner, stream"],
    [["--output=", "ok.yml"], "option --output needs a value", "one of auto, spinner, stream"],
    [
      ["--output=steam", "ok.yml"],
      'invalid value "steam" for option --output',
      'did you mean "stream"?',
    ],
    [
      ["--output", "x", "ok.yml"],
      'invalid value "x" for option --output',
      "one of auto, spinner, stream",
    ],
    [["--verbose=no", "ok.yml"], "option --verbose takes no value", "try runner --help"],
    [["-v=false", "ok.yml"], "option --verbose takes no value", "try runner --help"],
    [["-v=true", "ok.yml"], "option --verbose takes no value", "try runner --help"],
    [["-hv=false", "ok.yml"], "option --verbose takes no value", "try runner --help"],
    [
      ["--output=stream", "--output", "stream", "ok.yml"],
      "option --output is given twice",
      "try runner --help",
    ],
    [["two", "ok.yml"], 'unknown command "two"', "try runner --help"],
    [["--output", "stream", "two", "ok.yml"], 'unknown command "two"', "try runner --help"],
    [["version"], 'unknown command "version"', "write runner --version"],
    [["chek"], 'unknown command "chek"', 'did you mean "check"?'],
    [
      ["--report-junit", "x", "ok.yml"],
      "unknown option --report-junit",
      "write --report junit=<path>",
    ],
    [
      ["--allow-net", "ok.yml"],
      "<workflow_file> is missing",
      '--allow-net took "ok.yml" as its value',
    ],
    [["--timeout", "5m", "ok.yml"], "unknown option --timeout", "RUNNER_TIMEOUT=5m"],
    [["--bail", "--nope", "ok.yml"], "unknown option --bail", "write --fail-fast"],
    [["--tag", "smoke", "ok.yml"], "unknown option --tag", "write --tags 'smoke and not slow'"],
    [
      ["new", "--from", "curl http://h"],
      'invalid value "curl http://h" for option --from',
      'give "curl" alone, and the rest as an argument of its own',
    ],
    [["new", "none.yml"], "file 'none.yml' not found", "runner new -o none.yml"],
    [["-e", "A=1", "ok.yml"], "unknown option -e", "--env-file <file>"],
    [["--json", "ok.yml"], "runner has no option --json", "write --report <format=path>"],
    [["dag", "--quiet", "ok.yml"], "runner dag has no option --quiet", "try runner dag --help"],
    [["run"], "<workflow_file> is missing", "try runner --help"],
    [["exec", "ok.yml"], 'unknown command "exec"', "leave it out: runner ok.yml"],
    [["watch", "ok.yml"], 'unknown command "watch"', "write runner --watch ok.yml"],
    [["init"], 'unknown command "init"', "write runner new --out <file>"],
    [["ok.yml", "-o", "x"], "runner has no option -o", "write --report <format=path>"],
    [["dag", "-q", "ok.yml"], "runner dag has no option -q", "try runner dag --help"],
    [["validate", "ok.yml"], 'unknown command "validate"', "write runner check ok.yml"],
    [
      ["none/*.yml"],
      "workflow file 'none/*.yml' not found",
      "no file fits this pattern",
    ],
    [["--help", "--nope"], "unknown option --nope", "try runner --help"],
  ];
  for (const [args, message, hint] of table) {
    await test.step(args.join(" ") || "no arguments", async () => {
      const { code, stdout, stderr } = await runner(args);
      assertEquals([code, stdout, stderr.split("\n")[0]], [1, "", `runner: error: ${message}`]);
      assertStringIncludes(stderr, hint);
    });
  }
});

Deno.test("options are accepted before and after the path, in both spellings", async () => {
  const same = [
    ["--output", "stream", "--timing", "ok.yml"],
    ["ok.yml", "--timing", "--output=stream"],
    ["--timing", "--output=stream", "--", "ok.yml"],
  ];
  for (const args of same) {
    const { code, stdout, stderr } = await runner(args);
    assertEquals([code, stderr], [0, ""], args.join(" "));
    assertStringIncludes(stdout, "hello (@");
  }
});

Deno.test("controls in the name of a file are shown, and leave the message in one line", async () => {
  const name = "a\nb\x1b[31m\tc.yml";
  const missing = await runner([name]);
  assertEquals(missing.stderr, "runner: error: workflow file 'a␊b␛[31m␉c.yml' not found\n");
  const broken = await runner([name], {}, { [name]: "name: n\njobs: {}\n" });
  assertEquals(broken.stderr.split("\n").slice(0, 2), [
    "runner: error: workflow file 'a␊b␛[31m␉c.yml' has 1 error",
    'a␊b␛[31m␉c.yml:2:7: error: "jobs" must be a list, not a map',
  ]);
});

Deno.test("runner run is runner; a file or a directory of that name is ./run", async () => {
  const files = { "run/a.yml": HELLO, "ok.yml": HELLO };
  const run = await runner(["run", "--timing", "ok.yml"], {}, files);
  assertEquals(run.code, 0);
  assertStringIncludes(run.stdout, "hello (@");
  assertStringIncludes(
    (await runner(["run", "./run"], {}, files)).stdout,
    "Workflows  1 passed (1)",
  );
  assertStringIncludes((await runner(["./run"], {}, files)).stdout, "Workflows  1 passed (1)");
  assertEquals((await runner(["run", "--help"])).stdout, (await runner(["--help"])).stdout);
});

Deno.test("a file may have the name of a word", async () => {
  const files = { two: HELLO, "ok.yml": HELLO };
  assertStringIncludes(
    (await runner(["two", "ok.yml"], {}, files)).stdout,
    "2 passed (2)",
  );
  assertEquals((await runner(["two"], {}, files)).code, 0);
});

Deno.test("--help prints the usage with every option and variable on stdout", async () => {
  const { code, stdout, stderr } = await runner(["--help"]);
  assertEquals([code, stderr], [0, ""]);
  for (
    const part of [
      "Usage: runner [options] <workflow_file>",
      "-v, --verbose",
      "-h, --help",
      "--version",
      "--timing",
      "--output <mode>",
      "--no-color",
      "RUNNER_OUTPUT",
      "RUNNER_MAX_REPEAT_COUNT",
      "RUNNER_MAX_ATTEMPTS",
      "RUNNER_TIMEOUT",
      "FORCE_COLOR",
    ]
  ) assertStringIncludes(stdout, part);
  assertEquals(stdout.split("\n").filter((line) => line.length > 80), []);
  assertEquals((await runner(["--help", "missing.yml"])).stdout, stdout);
});

Deno.test("the help of a command has the variables that it reads, and when it succeeds", async () => {
  const colours = ["RUNNER_NO_COLOR", "NO_COLOR", "FORCE_COLOR", "TERM"];
  const limits = ["RUNNER_MAX_REPEAT_COUNT", "RUNNER_MAX_ATTEMPTS"];
  const loading = ["RUNNER_CONFIG", "RUNNER_PLUGIN_DIR", ...limits];
  const well = "0 on success, 1 otherwise";
  const table: [command: string, variables: string[], exit: string][] = [
    ["schema", colours, well],
    ["help", colours, well],
    ["gen", ["RUNNER_LOG_LEVEL", ...colours], well],
    ["dag", ["RUNNER_LOG_LEVEL", ...loading, ...colours], well],
    [
      "check",
      [...loading, ...colours.toSpliced(3, 0, "GITHUB_WORKSPACE")],
      "0 when no errors were found, 1 otherwise",
    ],
  ];
  for (const [command, variables, exit] of table) {
    const { stdout } = await runner([command, "--help"]);
    assert(stdout.startsWith(`runner ${command} - `), stdout);
    const names = stdout.split("\nEnvironment:\n")[1]!.matchAll(/^ {2}([A-Z_]+) /gm);
    assertEquals([...names].map(([, name]) => name), variables, command);
    assertStringIncludes(stdout, `\n\nExit code: ${exit}\n`);
  }
  assertStringIncludes(
    (await runner(["--help"])).stdout,
    "\n\nExit code: 0 when every job completed and every test passed, 1 otherwise\n",
  );
});

Deno.test("help prints what --help prints, of each command", async () => {
  const usage = (await runner(["--help"])).stdout;
  assertStringIncludes(usage, "\nrunner <command> --help prints the options of a command. ");
  const [, commands = ""] = /^Commands:\n(.*?)\n\n/ms.exec(usage) ?? [];
  const names = [...commands.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name!);
  assertEquals(names.includes("gen") && names.includes("help"), true);
  for (const name of names) {
    const { code, stdout, stderr } = await runner(["help", name]);
    assertEquals([code, stderr], [0, ""]);
    assertEquals(stdout, (await runner([name, "--help"])).stdout);
    assertStringIncludes(stdout, `Usage: runner ${name} `);
  }
});

Deno.test("--version prints one line with the commit of the checkout", async () => {
  const git = await new Deno.Command("git", { args: ["rev-parse", "HEAD"], cwd: CHECKOUT })
    .output().catch(() => undefined);
  const commit = git?.success ? new TextDecoder().decode(git.stdout).slice(0, 7) : "unknown";
  const { code, stdout } = await runner(["--version"]);
  assertEquals(code, 0);
  assertMatch(stdout, /^Runner Version \d+\.\d+\.\d+ \(commit: \w+\)\n$/);
  assertStringIncludes(stdout, `(commit: ${commit})`);
});

Deno.test("the mode of --output comes from the flag, then the environment", async (test) => {
  await test.step("a bad variable is an error", async () => {
    const { code, stderr } = await runner(["ok.yml"], { RUNNER_OUTPUT: "loud" });
    assertEquals(code, 1);
    assertStringIncludes(stderr, 'runner: error: invalid value "loud" for RUNNER_OUTPUT');
  });
  await test.step("but does not matter beside the flag", async () => {
    const { code } = await runner(["--output=stream", "ok.yml"], { RUNNER_OUTPUT: "loud" });
    assertEquals(code, 0);
  });
  await test.step("a spinner into a pipe prints each job when it ends, and nothing else", async () => {
    const { stdout } = await runner(["ok.yml"], { RUNNER_OUTPUT: "spinner" });
    assertMatch(stdout, /^n\n\n● j\n {3}1\. ○ hello\n✓ j [\d.]+m?s\n\nJobs {7}1 passed \(1\)\n/);
  });
});

Deno.test("colours are on where they are asked for or a terminal shows them", async () => {
  const table: [args: string[], env: Record<string, string>, coloured: boolean][] = [
    [["ok.yml"], {}, false],
    [["ok.yml"], { FORCE_COLOR: "1" }, true],
    [["ok.yml", "--no-color"], { FORCE_COLOR: "1" }, true],
    [["ok.yml"], { FORCE_COLOR: "0" }, false],
    [["ok.yml"], { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
    [["ok.yml", "--no-color"], {}, false],
  ];
  for (const [args, env, coloured] of table) {
    const { stdout } = await runner(args, env);
    assertEquals(stdout.includes("\x1b["), coloured, JSON.stringify([args, env]));
  }
});

Deno.test("a bad variable is an error before anything runs", async () => {
  for (
    const [env, message] of [
      [{ RUNNER_TIMEOUT: "soon" }, "RUNNER_TIMEOUT must be a duration"],
      [{ RUNNER_TIMEOUT: "-5s" }, "RUNNER_TIMEOUT must not be negative"],
      [{ RUNNER_TIMEOUT: "0" }, 'RUNNER_TIMEOUT must be greater than 0, not "0"'],
      [{ RUNNER_TIMEOUT: "0s" }, 'RUNNER_TIMEOUT must be greater than 0, not "0s"'],
      [{ RUNNER_NO_COLOR: "maybe" }, 'invalid value "maybe" for RUNNER_NO_COLOR'],
      [{ RUNNER_MAX_REPEAT_COUNT: "0" }, "RUNNER_MAX_REPEAT_COUNT"],
      [{ RUNNER_MAX_ATTEMPTS: "many" }, "RUNNER_MAX_ATTEMPTS"],
      [{ RUNNER_MAX_CONNECTIONS: "many" }, "RUNNER_MAX_CONNECTIONS must be an integer"],
    ] as const
  ) {
    const { code, stdout, stderr } = await runner(["ok.yml"], env);
    assertEquals([code, stdout], [1, ""], message);
    assertStringIncludes(stderr, `runner: error: ${message}`);
  }
});

/** A job that asks for the page of its id. */
const job = (id: string, needs = "", name = id) =>
  `  - name: ${name}\n    id: ${id}\n    needs: [${needs}]\n    steps:\n` +
  `      - {uses: http, with: {get: "{url}/${id}"}, test: res.code == 200}\n`;

const FLOW = "name: n\nvars: {env: prod}\njobs:\n" + job("build", "", "Build it") +
  job("unit", "build") + job("deploy-eu", "unit", "Deploy to {{vars.env}} (EU)") +
  job("deploy-us", "unit") + job("alone");

Deno.test("--only runs the selected jobs and their needs", async (test) => {
  const table: [args: string[], seen: string[]][] = [
    [["--only", "unit"], ["/build", "/unit"]],
    [["--only", "Build it"], ["/build"]],
    [["--only=Deploy to prod (EU)"], ["/build", "/unit", "/deploy-eu"]],
    [["--only", "Deploy to {{vars.env}} (EU)"], ["/build", "/unit", "/deploy-eu"]],
    [["--only", "deploy-*"], ["/build", "/unit", "/deploy-eu", "/deploy-us"]],
    [["--only", "deploy-?s"], ["/build", "/unit", "/deploy-us"]],
    [["--only", "deploy-[!u]*"], ["/build", "/unit", "/deploy-eu"]],
    [["--only", "Build*"], ["/build"]],
    [["--only", "alone", "--only", "build"], ["/alone", "/build"]],
    [["--only", "deploy-eu", "--no-needs"], ["/deploy-eu"]],
    [["--only", "deploy-eu", "--only", "build", "--no-needs"], ["/build", "/deploy-eu"]],
    [["--only", "unit", "--skip", "build"], ["/unit"]],
    [["--skip", "unit", "--skip", "alone"], ["/build", "/deploy-eu", "/deploy-us"]],
  ];
  for (const [args, seen] of table) {
    await test.step(args.join(" "), async () => {
      const run = await runAt(FLOW, args);
      assertEquals([run.code, [...run.seen].sort()], [0, [...seen].sort()], run.stderr);
    });
  }
});

Deno.test("jobs that are left out are in no line of the report but the last", async () => {
  const { stdout } = await runAt(FLOW, ["--only", "unit"]);
  for (const text of ["● Build it", "✓ Build it", "● unit"]) assertStringIncludes(stdout, text);
  for (const text of ["Deploy", "alone"]) assert(!stdout.includes(text), stdout);
  assertStringIncludes(
    stdout,
    "\nJobs       2 passed (2 of 5 selected)\nSteps      2 passed (2)\n",
  );
  const whole = await runAt(FLOW);
  assert(!whole.stdout.includes("chosen"));
});

Deno.test("a skipped job is reported as skipped, and the jobs that need it run", async () => {
  const { code, stdout, seen } = await runAt(FLOW, ["--skip", "un*"]);
  assertEquals([code, seen.includes("/unit"), seen.includes("/deploy-us")], [0, false, true]);
  assertStringIncludes(stdout, "- unit (skipped: --skip)");
  assertStringIncludes(stdout, "\nJobs       4 passed · 1 skipped (5)\n");
});

Deno.test("needs of a job run before it, also if jobs between them were left out", async () => {
  const get = (path: string) => `{uses: http, with: {get: "{url}/${path}"}, test: res.code == 200}`;
  const flow = `name: n
jobs:
  - {name: a, id: a, steps: [{uses: http, id: first, with: {get: "{url}/a"}, outputs: {code: res.code}}]}
  - {name: b, id: b, needs: [a], steps: [${get("b")}]}
  - {name: c, id: c, needs: [b, a], steps: [${get("c")}]}
  - {name: d, id: d, needs: [c, b], skipif: outputs.first.code != 200, steps: [${get("d")}]}
`;
  const { code, stdout, seen } = await runAt(flow, ["--only", "a", "--only", "d", "--no-needs"]);
  assertEquals([code, seen], [0, ["/a", "/d"]], stdout);
  const plan = await runAt(flow, ["--list", "--only", "a", "--only", "d", "--no-needs"]);
  assertEquals(plan.stdout, "a       a\n  http  first\nd       d      needs a\n  http\n");
});

Deno.test("a name that fits no job is an error, and nothing runs", async (test) => {
  const table: [args: string[], message: string, hint: string][] = [
    [["--only", "biuld"], 'option --only: unknown job "biuld"', 'did you mean "build"?'],
    [["--skip", "Build-it"], 'option --skip: unknown job "Build-it"', '"Build it"?'],
    [
      ["--only", "zzz*"],
      'option --only: unknown job "zzz*"',
      "the jobs are build (Build it), unit, dep",
    ],
    [["--only", "[z-a]"], 'option --only: unknown job "[z-a]"', "the jobs are build"],
    [["--only", "build", "--skip", "nope"], 'option --skip: unknown job "nope"', "the jobs"],
    [["--skip", "*"], "option --skip leaves no job to run", "name fewer jobs"],
    [["--only", "unit", "--skip", "u*"], "options --only and --skip leave no job to run", "--skip"],
    [["--no-needs"], "option --no-needs requires --only", "name the jobs"],
    [["--skip", "unit", "--no-needs"], "option --no-needs requires --only", "name the jobs"],
    [["--only="], "option --only needs a value", "try runner --help"],
    [
      ["--only", "build,Build it"],
      'option --only: unknown job "build,Build it"',
      'give the option once for each: --only "build" --only "Build it"',
    ],
    [["--skip", "unit, nope"], 'option --skip: unknown job "unit, nope"', "the jobs are"],
  ];
  for (const [args, message, hint] of table) {
    await test.step(args.join(" "), async () => {
      const { code, stdout, stderr, seen } = await runAt(FLOW, args);
      assertEquals([code, stdout, seen], [1, "", []]);
      assertEquals(stderr.split("\n")[0], `runner: error: ${message}`);
      assertStringIncludes(stderr, hint);
    });
  }
});

Deno.test("an id is meant before a pattern that it also is", async () => {
  const flow = "name: n\njobs:\n" + job("a", "", '"x[1]"') + job("b", "", "x1");
  assertEquals((await runAt(flow, ["--only", "x[1]"])).seen, ["/a"]);
  assertEquals((await runAt(flow, ["--only", "x[12]"])).seen, ["/b"]);
});

const READS = `
name: n
jobs:
  - name: build
    id: build
    steps:
      - {uses: hello, id: made, outputs: {num: "'5'", unit-no: "'7'"}}
  - name: use
    id: use
    needs: [build]
    steps:
      - {uses: hello, test: outputs.made.num == "5"}
      - {uses: hello, test: outputs.num == "5"}
      - {uses: hello, with: {a: "v{{outputs['unit-no']}}"}}
      - {uses: hello, skipif: outputs.num}
      - {uses: hello, test: outputs.made?.other == "5"}
`;

Deno.test("a failure caused by a job that was not selected names the job", async () => {
  const { code, stdout } = await runAt(READS, ["--no-check", "--only", "use", "--no-needs"]);
  assertEquals(code, 1);
  const why = (name: string) =>
    `outputs.${name} comes from the job "build", which was not selected to run`;
  assertEquals(
    stdout.split("Failures\n")[0]!.split("\n").flatMap((line) =>
      /outputs\.\S+ comes from .*/.exec(line)?.[0] ?? []
    ),
    [why("made"), why("num"), why("unit-no"), why("num"), why("made")],
  );
  const skipped = await runAt(READS, ["--no-check", "--skip", "build"]);
  assertStringIncludes(
    skipped.stdout,
    'comes from the job "build", which was skipped because of --skip',
  );
  // An output that no job publishes is unrelated to the selection.
  const whole = await runAt(READS, ["--no-check"]);
  assertEquals([whole.code, whole.stdout.includes("comes from")], [1, false]);
});

const WORKFLOW = "name: n\njobs: [{ name: j, steps: [{ uses: hello, test: 'true' }] }]\n";
const API =
  "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths: {/x: {get: {responses: {'200': {description: ok}}}}}\n";

/** Every way in which steps and jobs name a file that they read; the files are there below it. */
const NAMING = `
name: n
vars: { by_default: f/var.csv, set: "" }
jobs:
  - name: Short
    load: { users: 1, count: 1, data: f/short.csv }
    steps: [{ uses: hello }]
  - name: Long
    load: { users: 1, count: 1, data: { file: f/long.csv } }
    steps: [{ uses: hello }]
  - name: Var
    load: { users: 1, count: 1, data: "{{vars.by_default}}" }
    steps: [{ uses: hello, iteration: { file: "{{vars.set}}" } }]
  - name: Steps
    defaults: { smtp: { addr: a.example, from: a@b.example, to: c@d.example } }
    steps:
      - { uses: http, with: { post: "https://a.example", file: f/sent.bin } }
      - { uses: http, with: { post: "https://a.example", multipart: { a: { file: f/part.bin }, b: [{ file: f/part2.bin }] } } }
      - { uses: http, with: { get: "https://a.example", cookie_file: f/cookies.txt, openapi: f/api.yml } }
      - { uses: http, with: { get: "https://a.example", tls: { ca: f/ca.pem, cert: f/cert.pem, key: f/key.pem } } }
      - { uses: http, with: { post: "https://a.example", graphql: { file: f/query.graphql } } }
      - { uses: db, with: { dsn: "sqlite::memory:", file: f/queries.sql } }
      - { uses: grpc, with: { addr: "a.example:1", service: a.B, method: C, proto: [f/a.proto] } }
      - { uses: grpc, with: { addr: "a.example:1", service: a.B, method: C, descriptor_set: f/set.bin } }
      - { uses: ssh, with: { host: a.example, user: u, key_file: f/id, known_hosts: f/hosts, upload: { f/up: /tmp/x } } }
      - { uses: browser, with: { actions: [{ name: upload, selector: "#f", path: [f/a.png, f/b.png] }] } }
      - { uses: smtp, with: { subject: s, attachments: [f/one.txt, { file: f/two.txt }] } }
      - { uses: hello, test: 'schema({}, "f/schema.json")' }
`;
const NAMED = {
  ...Object.fromEntries(
    [...NAMING.matchAll(/f\/\w+\.?\w*/g)].map(([name]) => [name, "a\n1\n"]),
  ),
  "f/set.csv": "a\n1\n",
  "f/schema.json": "{}",
  "f/api.yml": API,
  "__snapshots__/naming/Steps.s.json": "{}",
};

const FILES = {
  "w.yml": `name: n
vars: { a: 1 }
jobs:
  - name: j
    id: j
    steps:
      - { uses: hello, iteration: { file: rows.csv }, test: "true" }
      - { uses: embedded, with: { path: job.yml } }
`,
  "rows.csv": "a\n1\n",
  "job.yml": "name: J\nsteps: [{ uses: hello, test: 'true' }]\n",
  "v.yml": "a: 2\n",
  "vars.env": "A=1\n",
  "config.yml": "defaults: { http: { timeout: 1s } }\n",
  "api.yml": API,
  "flows/m.yml": WORKFLOW,
  "setup.yml": WORKFLOW,
  "s.yml": "workflows: [flows]\nsetup: setup.yml\nenv_file: vars.env\n",
  "naming.yml": NAMING,
  ...NAMED,
};

/** What is written, and the command that reads it. */
const REFUSED: readonly (readonly [out: string, args: string])[] = [
  ["w.yml", "prepare w.yml --out OUT"],
  ["rows.csv", "prepare w.yml --out OUT"],
  ["s.yml", "prepare s.yml --out OUT"],
  ["flows/m.yml", "prepare s.yml --out OUT"],
  ["v.yml", "prepare w.yml --var-file v.yml --out OUT"],
  ["vars.env", "prepare w.yml --env-file vars.env --out OUT"],
  ["w.yml", "w.yml --run run.json --only j --outputs OUT"],
  ["run.json", "w.yml --run run.json --only j --outputs OUT"],
  ["run.json", "w.yml --run run.json --only j --report REPORT"],
  ["s.yml", "s.yml --run suite.json --setup --outputs OUT"],
  ["flows/m.yml", "s.yml --run suite.json --setup --outputs OUT"],
  ["s.yml", "s.yml --run suite.json --setup --report REPORT"],
  ["w.yml", "export gitlab w.yml --force -o OUT"],
  ["api.yml", "gen api.yml --force -o OUT"],
  ["flows/m.yml", "flows --report REPORT"],
  ["setup.yml", "s.yml --report REPORT"],
  ["vars.env", "s.yml --report REPORT"],
  ["job.yml", "w.yml --report REPORT"],
  ["rows.csv", "w.yml --report REPORT"],
  ["v.yml", "w.yml --var-file v.yml --report REPORT"],
  ["api.yml", "w.yml --openapi api.yml --report REPORT"],
  ["config.yml", "w.yml --report REPORT"],
];

Deno.test("no command writes over a file that it reads, by no path", async () => {
  await withFiles(FILES, async (cwd) => {
    const run = (args: string) =>
      runMain(args.split(" "), { cwd, env: { RUNNER_CONFIG: `${cwd}/config.yml` } });
    assertEquals((await run("prepare w.yml --out run.json")).code, 0);
    assertEquals((await run("prepare s.yml --out suite.json")).code, 0);
    const content = (name: string) => Deno.readTextFileSync(`${cwd}/${name}`);
    Deno.symlinkSync(".", `${cwd}/here`);
    for (const [out, args] of REFUSED) {
      const before = content(out);
      for (const path of [out, `here/${out}`, `${cwd}/${out}`]) {
        for (const format of args.includes("REPORT") ? ["json", "ndjson"] : [""]) {
          const line = args.replace("OUT", path).replace("REPORT", `ndjson=new,${format}=${path}`);
          const { code, stderr } = await run(line);
          assertEquals([code, content(out)], [1, before], line);
          assertStringIncludes(stderr, `'${path}': th`, line);
        }
      }
    }
    assertEquals([...Deno.readDirSync(cwd)].some(({ name }) => name === "new"), false);
  });
});

Deno.test("every file that a workflow names is one of its inputs, in whichever form", async () => {
  await withFiles(FILES, async (cwd) => {
    for (const [file, content] of Object.entries(NAMED)) {
      for (
        const args of [`naming.yml --report ndjson=${file}`, `prepare naming.yml --out ${file}`]
      ) {
        const { code, stderr } = await runMain([...args.split(" "), "--var", "set=f/set.csv"], {
          cwd,
        });
        assertEquals([code, Deno.readTextFileSync(`${cwd}/${file}`)], [1, content], args);
        assertStringIncludes(stderr, `'${file}': th`, args);
      }
    }
  });
});

Deno.test("a report is not written over a file whose name is known only in the run", async () => {
  const text = FILES["w.yml"].replace("rows.csv", '"{{vars.rows}}.csv"').replace(
    "a: 1",
    "rows: rows",
  );
  await withFiles({ ...FILES, "w.yml": text }, async (cwd) => {
    const args = ["--report", "json=rows.csv,tap=new", "w.yml"];
    const { code, stderr } = await runMain(args, { cwd });
    assertEquals([code, Deno.readTextFileSync(`${cwd}/rows.csv`)], [1, FILES["rows.csv"]]);
    assertStringIncludes(stderr, "cannot write the report 'rows.csv': the run has read this file");
    assertStringIncludes(Deno.readTextFileSync(`${cwd}/new`), "TAP version 14");
  });
});

Deno.test("a process that runs again replaces the outputs that it has left among its --inputs", async () => {
  await withFiles(FILES, async (cwd) => {
    const run = (args: string) => runMain(args.split(" "), { cwd });
    await run("prepare w.yml --out R/run.json");
    const again = "w.yml --run R/run.json --only j --inputs R --outputs R/j/outputs.json";
    for (let time = 0; time < 2; time++) assertEquals((await run(again)).code, 0);
  });
});

Deno.test("save refuses a file that the run has read, and replaces one that it has saved", async () => {
  await using server = withServer(() => new Response("a\n2\n"));
  const save = (name: string) =>
    `      - { uses: http, with: { get: "${server.url}", save: ${name} }, test: res.code == 200 }\n`;
  const read = (name: string) =>
    `      - { uses: hello, iteration: { file: ${name} }, test: "true" }\n`;
  const steps = [
    ...[read("rows.csv"), save("rows.csv"), save("w.yml")],
    ...[save("new.csv"), read("new.csv"), save("new.csv"), read("new.csv")],
  ];
  const text = `name: n\njobs:\n  - name: j\n    steps:\n${steps.join("")}`;
  await withFiles({ "w.yml": text, "rows.csv": "a\n1\n" }, async (cwd) => {
    for (let time = 0; time < 2; time++) {
      const { code, stdout } = await runMain(["w.yml"], { cwd });
      assertEquals([code, stdout.match(/^ +\d\. ✗/gm)?.length], [1, 2], stdout);
      assertStringIncludes(stdout, `to "${cwd}/rows.csv": the run has read this file`);
      assertEquals(Deno.readTextFileSync(`${cwd}/rows.csv`), "a\n1\n");
      assertEquals(Deno.readTextFileSync(`${cwd}/new.csv`), "a\n2\n");
    }
  });
});
