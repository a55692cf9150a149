import { assertEquals, assertThrows } from "@std/assert";
import {
  evaluateExpression,
  ExpressionError,
} from "../../../src/expr/evaluate/evaluate_expression.ts";

const evaluate = (source: string, scope: Record<string, unknown>) =>
  evaluateExpression(source, scope as never);

function refusal(source: string, scope: Record<string, unknown>): string {
  return assertThrows(() => evaluate(source, scope), ExpressionError).message;
}

Deno.test("css() takes time by the number of elements, not by the square of it", () => {
  const text = "<p>".repeat(120_000);
  assertEquals(evaluate('css(text, "a")', { text }), []);
  assertEquals(evaluate('len(css(text, "p + p"))', { text }), 119_999);
});

Deno.test("json_path() finds values in the order of the document", () => {
  const value = { a: [{ b: 1 }, { b: [{ b: 2 }] }], b: 3 };
  assertEquals(evaluate('json_path(value, "$..b")', { value }), [3, 1, [{ b: 2 }], 2]);
});

Deno.test("date() refuses layouts that divide a text in countless ways", () => {
  for (const [text, layout] of [["1".repeat(60) + "x", "%-d"], ["a".repeat(90) + "1", "%Z"]]) {
    const many = layout!.repeat(30);
    assertEquals(
      refusal("date(text, many)", { text, many }),
      `date() cannot read the layout "${many}"`,
    );
  }
  const long = "2006".repeat(10_000);
  assertEquals(
    refusal("date(`2026`, long)", { long }).slice(0, 29),
    "date() cannot read the layout",
  );
});
