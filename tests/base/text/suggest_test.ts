import { assertEquals } from "@std/assert";
import { didYouMean, suggest } from "../../../src/base/text/suggest.ts";

const NAMES = ["name", "needs", "steps", "skipif", "repeat", "retry", "max_attempts"];

Deno.test("suggest() finds the name that was meant", () => {
  const meant: readonly (readonly [string, string | undefined])[] = [
    ["nmae", "name"],
    ["Name", "name"],
    ["need", "needs"],
    ["step", "steps"],
    ["skip_if", "skipif"],
    ["repat", "repeat"],
    ["maxattempts", "max_attempts"],
    ["if", undefined],
    ["x", undefined],
    ["a", undefined],
    ["something", undefined],
    ["", undefined],
  ];
  for (const [word, name] of meant) assertEquals(suggest(word, NAMES), name, word);
});

Deno.test("didYouMean() asks", () => {
  assertEquals(didYouMean("nmae", NAMES), 'did you mean "name"?');
  assertEquals(didYouMean("something", NAMES), undefined);
});
