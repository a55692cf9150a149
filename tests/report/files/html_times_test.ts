import { assert, assertEquals } from "@std/assert";
import { makeTicks } from "../../../src/report/files/html/page/make_ticks.ts";

const labels = (duration: number, most = 6) => makeTicks(duration, most).map(({ label }) => label);

Deno.test("makeTicks() marks round times in a unit that suits the run", () => {
  const table: readonly (readonly [duration: number, labels: string])[] = [
    [0, "0"],
    [0.5, "0, 0.1ms, 0.2ms, 0.3ms, 0.4ms, 0.5ms"],
    [1, "0, 0.2ms, 0.4ms, 0.6ms, 0.8ms, 1ms"],
    [234, "0, 50ms, 100ms, 150ms, 200ms"],
    [1_000, "0, 200ms, 400ms, 600ms, 800ms, 1000ms"],
    [1_001, "0, 0.2s, 0.4s, 0.6s, 0.8s, 1s"],
    [59_000, "0, 10s, 20s, 30s, 40s, 50s"],
    [150_000, "0, 0:30, 1:00, 1:30, 2:00, 2:30"],
    [3_000_000, "0, 10:00, 20:00, 30:00, 40:00, 50:00"],
    [7_200_000, "0, 30:00, 1:00:00, 1:30:00, 2:00:00"],
    [86_400_000, "0, 6:00:00, 12:00:00, 18:00:00, 24:00:00"],
    [30 * 86_400_000, "0, 120:00:00, 240:00:00, 360:00:00, 480:00:00, 600:00:00, 720:00:00"],
  ];
  for (const [duration, expected] of table) assertEquals(labels(duration).join(", "), expected);
});

Deno.test("makeTicks() makes no more marks than there is room for, none twice, and at least the first", () => {
  for (let duration = 0.013; duration < 1e10; duration *= 1.37) {
    for (const most of [0, 1, 2, 5, 20]) {
      const ticks = makeTicks(duration, most);
      assert(ticks.length >= 1 && ticks.length <= most + 1, `${duration} ${most}`);
      assert(ticks.every(({ at }) => at <= duration * 1.001), `${duration} ${most}`);
      assertEquals(new Set(ticks.map(({ label }) => label)).size, ticks.length);
      // Half of the room stays empty at the worst, or three quarters where minutes become hours.
      if (most > 5) assert(ticks.length > most / 4, `${duration} ${most}: ${ticks.length}`);
    }
  }
});
