import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { evaluateExpression } from "../../src/expr/evaluate/evaluate_expression.ts";
import { Draws } from "../../src/expr/draws.ts";
import { parseExpression } from "../../src/expr/parse/parse.ts";

function draw(expression: string, seed: string, place = "here"): unknown {
  const random = new Draws(seed).at(() => place);
  return parseExpression(expression).evaluate({ names: {}, strict: true, random });
}

Deno.test("a seed and a place decide what random functions give", () => {
  for (const expression of ["uuid()", "random_int(1000000000)", "random_str(16)"]) {
    assertEquals(draw(expression, "a"), draw(expression, "a"));
    assertNotEquals(draw(expression, "a"), draw(expression, "b"));
    assertNotEquals(draw(expression, "a"), draw(expression, "a", "there"));
  }
  // Workflows depend on these values: they must stay what they are.
  assertEquals(draw("[uuid(), random_int(100), random_str(8)]", "1"), FIXED);
});

const FIXED = ["ad5632e9-e34f-4ef5-9570-c0feaa684d74", 16, "KFkVyDgl"];

Deno.test("seeded numbers are even, and seeded UUIDs are of version 4", () => {
  const random = new Draws("x").at(() => "");
  const counts = Array.from({ length: 16 }, () => 0);
  for (let i = 0; i < 16_000; i++) counts[random.next() >>> 28]!++;
  for (const count of counts) assert(count > 850 && count < 1150, `${counts}`);
  const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
  for (const seed of ["1", "2", "3"]) assertMatch(String(draw("uuid()", seed)), uuid);
  assertMatch(String(evaluateExpression("uuid()", {})), uuid);
});
