import { assertEquals, assertThrows } from "@std/assert";
import type { Value } from "../../src/base/value/value.ts";
import {
  type ParameterReader,
  readParameters,
  required,
} from "../../src/action/read_parameters.ts";
import { StepError } from "../../src/base/errors.ts";

type Type = keyof ParameterReader;

const fits: readonly (readonly [Type, Value, unknown])[] = [
  ["string", "a", "a"],
  ["string", "", ""],
  ["string", 1.5, "1.5"],
  ["string", false, "false"],
  ["number", 2, 2],
  ["number", " -1.5e3 ", -1500],
  ["integer", 7, 7],
  ["integer", "7", 7],
  ["boolean", true, true],
  ["boolean", "true", true],
  ["boolean", "false", false],
  ["duration", 2, 2000],
  ["duration", "1m30s", 90_000],
  ["map", { a: 1 }, { a: 1 }],
  ["list", [1, "b"], [1, "b"]],
  ["any", { a: [null] }, { a: [null] }],
];

for (const [type, value, expected] of fits) {
  Deno.test(`readParameters() reads ${JSON.stringify(value)} as ${type}`, () => {
    assertEquals(readParameters("shell", { p: value })[type]("p") as unknown, expected);
  });
}

const misfits: readonly (readonly [Type, Value, string])[] = [
  ["string", ["a"], "a string, not a list"],
  ["string", {}, "a string, not a map"],
  ["number", "abc", 'a number, not "abc"'],
  ["number", "", 'a number, not ""'],
  ["number", "0x10", 'a number, not "0x10"'],
  ["number", true, "a number, not true"],
  ["integer", 1.5, "an integer, not 1.5"],
  ["integer", "9007199254740993", 'an integer, not "9007199254740993"'],
  ["boolean", 1, "a boolean, not 1"],
  ["boolean", "yes", 'a boolean, not "yes"'],
  [
    "duration",
    "soon",
    'a duration like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds, not "soon"',
  ],
  ["map", "x", 'a map, not "x"'],
  ["map", [], "a map, not a list"],
  ["list", { a: 1 }, "a list, not a map"],
  ["list", "x".repeat(80), "a list, not a long text"],
];

for (const [type, value, words] of misfits) {
  Deno.test(`readParameters() refuses ${JSON.stringify(value)} as ${type}`, () => {
    const error = assertThrows(() => readParameters("shell", { p: value })[type]("p"), StepError);
    assertEquals(error.message, `cannot run shell: "p" must be ${words}`);
  });
}

Deno.test("readParameters() reads null and missing parameters as undefined", () => {
  const read = readParameters("shell", { p: null });
  assertEquals(read.string("p"), undefined);
  assertEquals(read.any("p"), undefined);
  assertEquals(read.map("absent"), undefined);
});

Deno.test("readParameters() sees own properties alone", () => {
  assertEquals(readParameters("shell", {}).any("constructor"), undefined);
});

Deno.test("required() hands on a value and names the one that is missing", () => {
  assertEquals(required("echo", "message", ""), "");
  const error = assertThrows(() => required("echo", "message", undefined), StepError);
  assertEquals(error.message, 'cannot run echo: "message" is nil');
});
