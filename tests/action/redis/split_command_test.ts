import { assertEquals, assertThrows } from "@std/assert";
import { splitCommand } from "../../../src/action/redis/split_command.ts";
import { StepError } from "../../../src/base/errors.ts";
import type { Value } from "../../../src/base/value/value.ts";

const WORDS: readonly (readonly [command: Value, words: readonly string[]])[] = [
  ["PING", ["PING"]],
  ["ping", ["PING"]],
  ["  SET a  b ", ["SET", "a", "b"]],
  [`SET a "b c\\n"`, ["SET", "a", "b c\n"]],
  [`SET a 'b "c"'`, ["SET", "a", 'b "c"']],
  [`SET a ""`, ["SET", "a", ""]],
  [["SET", "a b", 1, true, { x: 1 }], ["SET", "a b", "1", "true", '{"x":1}']],
];

Deno.test("splitCommand() splits at spaces outside quotes", () => {
  for (const [command, words] of WORDS) assertEquals(splitCommand(command, "command"), words);
});

Deno.test("splitCommand() refuses a quote that is not closed and a command without words", () => {
  for (const command of [`SET a "b`, "", []]) {
    assertThrows(
      () => splitCommand(command, "command"),
      StepError,
      "cannot run redis: the command",
    );
  }
});

Deno.test("splitCommand() refuses a command that receives without end", () => {
  for (const command of ["subscribe news", ["MONITOR"]]) {
    assertThrows(() => splitCommand(command, "command"), StepError, "is not supported");
  }
});
