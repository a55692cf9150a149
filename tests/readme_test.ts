import { assertEquals, assertStringIncludes } from "@std/assert";
import { CHECKOUT, readBlocks, readDocument } from "./support/documents.ts";

Deno.test("the README starts with two commands, and the names that they use exist", async () => {
  const [first] = readBlocks(await readDocument("README.md"));
  const commands = first?.text.split("\n").flatMap((line) => line.split(/\s*#/)[0] || []);
  assertEquals(first?.language, "sh");
  assertEquals(commands, ["npx --yes deno@2.9.6 task demo", "npx --yes deno@2.9.6 task test"]);
  const { tasks } = JSON.parse(await readDocument("deno.json"));
  assertEquals(["demo", "test"].filter((name) => !(name in tasks)), []);
});

Deno.test("the demo of the README succeeds", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "demo"],
    cwd: CHECKOUT,
    env: { NO_COLOR: "1" },
  }).output();
  const said = new TextDecoder().decode(stdout);
  assertEquals(code, 0, said + new TextDecoder().decode(stderr));
  assertStringIncludes(said, "✓ All jobs succeeded");
});
