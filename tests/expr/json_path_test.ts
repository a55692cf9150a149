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
  ["$.teas[0", "invalid JSONPath: unclosed bracketed selection at character 9"],
  ["$.teas[?@.a = 1]", "invalid JSONPath: unexpected filter selector token '=' at character 13"],
  ["$[9007199254740992]", "invalid JSONPath: index out of range at character 3"],
  ["$[?size(@)]", "invalid JSONPath: no such function 'size' at character 4"],
  ["$[?length(@.a)]", "invalid JSONPath: result of length() must be compared at character 4"],
  ["$[?count() == 1]", "invalid JSONPath: count() takes 1 argument, 0 given at character 4"],
  ["$.teas[?match(@.name, '(')]", "in match(): invalid regular expression: missing closing )"],
  ["$" + ".a".repeat(500), "the JSONPath is longer than 1000 characters"],
];

for (const [path, message] of FAILURES) {
  Deno.test(`${path.slice(0, 60)} fails: ${message}`, () => {
    const evaluate = () => evaluateExpression("json_path(shop, path)", { shop: SHOP, path });
    assertEquals(assertThrows(evaluate, ExpressionError).message, message);
  });
}

Deno.test("a pattern in a JSONPath cannot take forever", () => {
  const text = "a".repeat(5000) + "b";
  const path = "$[?match(@, '^(a+)+$')]";
  assertEquals(evaluateExpression("json_path(texts, path)", { texts: [text], path }), []);
});
