import { assertEquals, assertRejects } from "@std/assert";
import { UsageError } from "../../src/base/errors.ts";
import type { Command, CommandTable, Option } from "../../src/cli/command.ts";
import { readCommandLine } from "../../src/cli/command_line.ts";
import { DEFAULT_COMMAND } from "../../src/cli/default_command.ts";

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
      const switchesAndValues = [...switches, ...[...values].map((pair) => pair.join(" "))];
      assertEquals([command.name, invocation.operands, switchesAndValues], [
        name,
        operands,
        options,
      ]);
    });
  }
});

Deno.test("readCommandLine() refuses an option of another command", async () => {
  const rows: [line: string, message: string][] = [
    ["--round a.yml", "runner has no option --round"],
    ["draw -v a.yml", "runner draw has no option -v"],
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
  const modeOf = async (line: string) =>
    (await readCommandLine(line.split(" "), both)).invocation.values.get("mode");
  assertEquals(await modeOf("draw --mode quiet"), "quiet");
  assertEquals(await modeOf("--mode loud a.yml"), "loud");
  await assertRejects(() => modeOf("draw --mode loud"), UsageError, "invalid value");
});

const flags: readonly Option[] = [
  { name: "verbose", short: "v", summary: "print more" },
  { name: "help", short: "h", summary: "help" },
  { name: "mode", short: "m", value: "mode", repeats: true, summary: "how to print it" },
];
const withWords: CommandTable = { fallback: command(flags), commands: [], common: [] };

Deno.test("readCommandLine() sorts the words of a line", async (test) => {
  const rows: [line: string, operands: string[], switches: string[], modes: string[]][] = [
    ["a -v b", ["a", "b"], ["verbose"], []],
    ["-hv --verbose", [], ["verbose", "help"], []],
    ["--mode x a", ["a"], [], ["x"]],
    ["--mode=x=y a", ["a"], [], ["x=y"]],
    ["-m x -m=y", [], [], ["x", "y"]],
    ["-vm x a", ["a"], ["verbose"], ["x"]],
    ["a - b", ["a", "-", "b"], [], []],
    ["-v -- --mode -v --", ["--mode", "-v", "--"], ["verbose"], []],
  ];
  for (const [line, operands, switches, modes] of rows) {
    await test.step(line, async () => {
      const { invocation } = await readCommandLine(line.split(" "), withWords);
      const parsed = [
        invocation.operands,
        [...invocation.switches],
        invocation.lists.get("mode") ?? [],
      ];
      assertEquals(parsed, [operands, switches, modes]);
    });
  }
});

Deno.test("readCommandLine() refuses unknown options and missing values", async (test) => {
  const rows: [line: string, message: string, hint: string | undefined][] = [
    ["--mod=x", "unknown option --mod", "did you mean --mode?"],
    ["-verbose", "unknown option -verbose", "did you mean --verbose?"],
    ["-vx", "unknown option -vx", undefined],
    ["--=x", "unknown option --", undefined],
    ["-=x", "unknown option -", undefined],
    ["-1", "unknown option -1", undefined],
    ["---verbose", "unknown option ---verbose", "did you mean --verbose?"],
    ["--verbose=", "option --verbose takes no value", undefined],
    ["-hv=no", "option --verbose takes no value", undefined],
    ...["--mode= a", "a --mode", "--mode --verbose", "--mode -- x", "-mv x"].map((
      line,
    ): [string, string, undefined] => [line, "option --mode needs a value", undefined]),
  ];
  for (const [line, message, hint] of rows) {
    await test.step(line, async () => {
      const error = await assertRejects(
        () => readCommandLine(line.split(" "), withWords),
        UsageError,
      );
      assertEquals([error.message, error.hint], [message, hint]);
    });
  }
});

Deno.test("readCommandLine() refuses options that exclude or lack each other", async () => {
  const loud: Option = { name: "loud", summary: "", excludes: ["mode"] };
  const often: Option = { name: "often", summary: "", requires: ["loud", "add --loud"] };
  const options = { ...table, fallback: command([loud, often, mode]) };
  const rows: [line: string, message: string, hint: string][] = [
    ["--mode x --loud", "options --loud and --mode cannot be combined", "leave one out"],
    ["--often", "option --often requires --loud", "add --loud"],
  ];
  for (const [line, message, hint] of rows) {
    const error = await assertRejects(() => readCommandLine(line.split(" "), options), UsageError);
    assertEquals([error.message, error.hint], [message, hint]);
  }
  await readCommandLine(["--often", "--help"], options);
  await readCommandLine(["--often", "--loud"], options);
});

Deno.test("readCommandLine() makes settings of the options that are given", async () => {
  const { invocation: { settings } } = await readCommandLine([
    "--jobs",
    "2",
    "--only=a",
    "--only=b",
    "--strict",
    "a.yml",
  ], {
    ...table,
    fallback: DEFAULT_COMMAND,
  });
  assertEquals(settings, { jobs: 2, only: ["a", "b"], strict: true });
});
