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

/** A box, or a lane on which the lines of one job pass a column; those of a column lie below each other. */
interface Slot {
  readonly level: number;
  readonly source: number;
  readonly isLane: boolean;
  /** The slots to which lines lead, each with the jobs that those lines lead to in the end. */
  readonly next: Map<Slot, number[]>;
  readonly before: Slot[];
  rank: number;
  y: number;
}

type Needs = readonly (readonly number[])[];

/**
 * Lays out jobs in columns, each to the right of all it needs. A need that others imply has no line
 * unless it is always drawn. No line runs behind a box: where it passes a column it has a lane, which
 * all lines from the same job share.
 */
export function layOutGraph(
  needs: Needs,
  { width, height, gapX, gapY, lane }: GraphSizes,
  isAlwaysDrawn: (need: number, job: number) => boolean = () => false,
): GraphLayout {
  const { order, levels } = levelsOf(needs);
  const columns: Slot[][] = [];
  const addSlot = (level: number, source: number, isLane: boolean): Slot => {
    const slot = { level, source, isLane, next: new Map(), before: [], rank: 0, y: 0 };
    (columns[level] ??= []).push(slot);
    return slot;
  };
  const boxes = levels.map((level, job) => addSlot(level, job, false));
  const lanes = new Map<string, Slot>();
  const drawn = drawnNeeds(needs, order, levels, isAlwaysDrawn);
  for (const job of order) {
    for (const need of drawn[job]!) {
      let from = boxes[need]!;
      for (let level = from.level + 1; level < levels[job]!; level++) {
        const key = `${need} ${level}`;
        const slot = lanes.get(key) ?? addSlot(level, need, true);
        lanes.set(key, slot);
        connect(from, slot, job);
        from = slot;
      }
      connect(from, boxes[job]!, job);
    }
  }

  let total = 0;
  for (const column of columns) {
    // Connected boxes are near each other: each at the mean rank of those before it.
    for (const slot of column) {
      if (slot.before.length === 0) continue;
      slot.rank = slot.before.reduce((sum, { rank }) => sum + rank, 0) / slot.before.length;
    }
    column.sort((a, b) => a.rank - b.rank || a.source - b.source);
    let y = 0;
    for (const [rank, slot] of column.entries()) {
      Object.assign(slot, { rank, y });
      y += (slot.isLane ? lane : height) + gapY;
    }
    total = Math.max(total, y - gapY);
  }

  const left = ({ level }: Slot) => level * (width + gapX);
  const middle = ({ isLane, y }: Slot) => y + (isLane ? lane : height) / 2;
  const linesFrom = (slot: Slot): GraphLine[] => {
    const { source, isLane, next } = slot;
    const [start, y] = [left(slot), middle(slot)];
    const from = [start + width, y] as const;
    const leadsTo = [...new Set([...next.values()].flat())];
    return [
      ...isLane ? [{ from: [start, y] as const, to: from, source, leadsTo }] : [],
      ...Array.from(next, ([to, jobs]): GraphLine => {
        return { from, to: [left(to), middle(to)], source, leadsTo: jobs };
      }),
    ];
  };
  return {
    width: Math.max(0, columns.length * (width + gapX) - gapX),
    height: total,
    boxes: boxes.map((slot) => ({ x: left(slot), y: slot.y, level: slot.level })),
    lines: columns.flat().flatMap(linesFrom),
  };
}

function connect(from: Slot, to: Slot, job: number): void {
  const jobs = from.next.get(to);
  if (jobs) jobs.push(job);
  else {
    from.next.set(to, [job]);
    to.before.push(from);
  }
}

/** The jobs, each after all it needs, and the length of the longest way to each. */
function levelsOf(needs: Needs): { readonly order: number[]; readonly levels: number[] } {
  const users: number[][] = needs.map(() => []);
  for (const [job, of] of needs.entries()) for (const need of of) users[need]!.push(job);
  const open = needs.map(({ length }) => length);
  const order = needs.flatMap(({ length }, job) => length === 0 ? [job] : []);
  const levels = needs.map(() => 0);
  for (const job of order) {
    for (const user of users[job]!) {
      levels[user] = Math.max(levels[user]!, levels[job]! + 1);
      if (--open[user]! === 0) order.push(user);
    }
  }
  return { order, levels };
}

/** The needs of each job without those that its other needs imply. */
function drawnNeeds(
  needs: Needs,
  order: readonly number[],
  levels: readonly number[],
  isAlwaysDrawn: (need: number, job: number) => boolean,
): number[][] {
  const behind = needs.map(() => new Set<number>());
  const drawn: number[][] = needs.map(() => []);
  for (const job of order) {
    for (const need of needs[job]!.toSorted((a, b) => levels[b]! - levels[a]!)) {
      if (behind[job]!.has(need) && !isAlwaysDrawn(need, job)) continue;
      drawn[job]!.push(need);
      for (const each of [need, ...behind[need]!]) behind[job]!.add(each);
    }
  }
  return drawn;
}
