import { assert, assertEquals } from "@std/assert";
import { makeRoundStats } from "../../../src/run/execute/round_stats.ts";

Deno.test("statistics of rounds are in seconds, to three digits", async () => {
  const stats = await makeRoundStats();
  for (let time = 1; time <= 1000; time++) stats.add(time % 10 === 0 ? "failed" : "passed", time);
  const { p50, p90, p95, p99, ...exact } = stats.values() as Record<string, number>;
  assertEquals(exact, { count: 1000, passed: 900, failed: 100, min: 0.001, mean: 0.5005, max: 1 });
  for (const [found, expected] of [[p50, 0.5], [p90, 0.9], [p95, 0.95], [p99, 0.99]]) {
    assert(Math.abs(found! - expected!) < expected! / 500, `${found} is not ${expected}`);
  }
});

Deno.test("statistics of no round are zeros", async () => {
  const stats = await makeRoundStats();
  stats.add("skipped", 5);
  assertEquals(new Set(Object.values(stats.values())), new Set([0]));
});
