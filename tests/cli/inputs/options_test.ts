import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

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
    [[], "<workflow_file> is missing", "runner --help"],
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
    [["--dry", "ok.yml"], "unknown option --dry", "write --dry-run"],
    [["--retries", "2", "ok.yml"], "unknown option --retries", "retry: { max_attempts: 3 }"],
    [
      ["new", "--from", "curl http://h"],
      'invalid value "curl http://h" for option --from',
      'give "curl" alone, and the rest as an argument of its own',
    ],
    [["-e", "A=1", "ok.yml"], "unknown option -e", "--env-file <file>"],
    [["--json", "ok.yml"], "runner has no option --json", "write --report <format=path>"],
    [["dag", "--quiet", "ok.yml"], "runner dag has no option --quiet", "try runner dag --help"],
    [["run", "ok.yml"], 'unknown command "run"', "leave it out: runner ok.yml"],
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

Deno.test("a directory may have the name of a subcommand", async () => {
  const { stderr } = await runner(["run", "ok.yml"], {}, { "run/ok.yml": HELLO, "ok.yml": HELLO });
  assertStringIncludes(stderr, 'unknown command "run"');
});

Deno.test("a file may have the name of a word", async () => {
  const files = { two: HELLO, "ok.yml": HELLO };
  assertStringIncludes(
    (await runner(["two", "ok.yml"], {}, files)).stdout,
    "2 workflows: 2 passed",
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
  assertEquals((await runner(["-h", "missing.yml"])).stdout, stdout);
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

Deno.test("help prints what --help prints, of the program and of each command", async () => {
  const usage = (await runner(["--help"])).stdout;
  assertStringIncludes(usage, "\nrunner <command> --help prints the options of a command, ");
  assertEquals(await runner(["help"]), { code: 0, stdout: usage, stderr: "" });
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

Deno.test("help refuses a name that is neither a command nor a topic", async () => {
  const wrong = await runner(["help", "gne"]);
  assertEquals([wrong.code, wrong.stdout], [1, ""]);
  assertEquals(
    wrong.stderr,
    'runner: error: unknown command or topic "gne"\n  did you mean "gen"?\n',
  );
  const { stderr } = await runner(["help", "history"]);
  assertStringIncludes(stderr, 'topic "history"\n  runner help --help lists them\n');
  const extra = await runner(["help", "gen", "dag"]);
  assertEquals([extra.code, extra.stdout], [1, ""]);
  assertStringIncludes(extra.stderr, 'unexpected argument "dag"');
});

Deno.test("--version prints one line with the commit of the checkout", async () => {
  const { code, stdout } = await runner(["--version"]);
  assertEquals(code, 0);
  assertMatch(stdout, /^Runner Version \d+\.\d+\.\d+ \(commit: ([0-9a-f]{7}|unknown)\)\n$/);
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
  await test.step("a spinner into a pipe prints the final text alone", async () => {
    const stream = await runner(["--output=stream", "ok.yml"]);
    const spinner = await runner(["ok.yml"], { RUNNER_OUTPUT: "spinner" });
    const untimed = (text: string) => text.replace(/[\d.]+m?s\b/g, "_");
    assertEquals(untimed(spinner.stdout), untimed(stream.stdout));
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
    ] as const
  ) {
    const { code, stdout, stderr } = await runner(["ok.yml"], env);
    assertEquals([code, stdout], [1, ""], message);
    assertStringIncludes(stderr, `runner: error: ${message}`);
  }
});
