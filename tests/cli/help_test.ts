import { assertEquals, assertStringIncludes } from "@std/assert";
import { DEFAULT_COMMAND } from "../../src/cli/default_command.ts";
import { OPTION_GROUPS } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/registry.ts";
import { CHECKOUT } from "../support/documents.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const SNAPSHOTS = `${CHECKOUT}tests/fixtures/help`;
const PAGES: [file: string, args: string[]][] = [
  ["no-arguments.txt", []],
  ["runner.txt", ["--help"]],
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
