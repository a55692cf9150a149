import { assertEquals } from "@std/assert";
import { explain } from "../../src/expr/evaluate/explain.ts";
import { parseExpression } from "../../src/expr/parse_expression.ts";
import { loadAllFunctions } from "../../src/expr/functions/registry.ts";

await loadAllFunctions();

const names = {
  vars: { n: 7, port: "8080", limit: 3 },
  res: {
    code: 404,
    ok: false,
    body: { total: 3, items: [{ name: "a", age: 20 }, { name: "b", age: 17 }] },
    headers: { "Content-Type": "text/plain" },
  },
};

const CASES:
  readonly (readonly [test: string, operands: Record<string, unknown>, hint?: string])[] = [
    ["res.code == 200", { "res.code": 404 }],
    ["200 == res.code", { "res.code": 404 }],
    ["res.code != 404", { "res.code": 404 }],
    ["res.code < vars.limit", { "res.code": 404, "vars.limit": 3 }],
    ["vars.n == 7 && res.code == 200", { "res.code": 404 }],
    ["res.code == 200 && nope.x", { "res.code": 404 }],
    ["res.code == 200 || vars.n == 8", { "res.code": 404, "vars.n": 7 }],
    ["!(res.code == 404)", { "res.code": 404 }],
    ["not (vars.n == 7 && res.code == 404)", { "vars.n": 7, "res.code": 404 }],
    ["not (vars.n == 8 || res.code == 404)", { "res.code": 404 }],
    ["((res.ok))", { "res.ok": false }],
    ["false", {}],
    ["1 == 2", {}],
    ["{id: vars.n, product: 'mug', total: 37}.total == 38", { "{…}.total": 37 }],
    ["diff(res.body, {total: 4}, {ignore: ['$.items']}) == []", {
      "diff(res.body, {total: 4}, {ignore: ['$.items']})": [{ path: "$.total", left: 3, right: 4 }],
    }],
    ["res.code in [200, 201]", { "res.code": 404 }],
    ["res.code not in [404]", { "res.code": 404 }],
    ["1 < vars.n < vars.limit", { "vars.n": 7, "vars.limit": 3 }],
    ["len(res.body.items) == 3", { "len(res.body.items)": 2 }],
    ["hasPrefix(vars.port, '9')", { "vars.port": "8080" }],
    ["vars.port startsWith '9'", { "vars.port": "8080" }],
    ["vars.n == 7 ? res.code == 200 : true", { "res.code": 404 }],
    ["let c = res.code; c == 200", { c: 404 }],
    ["(res.ok ?? true)", { "res.ok ?? true": false }],
    [
      "all(res.body.items, .age >= 18)",
      { "res.body.items[1]": names.res.body.items[1], ".age": 17 },
    ],
    [
      "none(res.body.items, .name == 'b')",
      { "res.body.items[1]": names.res.body.items[1], ".name": "b" },
    ],
    ["any(res.body.items, .age > 90)", { "res.body.items": names.res.body.items }],
    [
      "not any(res.body.items, .age > 18)",
      { "res.body.items[0]": names.res.body.items[0], ".age": 20 },
    ],
    ["all([3, 1, 2], # > vars.limit)", { "[3, 1, 2][0]": 3, "vars.limit": 3 }],
    [
      "res.body.totl == 3",
      { "res.body.totl": null },
      'res.body has no "totl"; did you mean "total"?',
    ],
    [
      'res.headers["content-type"] contains "json"',
      { 'res.headers["content-type"]': null },
      'res.headers has no "content-type"; did you mean "Content-Type"?',
    ],
    [
      "res?.body?.zzzzzz == 3",
      { "res?.body?.zzzzzz": null },
      'res?.body has no "zzzzzz"; there is "total", "items"',
    ],
    [
      "res.body.items == [{name: 'a', age: 20}, {name: 'b', age: 18}]",
      { "res.body.items": names.res.body.items, "res.body.items[1].age": 17 },
      "they differ at [1].age",
    ],
    [
      "vars == {n: 7, port: '8080'}",
      { vars: names.vars, "vars.limit": 3 },
      "they differ at .limit: the right side has none",
    ],
    [
      "{'Content-Type': 'text/plain', 'X-Id': 1} == res.headers",
      { "res.headers": names.res.headers },
      'they differ at ["X-Id"]: the right side has none',
    ],
    ["res.body.items == {}", { "res.body.items": names.res.body.items }],
    ["not (vars.n == 7)", { "vars.n": 7 }],
    // A map that is written in the test is not the name of its parts.
    ["not match_json({a: 1}, {a: vars.n - 6})", {}],
    [
      "vars == {n: 7, port: '8080', limit: vars.n}",
      { vars: names.vars, "vars.limit": 3 },
      "they differ at .limit",
    ],
    [
      "(vars.none ?? {n: vars.n}) == {n: 8}",
      { "vars.none ?? {n: vars.n}": { n: 7 }, "(vars.none ?? {n: vars.n}).n": 7 },
      "they differ at .n",
    ],
    [
      "find(res.body.items, .name == 'z')?.age == 3",
      { "find(res.body.items, .name == 'z')?.age": null },
      "find(…) found no item with .name == 'z'",
    ],
    // Nil is what was asked for.
    ["(vars.none ?? nil) == 1", { "vars.none ?? nil": null }],
    [
      "(vars.none ?? vars.nope) == 1",
      { "vars.none ?? vars.nope": null },
      'vars has no "nope"; there is "n", "port", "limit"',
    ],
    [
      "vars.port == 8080",
      { "vars.port": "8080" },
      "vars.port is string, 8080 is int: write parse_int(vars.port)",
    ],
    [
      `vars.port == ${"1 + ".repeat(20)}1`,
      { "vars.port": "8080", [`${"1 + ".repeat(20)}1`]: 21 },
      "vars.port is string, the right side is int: write parse_int(vars.port)",
    ],
    [
      "vars.port == 81",
      { "vars.port": "8080" },
      "vars.port is string, 81 is int: write parse_int(vars.port)",
    ],
    [
      "'4.5' == vars.n",
      { "vars.n": 7 },
      "'4.5' is string, vars.n is int: write 4.5 without quotes",
    ],
    [
      "res.headers == true",
      { "res.headers": names.res.headers },
      "res.headers is map, true is bool",
    ],
  ];

Deno.test("explain() names the parts that decided, and their values", () => {
  for (const [test, operands, hint] of CASES) {
    const explained = explain(parseExpression(test), { names, strict: true }, false);
    const shown = Object.fromEntries(explained.operands.map(({ text, value }) => [text, value]));
    assertEquals(shown, operands, test);
    assertEquals(explained.hint, hint, test);
  }
});

Deno.test("explain() gives the place and type of each operand", () => {
  const test = "  vars.port == 'x'";
  const [operand] = explain(parseExpression(test), { names, strict: true }, false).operands;
  assertEquals(operand, { start: 2, end: 11, text: "vars.port", value: "8080", type: "string" });
});

Deno.test("explain() never throws", () => {
  const tests = [
    "nope == 1",
    "res.nope.x == 1",
    "random_int(5) == 9",
    "res.code.x",
    "all(res, # > 1)",
    "1..1e12 == 1",
    "unknown(res.code)",
    "vars.n",
    "reduce(1..3, #acc + #) == 7",
    "filter(res.body.items, .age > 99)",
    "true",
  ];
  for (const test of tests) explain(parseExpression(test), { names, strict: true }, false);
});

Deno.test("explain() marks the part that decided", () => {
  const table: readonly (readonly [test: string, decisive: string])[] = [
    ["res.code == 200", "res.code == 200"],
    ["vars.n == 7 && res.code == 200", "res.code == 200"],
    ["res.code == 200 && vars.n == 7", "res.code == 200"],
    ["vars.n == 7 && (res.code == 404 && res.ok)", "res.ok"],
    ["res.code == 200 || vars.n == 8", "res.code == 200 || vars.n == 8"],
    ["vars.n == 7 && (res.ok || vars.n < 5)", "res.ok || vars.n < 5"],
    ["not (res.code == 404)", "res.code == 404"],
    ["1 < vars.n < vars.limit", "vars.n < vars.limit"],
    ["res.code == 404 && all(res.body.items, .age > 18)", "all(res.body.items, .age > 18)"],
  ];
  for (const [test, decisive] of table) {
    const { start, end } = explain(parseExpression(test), { names, strict: true }, false);
    assertEquals(test.slice(start, end), decisive, test);
  }
});
