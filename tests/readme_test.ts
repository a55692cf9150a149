import { assertEquals, assertStringIncludes } from "@std/assert";
import { CHECKOUT, readBlocks, readDocument } from "./support/documents.ts";
import { utf8Locale } from "./support/run/run_cli.ts";

Deno.test("the README begins with a workflow of 12 lines, and commands that exist", async () => {
  const blocks = readBlocks(await readDocument("README.md"));
  assertEquals(blocks[0]?.text.trimEnd().split("\n").length, 12);
  for (const word of ["name:", "until:", "test:"]) assertStringIncludes(blocks[0]!.text, word);
  const { tasks } = JSON.parse(await readDocument("deno.json"));
  const named = blocks.flatMap(({ text }) => [...text.matchAll(/deno@2\.9\.6 task (\w+)/g)]);
  assertEquals(named.map(([, name]) => name!).filter((name) => !(name in tasks)), []);
  assertEquals(named.length, 2);
});

Deno.test("the demo of the README succeeds", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "demo"],
    cwd: CHECKOUT,
    env: { NO_COLOR: "1", ...utf8Locale() },
  }).output();
  const said = new TextDecoder().decode(stdout);
  assertEquals(code, 0, said + new TextDecoder().decode(stderr));
  assertStringIncludes(said, "✓ All jobs succeeded");
});
