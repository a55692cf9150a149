import { assertEquals, assertStringIncludes } from "@std/assert";
import { CHECKOUT, readBlocks, readDocument } from "./support/documents.ts";
import { utf8Locale } from "./support/run/run_cli.ts";

Deno.test("the first commands of the README are two, and the names that they use exist", async () => {
  const first = readBlocks(await readDocument("README.md")).find(({ language }) =>
    language === "sh"
  );
  const commands = first?.text.split("\n").flatMap((line) => line.split(/\s*#/)[0] || []);
  assertEquals(commands, ["npx --yes deno@2.9.6 task demo", "npx --yes deno@2.9.6 task test"]);
  const { tasks } = JSON.parse(await readDocument("deno.json"));
  assertEquals(["demo", "test"].filter((name) => !(name in tasks)), []);
});

Deno.test("the first 60 lines of the README show a workflow of 12 lines, and why to use it", async () => {
  const document = await readDocument("README.md");
  const [workflow] = readBlocks(document);
  assertEquals(workflow?.text.trimEnd().split("\n").length, 12);
  for (const word of ["needs:", "retry:", "test:"]) assertStringIncludes(workflow!.text, word);
  const start = document.split("\n").slice(0, 60).join("\n");
  assertEquals(start.match(/^- \*\*/gm)?.length, 6);
  for (const part of ["failing-run.svg", "task demo", "**Install.**", "**Choose", "**Status.**"]) {
    assertStringIncludes(start, part);
  }
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
