import { assert, assertEquals } from "@std/assert";
import type { Clock } from "../../src/host/host.ts";
import { Alarm } from "../../src/run/load/alarm.ts";
import { type FakeClock, fakeClock } from "../support/fake_clock.ts";

/** The milliseconds that a turn of the event loop takes. */
const TURN = 0.01;

/** A clock whose timers are late, and how an alarm of a pause rings by it. */
function lateClock(): { readonly clock: FakeClock; readonly late: Clock } {
  const clock = fakeClock();
  const late = {
    ...clock,
    after: (milliseconds: number, act: () => void) =>
      clock.after(Math.ceil(milliseconds) + 1.1, act),
    turn: (act: () => void) => void clock.after(TURN, act),
  };
  return { clock, late };
}

/** Sets an alarm again and again for that pause, and returns how late it rang each time. */
function ring(clock: FakeClock, late: Clock, pause: number, time: number): [number[], Alarm] {
  const lags: number[] = [];
  let due = 0;
  const set = () => {
    due = clock.ticks() + pause;
    alarm.set(pause);
  };
  const alarm = new Alarm(late, () => {
    lags.push(clock.ticks() - due);
    set();
  });
  set();
  clock.advance(time);
  alarm.cancel();
  return [lags, alarm];
}

for (const pause of [0, 0.2, 2, 2.5, 5, 20.7]) {
  Deno.test(`an alarm after ${pause} ms rings in the turn of the event loop when it is due`, () => {
    const { clock, late } = lateClock();
    const [lags] = ring(clock, late, pause, 40);
    assert(lags.length >= 1);
    assertEquals(lags.filter((lag) => lag < 0 || lag > 2 * TURN), []);
    const [byTimer] = ring(clock, { ...late, turn: undefined }, pause, 40);
    assert(byTimer.every((lag) => lag >= 1), `${byTimer}`);
  });
}

Deno.test("an alarm leaves a part of the processor alone", () => {
  const { clock, late } = lateClock();
  const [lags, { idle }] = ring(clock, late, 1, 3000);
  assert(idle > 1500 && idle < 2100, `${idle}`);
  assert(lags.filter((lag) => lag < 0.1).length > lags.length / 2);
});

Deno.test("an alarm takes no turns for a while where others want the processor", () => {
  const { clock, late } = lateClock();
  let isTaken = true;
  const turn = (act: () => void) => {
    clock.after(isTaken ? 4 : TURN, act);
    isTaken = false;
  };
  const [lags, { idle }] = ring(clock, { ...late, turn }, 1, 200);
  assertEquals([lags.filter((lag) => lag < 1), idle], [[], 0]);
});
