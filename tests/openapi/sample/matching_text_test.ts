import { assert, assertEquals } from "@std/assert";
import { matchingText } from "../../../src/openapi/sample/matching_text.ts";

const PATTERNS: readonly (readonly [pattern: string, least?: number, most?: number])[] = [
  ["^[a-z]+$"],
  ["^[a-z0-9_-]{3,16}$"],
  ["^[a-z]*$", 5],
  ["^[A-Z]{2}-[0-9]{4}$"],
  ["^97[89]-\\d{10}$"],
  ["^(?:red|green|blue)$"],
  ["^(red|green)+$", 8],
  ["^#[0-9a-fA-F]{6}$"],
  ["^\\d{1,3}(\\.\\d{1,3}){3}$"],
  ["^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$"],
  ["^\\+?[1-9]\\d{1,14}$"],
  ["^\\p{L}+$"],
  ["^(?<year>\\d{4})-(?<month>\\d\\d)$"],
  ["^[\\w.-]+/[\\w.-]+$"],
  ["^$"],
  ["x", 0, 1],
  ["^[^a-zA-Z0-9]$"],
  ["^a?b?c?$"],
  ["^[\\]]$"],
  ["^\\$\\{\\w+\\}$"],
  ["^日本+$"],
];

for (const [pattern, least = 0, most = Infinity] of PATTERNS) {
  Deno.test(`a text that matches ${pattern} has ${least} to ${most} characters`, () => {
    const text = matchingText(pattern, least, most);
    assert(text !== undefined, "no text was found");
    assert(new RegExp(pattern, "u").test(text), text);
    assert(text.length >= least && text.length <= most, text);
  });
}

Deno.test("no text is made up for a pattern that nothing fits, or that is not understood", () => {
  for (const pattern of ["^(?=a)b$", "(a)\\1", "[", "(", "a**", "^(?!x).*$", "^[a-z]{3}$x", "*"]) {
    assertEquals(matchingText(pattern, 0, Infinity), undefined, pattern);
  }
  assertEquals(matchingText("^a{5}$", 6, 10), undefined);
  assertEquals(matchingText("^a{5}$", 0, 4), undefined);
});

Deno.test("a pattern that backtracks for ever does not keep anybody waiting", () => {
  const started = performance.now();
  for (const pattern of ["^(a+)+$", "^(a|a)*b$", "^(a+)+\\bx$", "^((a{1,100}){1,100}){1,100}$"]) {
    matchingText(pattern, 0, 1000);
    matchingText(pattern, 30, 1000);
  }
  assert(performance.now() - started < 1000);
});
