/** Counts work, and throws once it has been too much. */
export interface Meter {
  spend(steps: number): void;
}

/** For data of our own, whose size is known to be harmless. */
export const UNMETERED: Meter = { spend() {} };

/** Data or work beyond a limit of ours. */
export class LimitError extends Error {}

/** One that throws LimitError once so many steps are spent. */
export function boundedMeter(steps: number): Meter {
  let left = steps;
  return {
    spend(more) {
      left -= more;
      if (left < 0) throw new LimitError("too much work");
    },
  };
}
