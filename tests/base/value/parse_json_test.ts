import { assertEquals, assertThrows } from "@std/assert";
import { parseJson } from "../../../src/base/value/parse_json.ts";

Deno.test("parseJson() keeps all digits of integers, and numbers that would be infinite as text", () => {
  const cases: [string, unknown][] = [
    ["12345678901234567890", 12345678901234567890n],
    ["-9007199254740993", -9007199254740993n],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", 9007199254740992],
    ["100000000000000000000", 100000000000000000000n],
    ["9".repeat(309), "9".repeat(309)],
    ["0.12345678901234567", 0.12345678901234567],
    ["12345678901234567890e2", 12345678901234567890e2],
    ["9007199254740993.0", 9007199254740992],
    ['"12345678901234567890"', "12345678901234567890"],
    ["1", 1],
    ["1e999", "1e999"],
    ["-1.5E+0400", "-1.5E+0400"],
    ["1e308", 1e308],
    ["1e-400", 0],
  ];
  for (const [text, value] of cases) {
    assertEquals(parseJson(text), value, text);
    assertEquals(parseJson(`{"a": [${text}, 1]}`), { a: [value, 1] }, text);
  }
});

Deno.test("parseJson() takes __proto__ as a key like any other", () => {
  for (const text of ['{"__proto__": {"x": 1}}', '{"__proto__": {"x": 12345678901234567}}']) {
    const value = parseJson(text) as object;
    assertEquals(Object.keys(value), ["__proto__"]);
    assertEquals("x" in value, false);
  }
});

Deno.test("parseJson() rejects excessive nesting", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  parseJson(nested(500));
  assertThrows(() => parseJson(nested(501)), SyntaxError, "nested more than 500 levels deep");
  assertThrows(() => parseJson(nested(100_000)), SyntaxError, "nested more than 500 levels deep");
  const long = "[".repeat(100_000) + "1234567890123456789" + "]".repeat(100_000);
  assertThrows(() => parseJson(long), SyntaxError, "nested more than 500 levels deep");
  assertThrows(() => parseJson("{"), SyntaxError);
});
