import type { Meter } from "../../../base/value/meter.ts";

/** The items of two lists that remain after as many as possible were paired. */
export interface Leftovers {
  /** Indexes of the first list. */
  readonly wanted: readonly number[];
  /** Indexes of the second list. */
  readonly given: readonly number[];
}

/**
 * Pairs the items of two lists so that as many as possible have a partner that fits them: a
 * maximum bipartite matching. One item is never taken away from another for good, so that a
 * pattern that fits many items leaves the one that another pattern needs.
 */
export function pairUp(
  wanted: number,
  given: number,
  fits: (wanted: number, given: number) => boolean,
  meter: Meter,
): Leftovers {
  const partnerOfGiven = new Map<number, number>();
  const partnerOfWanted = new Map<number, number>();
  const known = new Map<number, boolean>();
  const fitsOnce = (one: number, other: number): boolean => {
    meter.spend(1);
    const key = one * given + other;
    const answer = known.get(key) ?? fits(one, other);
    known.set(key, answer);
    return answer;
  };

  /** Finds a partner by breadth, and moves the partners of others on the way to it. */
  const findPartner = (start: number): void => {
    const reachedFrom = new Map<number, number>();
    const queue = [start];
    for (const one of queue) {
      for (let step = 0; step < given; step++) {
        // The same place first: most lists are nearly in order.
        const other = (one + step) % given;
        if (reachedFrom.has(other) || !fitsOnce(one, other)) continue;
        reachedFrom.set(other, one);
        const rival = partnerOfGiven.get(other);
        if (rival === undefined) return move(reachedFrom, other);
        queue.push(rival);
      }
    }
  };

  const move = (reachedFrom: ReadonlyMap<number, number>, free: number): void => {
    for (let other: number | undefined = free; other !== undefined;) {
      const one: number = reachedFrom.get(other)!;
      const before = partnerOfWanted.get(one);
      partnerOfWanted.set(one, other);
      partnerOfGiven.set(other, one);
      other = before;
    }
  };

  for (let one = 0; one < wanted; one++) findPartner(one);
  const without = (length: number, partners: ReadonlyMap<number, number>) =>
    Array.from({ length }, (_, index) => index).filter((index) => !partners.has(index));
  return {
    wanted: without(wanted, partnerOfWanted),
    given: without(given, partnerOfGiven),
  };
}
