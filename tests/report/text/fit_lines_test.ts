import { assertEquals } from "@std/assert";
import {
  boundFirstLines,
  boundLines,
  cutLine,
  textLines,
} from "../../../src/report/text/fit_lines.ts";

Deno.test("cutLine() counts columns, not characters", () => {
  assertEquals(cutLine("short", 5), "short");
  assertEquals(cutLine("longer", 5), "long…");
  assertEquals(cutLine("日本語", 6), "日本語");
  assertEquals(cutLine("日本語", 5), "日本…");
  assertEquals(cutLine("日本語", 4), "日…");
  assertEquals(cutLine("any", 0), "");
});

Deno.test("textLines() keeps empty lines and makes tabs spaces", () => {
  assertEquals(textLines("a\n\n\tb", 80), ["a", "", "    b"]);
});

Deno.test("boundLines() says how many lines are missing", () => {
  assertEquals(boundLines(["a", "b", "c"], 3), ["a", "b", "c"]);
  assertEquals(boundLines(["a", "b", "c", "d"], 3), ["a", "b", "… (2 more lines, -v shows all)"]);
  // If lines were already cut before, their number is unknown.
  const cut = ["a", "b", "c", '"… (400 more)"', "]"];
  assertEquals(boundLines(cut, 3), ["a", "b", "… (more than 3 lines, -v shows all)"]);
});

Deno.test("boundFirstLines() keeps the last lines and says how much there is before them", () => {
  assertEquals(boundFirstLines(["a", "b"], 2), ["a", "b"]);
  assertEquals(boundFirstLines(["a", "b", "c", "d"], 3), [
    "(2 lines before, -v shows all) …",
    "c",
    "d",
  ]);
  assertEquals(boundFirstLines(["(98 characters before) …", "b", "c", "d"], 3), [
    "(more than 98 characters before, -v shows all) …",
    "c",
    "d",
  ]);
});
