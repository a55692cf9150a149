import { assertEquals } from "@std/assert";
import { countOf, indentLines } from "../../../src/report/text/lines.ts";
import { oneLine } from "../../../src/base/text/printable.ts";

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
