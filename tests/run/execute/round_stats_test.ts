import { assert, assertEquals, assertThrows } from "@std/assert";
import { parseExpression } from "../../../src/expr/parse/parse.ts";
import { FieldErrors } from "../../../src/run/execute/evaluate_field.ts";
import { expectOf, makeRoundStats } from "../../../src/run/execute/round_stats.ts";

for (const isLoad of [true, false]) {
  const how = isLoad ? "to three digits, in memory that does not grow" : "exactly";
  Deno.test(`statistics of rounds are in milliseconds, ${how}`, async () => {
    const stats = await makeRoundStats(isLoad);
    for (let time = 1; time <= 1000; time++) stats.add(time % 10 === 0 ? "failed" : "passed", time);
    const { p50, p90, p95, p99, ...exact } = stats.result()!;
    assertEquals(exact, { count: 1000, passed: 900, failed: 100, min: 1, mean: 500.5, max: 1000 });
    for (const [found, expected] of [[p50, 500], [p90, 900], [p95, 950], [p99, 990]]) {
      const deviation = isLoad ? expected! / 500 : 0;
      assert(Math.abs(found! - expected!) <= deviation, `${found} is not ${expected}`);
    }
  });
}

Deno.test("there are no statistics of no round", async () => {
  const stats = await makeRoundStats(true);
  stats.add("skipped", 5);
  assertEquals(stats.result(), undefined);
});

Deno.test("a failed expectation shows times in seconds without a tail of digits", () => {
  const times = { min: 1, mean: 1, p50: 1, p90: 1, p95: 1142.783, p99: 1, max: 1 };
  const expression = parseExpression("stats.p95 < 1");
  const error = assertThrows(() =>
    expectOf([{ expression }], { names: {}, strict: true }, {
      ...{ count: 1, passed: 1, failed: 0 },
      ...times,
    }), FieldErrors);
  assertEquals(String(error.errors[0]?.cause), "StepError: expect is false: stats.p95 is 1.142783");
});
