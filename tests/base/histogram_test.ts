import { assert, assertEquals } from "@std/assert";
import { Histogram } from "../../src/base/value/histogram.ts";

/** Times as servers have them: most are short, few are long. */
function drawTimes(count: number): number[] {
  let state = 1;
  const next = () => (state = state * 16807 % 2147483647) / 2147483647;
  return Array.from({ length: count }, () => {
    const normal = Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
    return Math.round(Math.exp(1 + 0.5 * normal) * 1000) / 1000;
  });
}

function histogramOf(times: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const time of times) histogram.add(time);
  return histogram;
}

Deno.test("a histogram gives percentiles to 0.1 %", () => {
  const times = [...drawTimes(20_000), 0, 1.023, 1.024, 3_600_000, 5_000_000, 90_000_000];
  const sorted = times.toSorted((a, b) => a - b);
  const percents = [1, 50, 90, 95, 99, 99.9, 99.99, 100];
  const found = histogramOf(times).percentiles(percents);
  for (const [index, percent] of percents.entries()) {
    const exact = sorted[Math.ceil(percent * times.length / 100) - 1]!;
    assert(
      Math.abs(found[index]! - exact) <= exact / 1000,
      `${percent}: ${found[index]}, ${exact}`,
    );
  }
});

Deno.test("histograms of parts merge to that of all, also as plain data", () => {
  const times = drawTimes(3000);
  const whole = histogramOf(times);
  const merged = new Histogram();
  for (const from of [0, 1000, 2000]) {
    const part = histogramOf(times.slice(from, from + 1000));
    merged.merge(Histogram.decode(JSON.parse(JSON.stringify(part.encode()))));
  }
  const { mean, ...summary } = merged.summary()!;
  const { mean: expected, ...others } = whole.summary()!;
  assertEquals(summary, others);
  assert(Math.abs(mean - expected) <= 0.001);
  assertEquals(merged.encode()?.buckets, whole.encode()?.buckets);
  assertEquals(new Histogram().encode(), undefined);
});

Deno.test("a histogram counts the times up to bounds", () => {
  const times = histogramOf([0.5, 1, 1, 2, 40]);
  assertEquals(times.countsUpTo([0.1, 1, 2, 39, 41]), [0, 3, 4, 4, 5]);
});

Deno.test("a thousand times take about a kilobyte", () => {
  const { length } = JSON.stringify(histogramOf(drawTimes(1000)).encode());
  assert(length < 1100, `${length} characters`);
});
