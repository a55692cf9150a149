import { assertEquals } from "@std/assert";
import { checkExpression, checkTemplate } from "../../src/expr/check_expression.ts";
import { parseExpression, parseTemplate } from "../../src/expr/parse_expression.ts";
import { loadAllFunctions } from "../../src/expr/functions/registry.ts";

await loadAllFunctions();

Deno.test("checkExpression() reports all mistakes together", () => {
  const source = 'fliter(a, # > 1) || x.upper() || upper() || {a: 1, a: 2} == b || b matches "("';
  const found = checkExpression(parseExpression(source));
  assertEquals(found.map(({ start, end }) => source.slice(start, end)), [
    "fliter",
    "upper()",
    "upper()",
    "a",
    '"("',
  ]);
});

Deno.test("checkExpression() finds mistakes everywhere", () => {
  const places = [
    "[f()]",
    "{a: f()}",
    "{(f()): 1}",
    "!f()",
    "1 + f()",
    "a ?? f()",
    "1 < 2 < f()",
    "a ? f() : 1",
    "a ?: f()",
    "a[f()]",
    "a[f():]",
    "a?.b[f()]",
    "len(f())",
    "filter(a, f())",
    "f() | len",
    "let x = f(); 1",
    "let x = 1; f()",
    "1; f()",
    "if a { 1 } else { f() }",
  ];
  for (const source of places) {
    const messages = checkExpression(parseExpression(source)).map(({ message }) => message);
    assertEquals(messages, ['unknown function "f"'], source);
  }
});

Deno.test("checkExpression() accepts valid expressions", () => {
  const sources = [
    "reduce(a, map(#, #acc + #index))",
    "(let x = 1; x) + (let x = 2; x)",
    "count(a)",
    "upper(x)",
    "filter(a, .b matches c)",
  ];
  for (const source of sources) assertEquals(checkExpression(parseExpression(source)), [], source);
});

Deno.test("checkTemplate() places mistakes in the whole text", () => {
  const source = "a {{ 1 }} b {{ f() }} c {{ upper(1) }}";
  const found = checkTemplate(parseTemplate(source));
  assertEquals(found.map(({ start, end }) => source.slice(start, end)), ["f", "1"]);
});
