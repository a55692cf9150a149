import { assertEquals } from "@std/assert";
import {
  bindNames,
  countPlaceholders,
  type Dialect,
  splitStatements,
} from "../../../src/action/db/statements.ts";

const CASES: readonly [Dialect, string, string][] = [
  ["postgres", "SELECT :a, :b, :a", "SELECT $1, $2, $1"],
  ["postgres", "SELECT ':a', \":a\", :a::int, $$:a$$, E'\\':a', $x$:a$x$ -- :a", ""],
  ["mysql", "SELECT :a, ':a\\':a', `:a`, :b # :a", "SELECT ?, ':a\\':a', `:a`, ? # :a"],
  ["sqlite", "SELECT :a /* :a */, '\\', :a", "SELECT ? /* :a */, '\\', ?"],
];

Deno.test("names in strings, comments and casts are not placeholders", () => {
  for (const [dialect, text, bound] of CASES) {
    const expected = bound || text.replace(":a::int", "$1::int");
    assertEquals(bindNames(text, { a: 1, b: 2 }, dialect).text, expected);
  }
  assertEquals(bindNames("SELECT :a, :b, :a", { a: 1, b: 2 }, "mysql").values, [1, 2, 1]);
  assertEquals(bindNames("SELECT :a, :b, :a", { a: 1, b: 2 }, "postgres").values, [1, 2]);
});

Deno.test("a text is cut at semicolons between statements", () => {
  assertEquals(splitStatements("A; B ';' -- ;\n; /* ; */ ; ", "sqlite"), ["A;", " B ';' -- ;\n;"]);
});

Deno.test("the values that a statement of SQLite takes are counted", () => {
  const texts = {
    "SELECT 1, '?', \"?\", [?], `?`, a$b, x->>'$.a' -- ? :a": 0,
    "SELECT ?, ?": 2,
    "SELECT ?2, ?1, ?2": 2,
    "SELECT :a, @b, $c, :a, $1": 4,
    "SELECT ?1, ?": 2,
  };
  for (const [text, count] of Object.entries(texts)) assertEquals(countPlaceholders(text), count);
});
