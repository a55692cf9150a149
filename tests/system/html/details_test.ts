import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { click, fill, textsOf, withReport } from "../../support/programs/html_report.ts";

const WORKFLOW = `name: n
vars: { found: { outermost: [{ a: 1 }, { b: [2, 3] }], e: [] }, right: { e: [], f: 1 } }
jobs:
  - name: j
    steps:
      - name: unlike
        uses: hello
        test: vars.found == vars.right
      - name: says
        id: says
        uses: hello
        test: "true"
        outputs: { none: "nil", empty: "''" }
`;

Deno.test("a value is indented like JSON", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    const places = await page.evaluate(`(() => {
      const table = document.querySelector("#details .failure table");
      const left = (text) => {
        const walker = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
        const range = document.createRange();
        while (walker.nextNode()) {
          if (walker.currentNode.textContent !== text) continue;
          range.selectNodeContents(walker.currentNode);
          const { left, width } = range.getBoundingClientRect();
          // The end of what is folded is there, too.
          if (width > 0) return Math.round(left);
        }
      };
      return ["{", '"outermost": ', "],", '"a": ', '"b": ', '"e": '].map(left);
    })()`) as number[];
    const [outer, key, end, a, b, e] = places;
    assertEquals([key, e], [end, end], "a key is above the end of its value");
    assertEquals(a, b, "keys are below each other");
    const step = key! - outer!;
    assert(step > 5 && step < 40, `${step} pixels`);
    // One for the list and one for the map in it.
    assertEquals(a! - key!, 2 * step);
  });
});

Deno.test("a failure starts with its line, and differences are coloured", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    const [source] = await textsOf(page, "#details .failure pre");
    assertEquals(source, "test: vars.found == vars.right");
    const [left, ...expected] = await textsOf(page, "#details .expected");
    const [right, ...received] = await textsOf(page, "#details .received");
    assertEquals([left, right], ["- expected: vars.right\n", "+ received: vars.found\n"]);
    assertEquals(expected, ['-   "f": 1\n']);
    assert(received.length > 0 && received.every((line) => line.startsWith("+ ")));
  });
});

Deno.test("an empty request is not shown", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    assertEquals(await textsOf(page, "#details .part h3"), ["Response"]);
  });
});

Deno.test("outputs are shown even if they are nil or empty", async () => {
  await withReport(WORKFLOW, async ({ page }) => {
    await fill(page, "#show", "all");
    await click(page, "#row-2");
    const [, outputs] = await textsOf(page, "#details section");
    assertStringIncludes(outputs!, 'Outputs{ 2 keys }"none": null,"empty": ""}');
  });
});

const ROWS = `name: n
jobs:
  - name: j
    defaults: { db: { dsn: ":memory:" } }
    steps:
      - uses: db
        with: { query: "SELECT 1 AS id, 'Ann' AS name UNION SELECT 2, NULL" }
        test: res.rows_affected == 3
`;

Deno.test("rows of a database are a table", async () => {
  await withReport(ROWS, async ({ page }) => {
    assertEquals(await textsOf(page, "#details dd table th"), ["id", "name"]);
    assertEquals(await textsOf(page, "#details dd table td"), ["1", "Ann", "2", "null"]);
  });
});

Deno.test("an integer beyond 2^53 is shown with all its digits, in a text of JSON too", async () => {
  const workflow = ROWS.replace("SELECT 2, NULL", "SELECT 9007199254740993, '[9007199254740995]'");
  await withReport(workflow, async ({ page }) => {
    const cells = (await textsOf(page, "#details dd table td")).join(" ");
    assertStringIncludes(cells, "9007199254740993");
    assertStringIncludes(cells, "9007199254740995");
  });
});

Deno.test("a snapshot and what came instead are side by side", async () => {
  const workflow = `name: n
vars: { order: { id: 7, state: open, tags: [a] } }
jobs:
  - id: j
    name: j
    steps:
      - { uses: hello, id: s, snapshot: { of: vars.order } }
`;
  const files = {
    "__snapshots__/w/j.s.json": '{"id": 7, "state": "paid", "total": 3, "tags": ["a"]}',
  };
  await withReport(workflow, async ({ page }) => {
    const rows = await page.evaluate(`[...document.querySelectorAll("#details .sides tr")].map(
      (row) => [...row.cells].map((cell) => cell.textContent + "|" + cell.className),
    )`);
    assertEquals(rows, [
      ["expected: __snapshots__/w/j.s.json|", "received: vars.order|"],
      ["@ .state, .total|muted", "@ .state, .total|muted"],
      ["{|", "{|"],
      ['  "id": 7|', '  "id": 7|'],
      ['  "state": "paid"|expected', '  "state": "open"|received'],
      ['  "tags": [|', '  "tags": [|'],
      ['    "a"|', '    "a"|'],
      ["  ]|", "  ]|"],
      ['  "total": 3|expected', "|"],
      ["}|", "}|"],
    ]);
  }, { files });
});
