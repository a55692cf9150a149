import { assertEquals, assertThrows } from "@std/assert";
import { parseFlags } from "../../../src/cli/args/parse_flags.ts";
import { UsageError } from "../../../src/base/errors.ts";

const options = [
  { name: "verbose", short: "v", summary: "print more" },
  { name: "help", short: "h", summary: "help" },
  { name: "mode", short: "m", value: "mode", summary: "how to print it" },
];

Deno.test("parseFlags() sorts the words of a line", async (test) => {
  const rows: [line: string, operands: string[], switches: string[], modes: string[]][] = [
    ["a -v b", ["a", "b"], ["verbose"], []],
    ["-hv --verbose", [], ["verbose", "help"], []],
    ["--mode x a", ["a"], [], ["x"]],
    ["--mode=x=y a", ["a"], [], ["x=y"]],
    ["--mode= a", ["a"], [], [""]],
    ["-m x -m=y", [], [], ["x", "y"]],
    ["-vm x a", ["a"], ["verbose"], ["x"]],
    ["-mv x", ["x"], ["verbose"], [""]],
    ["a --mode", ["a"], [], [""]],
    ["--mode --verbose", [], ["verbose"], [""]],
    ["a - b", ["a", "-", "b"], [], []],
    ["--mode -- x", ["x"], [], [""]],
    ["-v -- --mode -v --", ["--mode", "-v", "--"], ["verbose"], []],
  ];
  for (const [line, operands, switches, modes] of rows) {
    await test.step(line, () => {
      const flags = parseFlags(line.split(" "), options);
      const given = [flags.operands, [...flags.switches], flags.values.get("mode") ?? []];
      assertEquals(given, [operands, switches, modes]);
    });
  }
});

Deno.test("parseFlags() refuses unknown options", async (test) => {
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
  ];
  for (const [line, message, hint] of rows) {
    await test.step(line, () => {
      const error = assertThrows(() => parseFlags(line.split(" "), options), UsageError);
      assertEquals([error.message, error.hint], [message, hint]);
    });
  }
});
