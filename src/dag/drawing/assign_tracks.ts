import type { NetPart } from "./split_net.ts";

/**
 * The row of each part in its channel, from 0: parts that share one keep a column between them.
 * The order of two of them is chosen so that few lines cross.
 */
export function assignTracks(parts: readonly NetPart[]): ReadonlyMap<NetPart, number> {
  const order: NetPart[] = [];
  for (const part of parts) order.splice(bestPlace(part, order), 0, part);
  const tracks = new Map<NetPart, number>();
  /** For each track, the parts in it. */
  const rows: NetPart[][] = [];
  for (const part of order) {
    const meets = (other: NetPart) => other.left <= part.right + 1 && part.left <= other.right + 1;
    let track = rows.length;
    while (track > 0 && !rows[track - 1]!.some(meets)) track--;
    (rows[track] ??= []).push(part);
    tracks.set(part, track);
  }
  return tracks;
}

/** Where in a list from top to bottom a part crosses the others least. */
function bestPlace(part: NetPart, order: readonly NetPart[]): number {
  // Crossings if it were above all of them; each step down trades one for another.
  let cost = order.reduce((sum, other) => sum + crossings(part, other), 0);
  let best = 0;
  let least = cost;
  order.forEach((other, index) => {
    cost += crossings(other, part) - crossings(part, other);
    if (cost < least) {
      least = cost;
      best = index + 1;
    }
  });
  return best;
}

/** The number of crossings of two parts when the first is above the second. */
function crossings(upper: NetPart, lower: NetPart): number {
  if (upper.net === lower.net) return upper.isUpper ? 0 : WRONG;
  if (upper.right < lower.left || lower.right < upper.left) return 0;
  const above = lower.tops.filter((column) => isWithin(column, upper)).length;
  return above + upper.bottoms.filter(({ column }) => isWithin(column, lower)).length;
}

/** More than all crossings that a channel can have. */
const WRONG = 1e9;

function isWithin(column: number, { left, right }: NetPart): boolean {
  return column > left && column < right;
}
