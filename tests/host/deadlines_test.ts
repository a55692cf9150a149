import { assertEquals } from "@std/assert";
import { Deadlines } from "../../src/host/deadlines.ts";
import type { Clock } from "../../src/host/host.ts";

/** A clock that advances on request, and counts its timers. */
function fakeClock() {
  let now = 0;
  let set = 0;
  const timers = new Set<{ readonly due: number; readonly act: () => void }>();
  const clock: Clock = {
    now: () => now,
    ticks: () => now,
    after(milliseconds, act) {
      set++;
      const timer = { due: now + milliseconds, act };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  };
  return {
    clock,
    timersWaiting: () => timers.size,
    timersSet: () => set,
    moveTo(time: number) {
      for (;;) {
        const next = [...timers].filter((timer) => timer.due <= time)
          .sort((a, b) => a.due - b.due)[0];
        if (!next) break;
        timers.delete(next);
        now = Math.max(now, next.due);
        next.act();
      }
      now = time;
    },
    /** The timer goes off late, as it does in a busy program. */
    jumpTo(time: number) {
      now = time;
      this.moveTo(time);
    },
  };
}

Deno.test("Deadlines call each act when its time has come, and once", () => {
  const fake = fakeClock();
  const deadlines = new Deadlines(fake.clock);
  const over: string[] = [];
  deadlines.add(100, () => over.push("a"));
  deadlines.add(50, () => over.push("b"));
  deadlines.add(100, () => over.push("c"));
  fake.moveTo(49);
  assertEquals(over, []);
  fake.moveTo(50);
  assertEquals(over, ["b"]);
  fake.moveTo(99);
  assertEquals(over, ["b"]);
  fake.moveTo(1000);
  assertEquals(over, ["b", "a", "c"]);
});

Deno.test("Deadlines that are late come in the order in which they were due", () => {
  const fake = fakeClock();
  const deadlines = new Deadlines(fake.clock);
  const over: string[] = [];
  deadlines.add(300, () => over.push("300"));
  deadlines.add(100, () => over.push("100"));
  deadlines.add(200, () => over.push("200"));
  fake.jumpTo(10_000);
  assertEquals(over, ["100", "200", "300"]);
});

Deno.test("Deadlines forget cancelled entries, however many there are", () => {
  const fake = fakeClock();
  const deadlines = new Deadlines(fake.clock);
  const over: string[] = [];
  const first = deadlines.add(100, () => over.push("first"));
  deadlines.add(100, () => over.push("second"));
  first.cancel();
  first.cancel();
  fake.moveTo(100);
  assertEquals(over, ["second"]);
  first.cancel();
});

Deno.test("Deadlines keep their timer for those to come, until all are cancelled", () => {
  const fake = fakeClock();
  const deadlines = new Deadlines(fake.clock);
  const over: string[] = [];
  for (let step = 0; step < 100; step++) deadlines.add(100, () => over.push("step")).cancel();
  assertEquals([fake.timersSet(), fake.timersWaiting()], [1, 1]);
  fake.moveTo(60);
  deadlines.add(100, () => over.push("next"));
  fake.moveTo(159);
  assertEquals(over, []);
  fake.moveTo(160);
  assertEquals([over, fake.timersWaiting()], [["next"], 0]);
  deadlines.add(100, () => over.push("last"));
  deadlines.cancelAll();
  assertEquals(fake.timersWaiting(), 0);
});

Deno.test("Deadlines of one length share one timer", () => {
  const fake = fakeClock();
  const deadlines = new Deadlines(fake.clock);
  let over = 0;
  const set = Array.from({ length: 10_000 }, () => deadlines.add(5000, () => over++));
  for (const deadline of set.slice(1)) deadline.cancel();
  assertEquals(fake.timersSet(), 1);
  fake.moveTo(5000);
  assertEquals(over, 1);
});

Deno.test("Deadlines may be set and cancelled by a deadline", () => {
  const fake = fakeClock();
  const deadlines = new Deadlines(fake.clock);
  const over: string[] = [];
  deadlines.add(100, () => {
    over.push("outer");
    cancelled.cancel();
    deadlines.add(50, () => over.push("inner"));
  });
  const cancelled = deadlines.add(120, () => over.push("cancelled"));
  fake.moveTo(149);
  assertEquals(over, ["outer"]);
  fake.moveTo(150);
  assertEquals(over, ["outer", "inner"]);
});
