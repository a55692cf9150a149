import { assertEquals } from "@std/assert";
import { describeValue } from "../../src/value/describe_value.ts";

Deno.test("describeValue() names what a value is, or shows it where it is short", () => {
  const rows: [value: unknown, words: string][] = [
    [null, "nothing"],
    [undefined, "nothing"],
    [[1], "a list"],
    [{ a: 1 }, "a mapping"],
    ['a"b', '"a\\"b"'],
    ["x".repeat(100), "a long text"],
    [1.5, "1.5"],
    [NaN, "NaN"],
    [false, "false"],
  ];
  for (const [value, words] of rows) assertEquals(describeValue(value), words);
});
