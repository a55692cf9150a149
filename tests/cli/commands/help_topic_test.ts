import { assertEquals, assertStringIncludes } from "@std/assert";
import { ACTIONS } from "../../../src/actions/registry.ts";
import { renderHelpPage } from "../../../src/cli/commands/help_command.ts";
import { COMMANDS } from "../../../src/cli/registry.ts";
import { pageOf, TOPICS } from "../../../src/cli/topics.ts";
import { BUILT } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";

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
  assertEquals(TOPICS.filter((topic) => names.includes(topic) || !pageOf(topic)), []);
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
    renderHelpPage(page),
    "ONE TWO\n\nA link and bold x[1](y) and more.\n\n- first goes on\n- a | b\n\n" +
      "    run  # <!-- kept -->\n\n    again\n\n  a  an | or\n",
  );
});
