import { assertEquals, assertRejects } from "@std/assert";
import type { Command } from "../../../src/cli/command.ts";
import { type CommandTable, readCommandLine } from "../../../src/cli/args/read_command_line.ts";
import { UsageError } from "../../../src/base/errors.ts";

function command(options: Command["options"], name?: string): Command {
  const operands = [{ name: "file", summary: "a file" }];
  const load = () => Promise.resolve(() => Promise.resolve(0 as const));
  return { ...(name === undefined ? {} : { name }), summary: "", operands, options, load };
}

const verbose = { name: "verbose", short: "v", summary: "print more" };
const mode = { name: "mode", value: "mode", summary: "how to print it" };
const round = { name: "round", summary: "round corners" };
const table: CommandTable = {
  fallback: command([verbose, mode]),
  commands: [command([round, mode], "draw"), command([], "list")],
  common: [{ name: "help", short: "h", summary: "help" }],
};

Deno.test("readCommandLine() finds the command by the first operand", async (test) => {
  const rows: [line: string, name: string | undefined, operands: string[], options: string[]][] = [
    ["a.yml", undefined, ["a.yml"], []],
    ["draw a.yml", "draw", ["a.yml"], []],
    ["--round draw a.yml", "draw", ["a.yml"], ["round"]],
    ["--mode list draw a.yml", "draw", ["a.yml"], ["mode list"]],
    ["--mode=x a.yml draw", undefined, ["a.yml", "draw"], ["mode x"]],
    ["-v -- a.yml", undefined, ["a.yml"], ["verbose"]],
    ["list -h", "list", [], ["help"]],
  ];
  for (const [line, name, operands, options] of rows) {
    await test.step(line, async () => {
      const { command, invocation } = await readCommandLine(line.split(" "), table);
      const { switches, values } = invocation;
      const given = [...switches, ...[...values].map((pair) => pair.join(" "))];
      assertEquals([command.name, invocation.operands, given], [name, operands, options]);
    });
  }
});

Deno.test("readCommandLine() refuses an option of another command", async () => {
  const rows: [line: string, message: string][] = [
    ["--round a.yml", "runner has no option --round"],
    ["draw -v a.yml", "runner draw has no option --verbose"],
    ["list --mode x", "runner list has no option --mode"],
  ];
  for (const [line, message] of rows) {
    const error = await assertRejects(() => readCommandLine(line.split(" "), table), UsageError);
    assertEquals(error.message, message);
  }
});

Deno.test("readCommandLine() keeps every value of an option that repeats", async () => {
  const only = { name: "only", value: "job", repeats: true, summary: "jobs to run" } as const;
  const { invocation } = await readCommandLine(["--only", "b", "a.yml", "--only=a"], {
    ...table,
    fallback: command([only, mode]),
  });
  assertEquals(invocation.lists.get("only"), ["b", "a"]);
  assertEquals(invocation.values.has("only"), false);
  assertEquals(invocation.operands, ["a.yml"]);
});

Deno.test("readCommandLine() checks values by the options of the command that was asked for", async () => {
  const loud = { ...mode, choices: ["loud"] };
  const quiet = { ...mode, choices: ["quiet"] };
  const both = { ...table, fallback: command([loud]), commands: [command([quiet], "draw")] };
  const given = async (line: string) =>
    (await readCommandLine(line.split(" "), both)).invocation.values.get("mode");
  assertEquals(await given("draw --mode quiet"), "quiet");
  assertEquals(await given("--mode loud a.yml"), "loud");
  await assertRejects(() => given("draw --mode loud"), UsageError, "invalid value");
});
