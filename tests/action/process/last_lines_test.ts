import { assertEquals } from "@std/assert";
import { lastLines } from "../../../src/action/process/last_lines.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}`);

const cases: readonly (readonly [string, string, string | undefined])[] = [
  ["nothing", "", undefined],
  ["blank lines", "\n\n", undefined],
  ["a few lines whole", "a\n b\n", "stdout:\n  a\n   b"],
  [
    "the end of many lines",
    numbered(12).join("\n"),
    `stdout (the last of 12 lines):\n  ${numbered(12).slice(2).join("\n  ")}`,
  ],
  ["no part of a line that is too long", "x".repeat(5000), "stdout: one line of 5000 characters"],
  [
    "the lines after one that is too long",
    "x".repeat(5000) + "\nb",
    "stdout (the last of 2 lines):\n  b",
  ],
];

for (const [what, text, shown] of cases) {
  Deno.test(`lastLines() shows ${what}`, () => assertEquals(lastLines("stdout", text), shown));
}
