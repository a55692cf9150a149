import { assert, assertEquals } from "@std/assert";
import { displayWidth } from "../../../src/base/text/display_width.ts";
import { PLAIN } from "../../../src/report/reporter.ts";
import { IN_A_PIPE, roomOf } from "../../../src/report/text/lines.ts";
import { renderSummary, textRow, totalRows } from "../../../src/report/text/summary.ts";

const TOTALS = {
  jobs: { passed: 7, failed: 3, skipped: 2 },
  steps: { passed: 49, failed: 3, skipped: 4, untested: 1, allowed: 3 },
  duration: 2900,
  flaky: 2,
  leftOut: 3,
  interrupted: "interrupted by SIGINT",
};
const rows = [
  ...totalRows("Jobs", TOTALS, PLAIN),
  textRow("Next", "runner --rerun-failed release.yml"),
];

Deno.test("the summary has a row for each kind of number, which add up", () => {
  assertEquals(
    renderSummary(rows, PLAIN, IN_A_PIPE).join("\n"),
    `Jobs       7 passed · 3 failed · 2 skipped (12 of 15 selected)
Steps      49 passed, 2 flaky · 3 failed · 3 allowed · 4 skipped · 1 not tested (60)
Reason     interrupted by SIGINT
Time       2.9s
Next       runner --rerun-failed release.yml`,
  );
});

Deno.test("the summary breaks no word and no number at any width from 40 columns on", () => {
  const words = renderSummary(rows, PLAIN, IN_A_PIPE).join(" ").split(/\s+/);
  for (let columns = 40; columns <= 130; columns++) {
    const lines = renderSummary(rows, PLAIN, roomOf(columns));
    for (const line of lines) assert(displayWidth(line) <= columns, `${columns}: ${line}`);
    assertEquals(lines.join(" ").trim().split(/\s+/), words);
    // A number is in the line of its word.
    for (const line of lines) assert(!/\d$/.test(line), line);
  }
});

Deno.test("the summary of nothing is its time", () => {
  const none = { passed: 0, failed: 0, skipped: 0 };
  const steps = { ...none, untested: 0, allowed: 0 };
  const totals = { jobs: none, steps, duration: 5, flaky: 0 };
  const lines = renderSummary(totalRows("Jobs", totals, PLAIN), PLAIN, IN_A_PIPE);
  assertEquals(lines, ["Time       5ms"]);
});
