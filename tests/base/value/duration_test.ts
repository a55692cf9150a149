import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  durationProblem,
  formatClock,
  formatDuration,
  formatElapsed,
  parseDuration,
  roundDuration,
} from "../../../src/base/value/duration.ts";

const good: readonly (readonly [unknown, number])[] = [
  [0, 0],
  [3, 3000],
  [0.25, 250],
  ["0", 0],
  ["5", 5000],
  ["1.5", 1500],
  [".5", 500],
  ["300ms", 300],
  ["1.5s", 1500],
  ["1.s", 1000],
  [".5s", 500],
  ["2m", 120_000],
  ["1h30m", 5_400_000],
  ["1h0m0.5s", 3_600_500],
  ["250us", 0.25],
  ["500us", 0.5],
  ["250µs", 0.25],
  ["250\u03bcs", 0.25],
  ["1000000ns", 1],
  ["1m1ms", 60_001],
  ["1.001s", 1001],
  [" 2s ", 2000],
];

for (const [value, milliseconds] of good) {
  Deno.test(`parseDuration() reads ${JSON.stringify(value)}`, () => {
    assertEquals(parseDuration(value), milliseconds);
    assertEquals(durationProblem(value), undefined);
  });
}

const bad: readonly unknown[] = [
  "",
  "s",
  "abc",
  "5 minutes",
  "5x",
  "1s ago",
  "1h 30m",
  "1e3",
  "0x10",
  ".",
  ".s",
  "1..5s",
  "Infinity",
  "9".repeat(310) + "h",
  "5S",
  NaN,
  Infinity,
  null,
  undefined,
  true,
  [],
  {},
];

for (const value of bad) {
  Deno.test(`parseDuration() refuses ${JSON.stringify(value) ?? value}`, () => {
    assertEquals(parseDuration(value), undefined);
    assertStringIncludes(durationProblem(value)!, 'must be a duration like "300ms"');
  });
}

for (const value of [-1, "-1", "-5s", " -1h30m"]) {
  Deno.test(`parseDuration() refuses the negative ${JSON.stringify(value)}`, () => {
    assertEquals(parseDuration(value), undefined);
    assertEquals(durationProblem(value), `must not be negative, not ${JSON.stringify(value)}`);
  });
}

Deno.test("durationProblem() shows the value in words that expressions have", () => {
  for (const [value, shown] of [[null, "nil"], [Infinity, "Infinity"], ["a", '"a"']] as const) {
    assertEquals(durationProblem(value)?.endsWith(`, not ${shown}`), true);
  }
});

const shown: readonly (readonly [number, string])[] = [
  [0, "0s"],
  [0.0001, "0s"],
  [0.25, "250µs"],
  [0.9999, "1ms"],
  [1, "1ms"],
  [2.820409, "2.82ms"],
  [300, "300ms"],
  [999.9999, "1s"],
  [1000, "1s"],
  [1500, "1.5s"],
  [1234.567, "1.235s"],
  [59_999.9, "1m"],
  [90_500, "1m30.5s"],
  [120_000, "2m"],
  [3_600_000, "1h"],
  [5_400_000, "1h30m"],
  [3_601_000, "1h1s"],
  [90_000_000, "25h"],
];

for (const [milliseconds, text] of shown) {
  Deno.test(`formatDuration() writes ${milliseconds} ms as ${text}`, () => {
    assertEquals(formatDuration(milliseconds), text);
  });
}

Deno.test("formatDuration() writes what parseDuration() reads back", () => {
  for (const milliseconds of [1, 17, 999, 1000, 1001, 61_003, 3_600_001, 7_265_500]) {
    assertEquals(parseDuration(formatDuration(milliseconds)), milliseconds);
  }
});

const elapsed: readonly (readonly [number, string])[] = [
  [0, "0ms"],
  [0.04, "0ms"],
  [0.36, "0.4ms"],
  [6.5, "6.5ms"],
  [9.96, "10ms"],
  [12.4, "12ms"],
  [999.4, "999ms"],
  [999.6, "1s"],
  [1234, "1.2s"],
  [59_940, "59.9s"],
  [59_960, "1m"],
  [125_000, "2m5s"],
  [3_600_000, "1h"],
  [3_725_000, "1h2m"],
];

for (const [milliseconds, text] of elapsed) {
  Deno.test(`formatElapsed() writes ${milliseconds} ms as ${text}`, () => {
    assertEquals(formatElapsed(milliseconds), text);
  });
}

Deno.test("formatClock() shows local time to the millisecond", () => {
  assertEquals(formatClock(new Date(2026, 0, 2, 3, 4, 5, 6).getTime()), "03:04:05.006");
});

Deno.test("roundDuration() drops digits below the microsecond", () => {
  assertEquals([0.06749899999999798, 2.9, 1234.5678].map(roundDuration), [0.067, 2.9, 1234.568]);
});
