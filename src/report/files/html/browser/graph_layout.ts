/** The positions of the boxes of a graph and the routes of its lines. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** By job. */
  readonly boxes: readonly { readonly x: number; readonly y: number; readonly level: number }[];
  /** Each from the right side of a box, or the end of a lane, to the left side of the next. */
  readonly lines: readonly GraphLine[];
}

/** A piece of the way from one job to those that need it. */
export interface GraphLine {
  readonly from: readonly [x: number, y: number];
  readonly to: readonly [x: number, y: number];
  /** The job that is needed. */
  readonly source: number;
  /** All the jobs that this piece leads to. */
  readonly leadsTo: readonly number[];
}

/** The size of boxes, the gaps between them, and the height of a line that passes others by. */
export interface GraphSizes {
  readonly width: number;
  readonly height: number;
  readonly gapX: number;
  readonly gapY: number;
  readonly lane: number;
}

/**
 * Lays out jobs in columns, each to the right of all it needs. A need that others imply has no
 * line unless it is always drawn, and no line runs behind a box: one that passes a column has a lane there, which all share
 * that come from the same job.
 */
export function layOutGraph(
  needs: readonly (readonly number[])[],
  { width, height, gapX, gapY, lane }: GraphSizes,
  isAlwaysDrawn: (need: number, job: number) => boolean = () => false,
): GraphLayout {
  const users: number[][] = needs.map(() => []);
  needs.forEach((of, job) => of.forEach((need) => users[need]!.push(job)));
  const open = needs.map(({ length }) => length);
  const order = needs.flatMap(({ length }, job) => length === 0 ? [job] : []);
  const levels = needs.map(() => 0);
  for (let at = 0; at < order.length; at++) {
    const job = order[at]!;
    for (const user of users[job]!) {
      levels[user] = Math.max(levels[user]!, levels[job]! + 1);
      if (--open[user]! === 0) order.push(user);
    }
  }

  // Needs that another need implies are left out; a bit for each earlier job.
  const words = Math.ceil(needs.length / 32);
  const behind = needs.map(() => new Uint32Array(words));
  const kept: number[][] = needs.map(() => []);
  for (const job of order) {
    const own = behind[job]!;
    for (const need of [...needs[job]!].sort((a, b) => levels[b]! - levels[a]!)) {
      const isImplied = (own[need >> 5]! & 1 << (need & 31)) !== 0;
      if (isImplied && !isAlwaysDrawn(need, job)) continue;
      kept[job]!.push(need);
      own[need >> 5]! |= 1 << (need & 31);
      behind[need]!.forEach((bits, word) => own[word]! |= bits);
    }
  }

  /** Boxes and lanes; those of a column are below each other. */
  interface Spot {
    readonly level: number;
    readonly source: number;
    readonly isLane: boolean;
    readonly before: Spot[];
    place: number;
    y: number;
  }
  const columns: Spot[][] = [];
  const add = (spot: Spot) => {
    (columns[spot.level] ??= []).push(spot);
    return spot;
  };
  const spots = levels.map((level, source) =>
    add({ level, source, isLane: false, before: [], place: 0, y: 0 })
  );
  const lanes = new Map<number, Spot[]>();
  const pieces = new Map<Spot, Map<Spot, number[]>>();
  const join = (from: Spot, to: Spot, target: number) => {
    const ends = pieces.get(from) ?? new Map<Spot, number[]>();
    pieces.set(from, ends);
    const targets = ends.get(to);
    if (targets) targets.push(target);
    else {
      ends.set(to, [target]);
      to.before.push(from);
    }
  };
  for (const job of order) {
    for (const need of kept[job]!) {
      const own = lanes.get(need) ?? [];
      lanes.set(need, own);
      let from = spots[need]!;
      for (let level = from.level + 1; level < levels[job]!; level++) {
        const spot = own[level] ??= add({
          level,
          source: need,
          isLane: true,
          before: [],
          place: 0,
          y: 0,
        });
        join(from, spot, job);
        from = spot;
      }
      join(from, spots[job]!, job);
    }
  }

  // Joined boxes are near each other: each at the mean position of those before it.
  let most = 0;
  for (const column of columns) {
    for (const spot of column) {
      const { before } = spot;
      if (before.length === 0) continue;
      spot.place = before.reduce((sum, { place }) => sum + place, 0) / before.length;
    }
    column.sort((a, b) => a.place - b.place || a.source - b.source);
    let y = 0;
    column.forEach((spot, place) => {
      spot.place = place;
      spot.y = y;
      y += (spot.isLane ? lane : height) + gapY;
    });
    most = Math.max(most, y - gapY);
  }

  const left = (level: number) => level * (width + gapX);
  const middle = ({ isLane, y }: Spot) => y + (isLane ? lane : height) / 2;
  const lines: GraphLine[] = [];
  for (const [from, ends] of pieces) {
    const leadsTo = [...new Set([...ends.values()].flat())];
    const [end, y] = [left(from.level) + width, middle(from)];
    if (from.isLane) {
      lines.push({ from: [left(from.level), y], to: [end, y], source: from.source, leadsTo });
    }
    for (const [to, targets] of ends) {
      lines.push({
        from: [end, y],
        to: [left(to.level), middle(to)],
        source: from.source,
        leadsTo: targets,
      });
    }
  }
  return {
    width: Math.max(0, columns.length * (width + gapX) - gapX),
    height: most,
    boxes: spots.map(({ level, y }) => ({ x: left(level), y, level })),
    lines,
  };
}
