import { assertEquals } from "@std/assert";
import { indentLines } from "../../../src/report/text/lines.ts";
import {
  boundFirstLines,
  boundLines,
  textLines,
} from "../../../src/report/text/render_exchange.ts";
import { countOf } from "../../../src/base/text/count_of.ts";
import { cutLine } from "../../../src/base/text/display_width.ts";
import { oneLine } from "../../../src/base/text/printable.ts";

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
  // What was cut before counts, too.
  const table = [
    ['"… (400 more)"', "3 more lines and 400 items"],
    ["x… (400 more characters)", "3 more lines and 400 characters"],
    ["… (400 more characters in 30 lines)", "32 more lines"],
  ] as const;
  for (const [cut, left] of table) {
    const lines = ["a", "b", "c", cut, "]"];
    assertEquals(boundLines(lines, 3), ["a", "b", `… (${left}, -v shows all)`]);
  }
});

Deno.test("boundFirstLines() keeps the last lines and says how much there is before them", () => {
  assertEquals(boundFirstLines(["a", "b"], 2), ["a", "b"]);
  assertEquals(boundFirstLines(["a", "b", "c", "d"], 3), [
    "(2 lines before, -v shows all) …",
    "c",
    "d",
  ]);
  for (
    const [cut, left] of [["98 characters", "2 lines and 98 characters"], ["9 lines", "10 lines"]]
  ) {
    assertEquals(boundFirstLines([`(${cut} before) …`, "b", "c", "d"], 3), [
      `(${left} before, -v shows all) …`,
      "c",
      "d",
    ]);
  }
});

Deno.test("indentLines() leaves empty lines empty", () => {
  assertEquals(indentLines(["a", "", "b"], 2), ["  a", "", "  b"]);
});

Deno.test("oneLine() joins the lines of a name", () => {
  assertEquals(oneLine("two\n  lines\n"), "two lines");
  assertEquals(oneLine(" as it is "), " as it is ");
});

Deno.test("countOf() counts one and many", () => {
  assertEquals([0, 1, 2].map((count) => countOf(count, "job")), ["0 jobs", "1 job", "2 jobs"]);
});
