import { assertEquals, assertThrows } from "@std/assert";
import {
  evaluateExpression,
  ExpressionError,
} from "../../src/expr/evaluate/evaluate_expression.ts";

const SHOP = {
  teas: [
    { name: "Assam", price: 4, tags: ["black", "strong"] },
    { name: "Sencha", price: 6.5, tags: ["green"], origin: { country: "JP" } },
    { name: "Mate", price: 3, tags: [], stock: null },
  ],
  pot: { price: 30 },
  limit: 5,
};

/** Paths and what they find: each kind of selector, filter and function of RFC 9535. */
const FOUND: readonly (readonly [path: string, found: unknown])[] = [
  ["$.teas[0].name", ["Assam"]],
  ["$['teas'][-1]['name']", ["Mate"]],
  ["$.teas[*].price", [4, 6.5, 3]],
  ["$..price", [4, 6.5, 3, 30]],
  ["$..country", ["JP"]],
  ["$.teas[1:].name", ["Sencha", "Mate"]],
  ["$.teas[::-1].name", ["Mate", "Sencha", "Assam"]],
  ["$.teas[:2:2].name", ["Assam"]],
  ["$.teas[0,2].price", [4, 3]],
  ["$.teas[0]['price','name']", [4, "Assam"]],
  ["$.pot.*", [30]],
  ["$.nothing", []],
  ["$.teas[9]", []],
  ["$.teas[?@.price < $.limit].name", ["Assam", "Mate"]],
  ["$.teas[?@.origin].name", ["Sencha"]],
  ["$.teas[?!@.origin && @.price >= 4].name", ["Assam"]],
  ["$.teas[?@.price && @.tags && @.origin].name", ["Sencha"]],
  ["$.teas[?@.price && (@.stock || @.origin)].name", ["Sencha", "Mate"]],
  ["$.teas[?@.stock || @.name && @.price && @.tags && @.origin].name", ["Sencha", "Mate"]],
  ['$.teas[?@.name != "a && b && c" && @.price && @["origin"]].name', ["Sencha"]],
  ["$.teas[?@.stock == null].name", ["Mate"]],
  ["$.teas[?@.none == @.nil].price", [4, 6.5, 3]],
  ["$.teas[?length(@.name) == 5].name", ["Assam"]],
  ["$.teas[?count(@.tags[*]) == 0].name", ["Mate"]],
  ["$.teas[?value(@..country) == 'JP'].name", ["Sencha"]],
  ["$.teas[?match(@.name, '[A-M].*')].name", ["Assam", "Mate"]],
  ["$.teas[?match(@.name, 'a')].name", []],
  ["$.teas[?search(@.name, 'e.')].name", ["Sencha"]],
  ["$.teas[?search(@.tags[0], @.name)].name", []],
];

for (const [path, found] of FOUND) {
  Deno.test(`${path} finds ${JSON.stringify(found)}`, () => {
    assertEquals(evaluateExpression("json_path(shop, path)", { shop: SHOP, path }), found);
  });
}

/** Paths and what is wrong with them. */
const FAILURES: readonly (readonly [path: string, message: string])[] = [
  ["teas[0]", 'invalid JSONPath: it must start with "$"'],
  ["$.teas[0", "invalid JSONPath: it ends too early"],
  ["$.teas[?@.a = 1]", "invalid JSONPath: unexpected text at character 13"],
  ["$[?@.tags == ['green']]", "invalid JSONPath: unexpected text at character 14"],
  ["$[9007199254740992]", "invalid JSONPath: an index is too large"],
  [
    "$[?size(@)]",
    "invalid JSONPath: unknown function size(); there are length, count, value, match, search",
  ],
  ["$[?length(@.a)]", "invalid JSONPath: the result of length() must be compared"],
  ["$[?match(@.a, 'a') == true]", "invalid JSONPath: the result of match() cannot be compared"],
  ["$[?count() == 1]", "invalid JSONPath: count() takes 1 argument"],
  ["$[?count(@.a, 1) == 1]", "invalid JSONPath: count() takes 1 argument"],
  ["$[?count('a') == 1]", "invalid JSONPath: count() takes a path"],
  [
    "$[?length(@.*) == 1]",
    "invalid JSONPath: length() takes one value, and this path may find several",
  ],
  [
    "$[?match(@.a, '(')]",
    "invalid JSONPath: invalid regular expression: missing closing )",
  ],
  [
    `$[?${"(".repeat(6)}@.a${")".repeat(6)}]`,
    "invalid JSONPath: more than 6 brackets inside each other",
  ],
  ["$" + ".a".repeat(500), "the JSONPath is longer than 1000 characters"],
];

for (const [path, message] of FAILURES) {
  Deno.test(`${path.slice(0, 60)} fails: ${message}`, () => {
    const evaluate = () => evaluateExpression("json_path(shop, path)", { shop: SHOP, path });
    assertEquals(assertThrows(evaluate, ExpressionError).message, message);
  });
}

Deno.test("a JSONPath that looks at data again and again ends at the limit", () => {
  const shop = Array.from({ length: 300 }, (_, id) => ({ id }));
  const evaluate = () => evaluateExpression("json_path(shop, '$..[?$..[?$..a]]')", { shop });
  assertEquals(
    assertThrows(evaluate, ExpressionError).message,
    "evaluation limit exceeded (1000000 steps)",
  );
});
