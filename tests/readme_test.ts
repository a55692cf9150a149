import { assertEquals, assertStringIncludes } from "@std/assert";
import { CHECKOUT, readBlocks, readDocument } from "./support/documents.ts";
import { utf8Locale } from "./support/run/run_cli.ts";
import { assertPassed } from "./support/assert_passed.ts";

Deno.test("the README begins with two commands that do everything, and a workflow of 12 lines", async () => {
  const blocks = readBlocks(await readDocument("README.md"));
  const commands = blocks[0]!.text.trimEnd().split("\n").map((line) => line.split("   #")[0]!);
  assertEquals(commands, ["demo", "test"].map((task) => `npx --yes deno@2.9.6 task ${task}`));
  const ci = await Deno.readTextFile(`${CHECKOUT}/.ci/run`);
  assertStringIncludes(ci, `\n${commands[1]}\n`);
  assertEquals(blocks[2]?.text.trimEnd().split("\n").length, 12);
  for (const word of ["name:", "until:", "test:"]) assertStringIncludes(blocks[2]!.text, word);
  const { tasks } = JSON.parse(await readDocument("deno.json"));
  const named = blocks.flatMap(({ text }) => [...text.matchAll(/deno@2\.9\.6 task (\w+)/g)]);
  assertEquals(named.map(([, name]) => name!).filter((name) => !(name in tasks)), []);
  assertEquals(named.length, 4);
});

Deno.test("the demo of the README succeeds", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "demo"],
    cwd: CHECKOUT,
    env: { NO_COLOR: "1", ...utf8Locale() },
  }).output();
  const [said, next] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, said! + next);
  assertPassed(said!);
  assertStringIncludes(next!, 'change "== 24" to "== 25"');
  assertEquals((await readDocument("examples/demo.yml")).split("== 24").length, 2);
});

Deno.test("the shop names a port that is in use, and the option for another", async () => {
  using busy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = busy.addr as Deno.NetAddr;
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "shop", "--port", String(port)],
    cwd: CHECKOUT,
    env: { NO_COLOR: "1", npm_command: "exec" },
  }).output();
  assertEquals(
    [code, new TextDecoder().decode(stderr)],
    [
      1,
      `error: port ${port} of 127.0.0.1 is already in use\n` +
      `  choose another port: npx --yes deno@${Deno.version.deno} task shop --port ${port + 1}\n`,
    ],
  );
});
