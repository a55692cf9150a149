/** Counts work, and throws once it has been too much. */
export interface Meter {
  spend(steps: number): void;
}

/** For data of our own, whose size is known to be harmless. */
export const UNMETERED: Meter = { spend() {} };
