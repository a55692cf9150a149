import { assertEquals } from "@std/assert";
import { formatClock, formatElapsed, formatSeconds } from "../../src/report/format_time.ts";

Deno.test("formatSeconds() has two places", () => {
  assertEquals([0, 120, 61_234].map(formatSeconds), ["0.00s", "0.12s", "61.23s"]);
});

Deno.test("formatElapsed() changes to seconds where milliseconds would show 1000.0", () => {
  assertEquals([0.04, 6.5, 999.94, 999.96, 1250].map(formatElapsed), [
    "0.0ms",
    "6.5ms",
    "999.9ms",
    "1.00s",
    "1.25s",
  ]);
});

Deno.test("formatClock() shows local time to the millisecond", () => {
  assertEquals(formatClock(new Date(2026, 0, 2, 3, 4, 5, 6).getTime()), "03:04:05.006");
});
