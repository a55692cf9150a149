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
 * Lays out jobs in columns, each to the right of all it needs. A need that others imply has no
 * line. No line runs behind a box: it passes other columns on lanes, which lines from the same job
 * share.
 */
export function layOutGraph(needs: Needs): GraphLayout {
  const levels = levelsOf(needs);
  // Each after all it needs.
  const order = [...needs.keys()].sort((a, b) => levels[a]! - levels[b]!);
  const columns: Slot[][] = [];
  const addSlot = (level: number, source: number, height: number): Slot => {
    const slot = { level, source, height, before: new Set<Slot>(), rank: 0, y: 0 };
    (columns[level] ??= []).push(slot);
    return slot;
  };
  const boxes = levels.map((level, job) => addSlot(level, job, height));
  const lanes = new Map<string, Slot>();
  const drawn = drawnNeeds(needs, order, levels);
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

/** The length of the longest way to each job. */
function levelsOf(needs: Needs): number[] {
  const levels: number[] = [];
  const levelOf = (job: number): number =>
    levels[job] ??= Math.max(0, ...needs[job]!.map((need) => levelOf(need) + 1));
  for (const job of needs.keys()) levelOf(job);
  return levels;
}

/** The needs of each job without those that its other needs imply. */
function drawnNeeds(
  needs: Needs,
  order: readonly number[],
  levels: readonly number[],
): number[][] {
  const implied = needs.map(() => new Set<number>());
  const drawn: number[][] = needs.map(() => []);
  for (const job of order) {
    for (const need of needs[job]!.toSorted((a, b) => levels[b]! - levels[a]!)) {
      if (implied[job]!.has(need)) continue;
      drawn[job]!.push(need);
      for (const each of [need, ...implied[need]!]) implied[job]!.add(each);
    }
  }
  return drawn;
}
