/** Counts work, and throws once it has been too much. */
export interface Meter {
  spend(steps: number): void;
}

/** For data of our own, whose size is known to be harmless. */
export const UNMETERED: Meter = { spend() {} };

/** One that throws RangeError once so many steps are spent. */
export function boundedMeter(steps: number): Meter {
  let left = steps;
  return {
    spend(more) {
      left -= more;
      if (left < 0) throw new RangeError("too much work");
    },
  };
}
