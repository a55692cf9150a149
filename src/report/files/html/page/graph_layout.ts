/** The positions of the boxes of a graph and the routes of its lines. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** By job. */
  readonly boxes: readonly { readonly x: number; readonly y: number; readonly level: number }[];
  readonly lines: readonly GraphLine[];
}

/** The way from a job to one that needs it. */
export interface GraphLine {
  readonly need: number;
  readonly job: number;
  /** From the right side of a box to the left side of another, with both ends of each lane. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** The size of boxes, the gaps between them, and the height of a line that passes others by. */
export const SIZES = { width: 180, height: 28, gapX: 44, gapY: 9, lane: 2 } as const;

const { width, height, gapX, gapY, lane } = SIZES;

/** A box, or a lane on which the lines of one job pass a column. */
interface Slot {
  readonly level: number;
  readonly source: number;
  readonly height: number;
  /** The slots in the column before it that lines connect it with. */
  readonly before: Set<Slot>;
  /** Its position in its column. */
  rank: number;
  y: number;
}

type Needs = readonly (readonly number[])[];

/**
 * Lays out jobs in columns, each to the right of all it needs. A need that others imply has no line
 * unless it is always drawn. No line runs behind a box: it passes other columns on lanes, which
 * lines from the same job share.
 */
export function layOutGraph(
  needs: Needs,
  isAlwaysDrawn: (need: number, job: number) => boolean = () => false,
): GraphLayout {
  const { order, levels } = levelsOf(needs);
  const columns: Slot[][] = [];
  const addSlot = (level: number, source: number, height: number): Slot => {
    const slot = { level, source, height, before: new Set<Slot>(), rank: 0, y: 0 };
    (columns[level] ??= []).push(slot);
    return slot;
  };
  const boxes = levels.map((level, job) => addSlot(level, job, height));
  const lanes = new Map<string, Slot>();
  const drawn = drawnNeeds(needs, order, levels, isAlwaysDrawn);
  const routes = order.flatMap((job) =>
    drawn[job]!.map((need) => {
      const route = [boxes[need]!];
      for (let level = levels[need]! + 1; level < levels[job]!; level++) {
        const key = `${need} ${level}`;
        const slot = lanes.get(key) ?? addSlot(level, need, lane);
        lanes.set(key, slot);
        route.push(slot);
      }
      route.push(boxes[job]!);
      for (const [index, slot] of route.slice(1).entries()) slot.before.add(route[index]!);
      return { need, job, route };
    })
  );

  let total = 0;
  for (const column of columns) {
    // Connected boxes are near each other: each at the mean rank of those before it.
    for (const slot of column) {
      if (slot.before.size === 0) continue;
      slot.rank = [...slot.before].reduce((sum, { rank }) => sum + rank, 0) / slot.before.size;
    }
    column.sort((a, b) => a.rank - b.rank || a.source - b.source);
    let y = 0;
    for (const [rank, slot] of column.entries()) {
      Object.assign(slot, { rank, y });
      y += slot.height + gapY;
    }
    total = Math.max(total, y - gapY);
  }

  const left = ({ level }: Slot) => level * (width + gapX);
  const pointsOf = (slot: Slot): GraphLine["points"] => {
    const y = slot.y + slot.height / 2;
    return [[left(slot), y], [left(slot) + width, y]];
  };
  return {
    width: Math.max(0, columns.length * (width + gapX) - gapX),
    height: total,
    boxes: boxes.map((slot) => ({ x: left(slot), y: slot.y, level: slot.level })),
    lines: routes.map(({ need, job, route }) => {
      return { need, job, points: route.flatMap(pointsOf).slice(1, -1) };
    }),
  };
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
  const implied = needs.map(() => new Set<number>());
  const drawn: number[][] = needs.map(() => []);
  for (const job of order) {
    for (const need of needs[job]!.toSorted((a, b) => levels[b]! - levels[a]!)) {
      if (implied[job]!.has(need) && !isAlwaysDrawn(need, job)) continue;
      drawn[job]!.push(need);
      for (const each of [need, ...implied[need]!]) implied[job]!.add(each);
    }
  }
  return drawn;
}
