import type { Clock } from "../../src/host/host.ts";

/** A clock that a test advances, which then runs the timers that are due. */
export interface FakeClock extends Clock {
  advance(milliseconds: number): void;
  /** Pending timers. */
  waiting(): number;
}

/** A clock that starts at that time. */
export function fakeClock(start = 0): FakeClock {
  let now = start;
  const calls = new Set<{ readonly due: number; readonly act: () => void }>();
  return {
    now: () => now,
    ticks: () => now,
    after(milliseconds, act) {
      const call = { due: now + milliseconds, act };
      calls.add(call);
      return () => calls.delete(call);
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const [next] = [...calls].filter(({ due }) => due <= end).sort((a, b) => a.due - b.due);
        if (!next) break;
        calls.delete(next);
        // What a call does may take time, too.
        now = Math.max(now, next.due);
        next.act();
      }
      now = Math.max(now, end);
    },
    waiting: () => calls.size,
  };
}
