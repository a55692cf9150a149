import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { listParameters } from "../../src/workflow/names.ts";
import { ACTIONS } from "../../src/actions/registry.ts";
import { OPTION_GROUPS } from "../../src/cli/command.ts";
import { findPages, listPages } from "../../src/cli/help/pages.ts";
import { loadDocuments } from "../../src/cli/help/documents.ts";
import { PLAIN_LAYOUT } from "../../src/cli/help/layout.ts";
import { renderPage } from "../../src/cli/help/render_page.ts";
import { DEFAULT_COMMAND } from "../../src/cli/default_command.ts";
import { COMMANDS } from "../../src/cli/registry.ts";
import { denoHost } from "../../src/host/deno_host.ts";
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

const PAGES_OF_DOCS = listPages(await loadDocuments(denoHost().files));

Deno.test("every page of the documents is found by its name, and is text of 80 columns", () => {
  assertEquals(PAGES_OF_DOCS.length > 90, true);
  for (const page of PAGES_OF_DOCS) {
    assertEquals(findPages(PAGES_OF_DOCS, page.name).named[0], page);
    assertEquals(COMMANDS.some(({ name }) => name === page.name), false, page.name);
    // Code is as wide as it is, and a word may be wider than a column.
    const prose = renderPage(page.text, PLAIN_LAYOUT).split("\n")
      .filter((line) => !line.startsWith("    "));
    assertEquals(prose.filter((line) => line.length > 80 && /\S \S/.test(line.trim())), []);
    assertEquals(prose.filter((line) => /\]\(|<!--|^#|^\|/.test(line)), [], page.name);
  }
});

Deno.test("each synonym leads to one page, which is there", async () => {
  const text = await Deno.readTextFile(`${CHECKOUT}src/cli/help/synonyms.json`);
  const synonyms: Record<string, string> = JSON.parse(text);
  const paths = PAGES_OF_DOCS.map(({ path }) => `${path}.md`);
  assertEquals(Object.keys(synonyms).filter((path) => !paths.includes(path)), []);
  const words = Object.values(synonyms).flatMap((list) => list.split(", "));
  assertEquals(words.filter((word, index) => words.indexOf(word) !== index), []);
  assertEquals(words.filter((word) => word !== word.toLowerCase() || word.trim() === ""), []);
});

// The one file has no pages, and says where they are.
const ignore = BUILT?.endsWith("runner.js") === true;

Deno.test("help explains every kind of word", { ignore }, async (test) => {
  const table: [line: string, ...parts: string[]][] = [
    ["gen", "Usage: runner gen [options] <openapi_file> [<workflow_file>]\n"],
    ["retry", "RETRY, POLLING AND FLAKY STEPS\n\n", "\nKey:\n  retry  of a step: Runs the step"],
    ["http", "HTTP\n\nSends an HTTP request"],
    ["functions", "\n  upper(text: string)\n      The string in upper case.\n"],
    ["Sign in", "SIGN IN\n\n"],
    ["ci/overview", "IN CI\n\n"],
    ["reference/reports", "REPORT FORMATS\n\n"],
    [
      "upper",
      "Function:\n  upper(text: string)  The string",
      "\nSee also: runner help functions\n",
    ],
    ["--only", "Option of runner:\n  --only <job>...  Run this job"],
    ["-q", "Option of runner:\n  -q, --quiet  Print"],
    ["no-color", "Option of every command:\n"],
    ["NO_PROXY", "Environment variable:\n  NO_PROXY  Hosts"],
    ["retry.for", 'Key:\n  for  of "retry": The time'],
    ["upload", "UPLOAD FILES\n\n"],
    [
      "teardown",
      'as a key of the workflow  the key is "finally"',
      "See also: runner help cleanup, ",
    ],
    ["hash", "as a function  use sha256(text)", "See also: runner help download\n"],
    ["about", "Pages of about:\n  comparison       This page compares runner with"],
    ["repeat", "Key:\n  repeat  of a job: Runs", "\nFunction:\n  repeat(text"],
    ["json", "Parameter:\n  json  of http, sse: Any", "\nOption of runner dag:\n  --json "],
    ["time-out", "These pages mention it:\n\n  runner help "],
    ["how to retry a request", "These pages mention it:\n\n  runner help retry  "],
    [
      "response is slow",
      '"response is slow". These pages',
      "\n\n  runner help response-time  Response",
    ],
  ];
  for (const [line, ...parts] of table) {
    await test.step(line, async () => {
      const { code, stdout, stderr } = await runMain(["help", ...line.split(" ")]);
      assertEquals([code, stderr], [0, ""]);
      for (const part of parts) assertStringIncludes(stdout, part);
    });
  }
  await test.step("help of help is that of the command", async () => {
    assertMatch((await runMain(["help", "--help"])).stdout, /^runner help - /);
  });
});

Deno.test("runner help has a line of 80 columns for each page", { ignore }, async () => {
  const { code, stdout } = await runMain(["help"]);
  const lines = stdout.split("\n");
  assertEquals([code, lines.every((line) => line.length <= 80)], [0, true]);
  const named = lines.flatMap((line) => /^ {2}(\S+) {2,}\S/.exec(line)?.[1] ?? []);
  assertEquals(PAGES_OF_DOCS.filter(({ name }) => !named.includes(name)), []);
});

Deno.test("a word that nothing has and no page mentions gets a suggestion", async () => {
  const { code, stdout, stderr } = await runMain(["help", "expresions"]);
  assertEquals([code, stdout], [1, ""]);
  assertStringIncludes(stderr, 'nothing is named "expresions", and no page mentions it\n');
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

Deno.test("runner actions has groups, with http first and hello last", async () => {
  const { stdout } = await runMain(["actions"]);
  assertMatch(stdout, /^Requests:\n {2}http .*\n/);
  assertMatch(stdout, /\n {2}hello .*\n\nrunner actions <action>/);
  assertEquals(stdout.match(/^\S.*:$/gm)?.length, new Set(ACTIONS.map(({ group }) => group)).size);
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

Deno.test("runner actions prints the page of an action, as help does", { ignore }, async () => {
  for (const { name, load } of ACTIONS) {
    const { code, stdout } = await runMain(["actions", name]);
    assertEquals(code, 0);
    assertEquals((await runMain(["help", name])).stdout.startsWith(stdout), true, name);
    const { parameters = [], responseFields = [] } = await load();
    assertStringIncludes(stdout, `- uses: ${name}\n`);
    for (const { name: word } of listParameters(parameters)) {
      const line = stdout.split("\n").some((line) => line.trimStart().split(" ", 1)[0] === word);
      assertEquals(line, true, `${name} has no line for ${word}`);
    }
    for (const field of responseFields) assertStringIncludes(stdout, field.name);
  }
});

Deno.test("runner actions suggests a name", async () => {
  const { code, stderr } = await runMain(["actions", "htpp"]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, 'invalid value "htpp" for <action>');
  assertStringIncludes(stderr, 'did you mean "http"?');
});
