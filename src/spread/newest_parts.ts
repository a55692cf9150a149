import type { PieceHeader } from "../run/event.ts";

/** The data by which pieces of one job differ. */
type PartHeader = Pick<PieceHeader, "created" | "part">;

/**
 * Of each part of a job the newest, since engines repeat lost tasks, in the order of the parts.
 * Parts of another number of parts than the newest has are of a split that was given up.
 */
export function newestParts<P>(
  pieces: readonly P[],
  headerOf: (piece: P) => PartHeader,
  onOlder: (newer: P, older: P) => void,
): readonly P[] {
  const partOf = (piece: P) => headerOf(piece).part ?? { index: 1, of: 1 };
  const newest = new Map<number, P>();
  const [first, ...others] = pieces.toSorted((a, b) => headerOf(b).created - headerOf(a).created);
  if (!first) return [];
  newest.set(partOf(first).index, first);
  for (const piece of others) {
    const { index, of } = partOf(piece);
    const newer = of === partOf(first).of ? newest.get(index) : first;
    if (newer) onOlder(newer, piece);
    else newest.set(index, piece);
  }
  return [...newest.values()].sort((a, b) => partOf(a).index - partOf(b).index);
}
