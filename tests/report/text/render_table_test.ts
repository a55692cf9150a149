import { assertEquals } from "@std/assert";
import { renderTable } from "../../../src/report/text/render_exchange.ts";

Deno.test("renderTable() shows maps by column, numbers to the right", () => {
  const rows = [{ id: 1, name: "Ann", tags: { a: 1 } }, { id: 2000, name: null, tags: "é\n世界" }];
  assertEquals(renderTable(rows, undefined, 80), [
    "  id | name | tags",
    "-----+------+--------",
    '   1 | Ann  | {"a":1}',
    "2000 | nil  | é 世界",
  ]);
});

Deno.test("renderTable() shows lists under the names of their columns, and what was left out", () => {
  assertEquals(renderTable([["a", 1], ["b"], "… (5 more)"], ["x", "y"], 80), [
    "x | y",
    "--+--",
    "a | 1",
    "b |",
    "… (5 more)",
  ]);
  assertEquals(renderTable([[true]], undefined, 80), ["1", "----", "true"]);
});

Deno.test("renderTable() cuts wide cells and lines", () => {
  const rows = [{ text: "x".repeat(100), more: "y".repeat(30) }];
  const [head, , row] = renderTable(rows, undefined, 60);
  assertEquals([head!.length <= 60, row!.length], [true, 60]);
  assertEquals(row!.startsWith(`${"x".repeat(39)}… | yyy`), true);
});
