/** A bundle that reaches an item, and the columns it comes from. */
export interface Arrival {
  readonly bundle: number;
  readonly tops: readonly number[];
}

/** The columns of a bundle's ends, by the bundle. */
type Ports = ReadonlyMap<number, number>;

/**
 * The columns at which bundles reach an item: straight below where they come from if they can,
 * and never in a column that is `taken` by another bundle. At least half of the columns of the
 * room are free, and there are twice as many of them as there are arrivals.
 */
export function choosePorts(
  arrivals: readonly Arrival[],
  { from, to }: { readonly from: number; readonly to: number },
  taken: Ports,
): Ports {
  const sorted = arrivals
    .map((arrival) => ({ ...arrival, mean: sum(arrival.tops) / arrival.tops.length }))
    .sort((a, b) => a.mean - b.mean);
  const all = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  let free = all.filter((column) => !taken.has(column)).length;
  const ports = new Map<number, number>();
  const step = Math.max(2, Math.min(4, Math.floor((to - from + 1) / Math.max(1, sorted.length))));
  let next = from;
  sorted.forEach(({ bundle, tops, mean }, index) => {
    const later = sorted.length - index - 1;
    const middle = (from + to) / 2 + (index - (sorted.length - 1) / 2) * step;
    const straight = tops.filter((column) => column >= from && column <= to);
    const wish = straight.length === 0
      ? middle
      : nearest(straight, straight.length > 1 ? middle : mean);
    // Adjacent arrows are hard to distinguish.
    const distance = (column: number) =>
      Math.abs(column - wish) + (index > 0 && column === next ? CROWDED : 0);
    let best: number | undefined;
    let left = free;
    for (let column = next; column <= to; column++) {
      const holder = taken.get(column);
      if (holder === undefined) left--;
      if (left < later) break;
      if (holder !== undefined && holder !== bundle) continue;
      if (best === undefined || distance(column) < distance(best)) best = column;
    }
    if (best === undefined) throw new Error(`no column for bundle ${bundle}`);
    ports.set(bundle, best);
    for (let column = next; column <= best; column++) if (!taken.has(column)) free--;
    next = best + 1;
  });
  return ports;
}

/** More than the width of any room that matters. */
const CROWDED = 1000;

/** The columns at which bundles leave a box of that width: around its middle, two apart or more. */
export function spreadPorts(bundles: readonly number[], width: number, column: number): Ports {
  const room = width - 2;
  const step = Math.max(2, Math.min(4, Math.floor(room / Math.max(1, bundles.length))));
  const span = (bundles.length - 1) * step + 1;
  const first = column + Math.floor((width - span) / 2);
  return new Map(bundles.map((bundle, index) => [bundle, first + index * step]));
}

function nearest(columns: readonly number[], wish: number): number {
  return columns.reduce((best, column) =>
    Math.abs(column - wish) < Math.abs(best - wish) ? column : best
  );
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
