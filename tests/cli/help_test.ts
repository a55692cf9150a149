import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { listParameters } from "../../src/action/list_parameters.ts";
import { ACTIONS } from "../../src/actions/registry.ts";
import { OPTION_GROUPS } from "../../src/cli/command.ts";
import { PLAIN_LAYOUT } from "../../src/cli/help/layout.ts";
import { renderPage } from "../../src/cli/help/render_page.ts";
import { DEFAULT_COMMAND } from "../../src/cli/default_command.ts";
import { COMMANDS } from "../../src/cli/registry.ts";
import { TOPICS } from "../../src/cli/help/topics.ts";
import { CHECKOUT } from "../support/documents.ts";
import { BUILT, runCli } from "../support/run/run_cli.ts";
import { Collected, runHere, runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const SNAPSHOTS = `${CHECKOUT}tests/fixtures/help`;
const PAGES: [file: string, args: string[]][] = [
  ["no-arguments.txt", []],
  ["common.txt", ["-h"]],
  ["runner.txt", ["--help"]],
  ["machines.txt", ["help", "machines"]],
  ...COMMANDS.map(({ name = "" }): [string, string[]] => [`${name}.txt`, [name, "--help"]]),
];

for (const [file, args] of PAGES) {
  Deno.test(`runner ${args.join(" ")} prints tests/fixtures/help/${file} (UPDATE_HELP=1 writes it)`, async () => {
    const { stdout, stderr } = await runMain(args);
    const text = stdout + stderr;
    const path = `${SNAPSHOTS}/${file}`;
    if (Deno.env.get("UPDATE_HELP") === "1") await Deno.writeTextFile(path, text);
    assertEquals(text, await Deno.readTextFile(path));
    assertEquals(text.split("\n").filter((line) => line.length > 80), []);
  });
}

Deno.test("every option of a run is in a group of the help", () => {
  const { options } = DEFAULT_COMMAND;
  assertEquals(options.filter(({ group }) => group === undefined).map(({ name }) => name), []);
  const used = new Set(options.map(({ group }) => group));
  assertEquals(OPTION_GROUPS.filter((group) => !used.has(group)), ["Other"]);
});

Deno.test("-h takes 25 lines at most, each option in one", async () => {
  const { stdout } = await runMain(["-h"]);
  const lines = stdout.trimEnd().split("\n");
  assertEquals(lines.length <= 25, true, `${lines.length} lines`);
  assertEquals(lines.filter((line) => /^ {12}/.test(line)), []);
  assertEquals(
    (await runMain(["check", "-h"])).stdout,
    (await runMain(["check", "--help"])).stdout,
  );
});

Deno.test("help takes the width of a terminal, and has headings in bold there", async () => {
  const onTerminal = async (columns: number, env = {}) => {
    const stdout = new Collected();
    const terminal = Object.assign(stdout, { isTerminal: true, columns: () => columns });
    await runHere(["--help"], { env }, { stdout: terminal });
    return stdout.text;
  };
  const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));
  for (const [columns, least, most] of [[60, 50, 60], [100, 90, 100], [300, 110, 120]] as const) {
    const text = await onTerminal(columns, { NO_COLOR: "1" });
    assertEquals(widest(text) > least && widest(text) <= most, true, `${widest(text)}`);
    assertEquals(text.includes("\x1b"), false);
  }
  assertStringIncludes(await onTerminal(80), "\n\x1b[1mReports:\x1b[22m\n");
  assertEquals((await runMain(["--help"])).stdout.includes("\x1b"), false);
});

Deno.test("the help has four examples, which run", async () => {
  const { examples = [] } = DEFAULT_COMMAND;
  assertEquals(examples.length, 4);
  const job = (id: string) => `  - {name: ${id}, id: ${id}, steps: [{uses: hello}]}\n`;
  const workflow = `name: Shop\nvars: {limit: 5}\njobs:\n${job("order")}`;
  await withFiles({ "shop.yml": workflow, "flows/shop.yml": workflow }, async (cwd) => {
    for (const [line] of examples) {
      const { code, stdout, stderr } = await runMain(line.split(" ").slice(1), { cwd });
      assertEquals(code, 0, line + stdout + stderr);
    }
  });
});

Deno.test("runner alone is an error that says how to begin", async () => {
  const { code, stdout, stderr } = await runMain([]);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, "runner: error: <workflow_file> is missing\n\n");
  assertEquals(stderr.split("\n").length <= 15, true);
});

// The one file has no pages, and says where they are.
const ignore = BUILT?.endsWith("runner.js") === true;

Deno.test("help prints the page of every topic and of every action, in 80 columns", {
  ignore,
}, async (test) => {
  for (const topic of [...TOPICS, ...ACTIONS.map(({ name }) => name)]) {
    await test.step(topic, async () => {
      const { code, stdout, stderr } = await runMain(["help", topic]);
      assertEquals([code, stderr], [0, ""]);
      // Code is as wide as it is, and a word may be wider than a column.
      const prose = stdout.split("\n").filter((line) => !line.startsWith("    "));
      assertEquals(prose.filter((line) => line.length > 80 && /\S \S/.test(line.trim())), []);
      assertEquals(prose.filter((line) => /\]\(|<!--|^#|^\|/.test(line)), []);
    });
  }
});

Deno.test("a topic prints what its page says", { ignore }, async () => {
  assertStringIncludes(
    (await runMain(["help", "retry"])).stdout,
    "RETRY, POLLING AND FLAKY STEPS\n\n",
  );
  const { stdout } = await runMain(["help", "functions"]);
  assertStringIncludes(stdout, "\n  upper(text: string)\n      The string in upper case.\n");
});

Deno.test("no topic has the name of a command, which would win", () => {
  const names = COMMANDS.map(({ name }) => name);
  assertEquals(TOPICS.filter((topic) => names.includes(topic)), []);
});

Deno.test("a mistyped topic gets a suggestion", async () => {
  const { code, stderr } = await runMain(["help", "expresions"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'did you mean "expressions"?');
});

Deno.test("Markdown becomes text with its code, lists and tables", () => {
  const page = [
    "<!-- made -->",
    "# One `two`",
    "",
    "A [`link`](a.md) and **bold** `x[1](y)`",
    "and more.",
    "",
    "- first",
    "  goes on",
    "- `a | b`",
    "",
    "```sh",
    "run  # <!-- kept -->",
    "",
    "again",
    "```",
    "",
    "| Key | Of | What |",
    "| --- | --- | --- |",
    "| `a` |  | an \\| or |",
  ].join("\n");
  assertEquals(
    renderPage(page, PLAIN_LAYOUT),
    "ONE TWO\n\nA link and bold x[1](y) and more.\n\n- first goes on\n- a | b\n\n" +
      "    run  # <!-- kept -->\n\n    again\n\n  a  an | or\n",
  );
});

Deno.test("runner actions lists every action in one line", async () => {
  const { code, stdout, stderr } = await runMain(["actions"]);
  assertEquals([code, stderr], [0, ""]);
  for (const { name, load } of ACTIONS) {
    const { summary } = await load();
    const line = stdout.split("\n").find((line) => line.trim().split(/ +/)[0] === name);
    assertEquals(line?.replace(/^ *\S+ +/, ""), summary);
  }
});

Deno.test("runner actions names the plugins that are there", async () => {
  const files = { "plugins/runner-ping.ts": "", "plugins/runner-sum": "", "plugins/README": "" };
  await withFiles(files, async (cwd) => {
    const env = { RUNNER_PLUGIN_DIR: "plugins" };
    const { code, stdout } = await runCli(["actions"], { cwd, env });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "\n\nPlugins in plugins: ping, sum\n");
  });
});

Deno.test("runner actions prints the parameters and the fields of an action", async () => {
  for (const { name, load } of ACTIONS) {
    const { code, stdout } = await runMain(["actions", name]);
    assertEquals(code, 0);
    const { summary, parameters = [], responseFields = [] } = await load();
    assertEquals(stdout.split("\n")[0], `${name} - ${summary}`);
    for (const { name: word } of listParameters(parameters)) {
      assertEquals(stdout.includes(`\n  ${word} `), true, `${name} has no line for ${word}`);
    }
    for (const field of responseFields) assertStringIncludes(stdout, field.name);
  }
  const { stdout } = await runMain(["actions", "redis"]);
  assertMatch(stdout, /^ {2}url +The server: .*\n.*\(string; required\)$/m);
  assertStringIncludes(stdout, "\n  tls.verify ");
  assertStringIncludes(stdout, "\nSet exactly one of command, commands.\n");
});

Deno.test("runner actions suggests a name", async () => {
  const { code, stderr } = await runMain(["actions", "htpp"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'invalid value "htpp" for <action>');
  assertStringIncludes(stderr, 'did you mean "http"?');
});
