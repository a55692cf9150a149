import { assertEquals } from "@std/assert";
import { renderAttempts } from "../../../src/report/text/render_failure.ts";
import { IN_A_PIPE } from "../../../src/report/text/lines.ts";
import type { Attempt } from "../../../src/run/event.ts";

function attempts(...messages: readonly string[]): Attempt[] {
  return messages.map((message, index) => {
    return { number: index + 1, started: 0, duration: 1, outcome: "failed", message };
  });
}

const cases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["is silent about a single attempt", ["HTTP 500"], []],
  ["groups attempts that were alike", ["a", "a", "b"], ["attempts: 1–2 a, 3 b"]],
  [
    "gives each a line where they are long",
    ["x".repeat(60), "y".repeat(60)],
    ["attempts:", `  1 ${"x".repeat(60)}`, `  2 ${"y".repeat(60)}`],
  ],
  [
    "leaves out the middle of many",
    Array.from({ length: 100 }, (_, index) => `m${index}`),
    ["attempts: 1 m0, 2 m1, 3 m2, 4 m3, 5 m4, … (6–98), 99 m98, 100 m99"],
  ],
];
for (const [title, messages, expected] of cases) {
  Deno.test(`renderAttempts() ${title}`, () => {
    assertEquals(renderAttempts(attempts(...messages), IN_A_PIPE), expected);
  });
}

Deno.test("renderAttempts() names the outcome of an attempt without a message", () => {
  const [first] = attempts("HTTP 500");
  const second: Attempt = { number: 2, started: 0, duration: 1, outcome: "passed" };
  assertEquals(renderAttempts([first!, second], IN_A_PIPE), ["attempts: 1 HTTP 500, 2 passed"]);
});
