/** Which boxes are in which row of a drawing, and the columns of boxes and of lines beside them. */
export interface Layout {
  /** The numbers of the jobs in each row, from left to right. */
  readonly rows: readonly (readonly number[])[];
  /** By job. */
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
}

interface Box {
  readonly row: number;
  readonly left: number;
  readonly width: number;
  /** The column in which a line leaves it. */
  readonly middle: number;
}

/**
 * Joins the jobs that the same jobs need, and leads to those. Its sources are in rows above its
 * targets; it passes the boxes of the rows between them in a lane, a column beside all boxes.
 */
export interface Line {
  readonly sources: readonly number[];
  readonly targets: readonly number[];
  /** The first row that it passes in its lane, and the last: none if that is less. */
  readonly first: number;
  readonly last: number;
  readonly lane: number;
}

type Ends = Pick<Line, "sources" | "targets">;
type Rows = Layout["rows"];

/** The columns between two boxes: odd like their widths, so that the middles of rows agree. */
const GAP = 3;

/** The lines of a graph, given the needs of each job. */
export function makeLines(needs: readonly (readonly number[])[]): readonly Ends[] {
  const targets = needs.map((): number[] => []);
  needs.forEach((sources, job) => sources.forEach((source) => targets[source]!.push(job)));
  const lines = new Map<string, { sources: number[]; targets: readonly number[] }>();
  targets.forEach((jobs, source) => {
    if (jobs.length === 0) return;
    const line = lines.get(jobs.join()) ?? { sources: [], targets: jobs };
    line.sources.push(source);
    lines.set(jobs.join(), line);
  });
  return [...lines.values()];
}

/**
 * Places boxes of these widths in rows, each job below the jobs that it needs, and no wider than
 * `columns` if that can be: a level that is wider goes on in another row.
 */
export function makeLayout(
  levels: readonly number[],
  ends: readonly Ends[],
  widths: readonly number[],
  columns: number,
): Layout {
  // The more rows, the more lines pass beside them, which leaves less room for boxes.
  let room = columns;
  for (let tries = 0;; tries++) {
    const rows = fillRows(levels, ends, widths, room);
    const lines = assignLanes(rows, ends);
    const left = columns - 2 * lines.reduce((max, { lane }) => Math.max(max, lane + 1), 0);
    if (left >= room || tries === 3) return placeBoxes(rows, lines, widths);
    room = left;
  }
}

function fillRows(
  levels: readonly number[],
  ends: readonly Ends[],
  widths: readonly number[],
  columns: number,
): Rows {
  const needs = levels.map((): number[] => []);
  for (const { sources, targets } of ends) {
    for (const target of targets) needs[target]!.push(...sources);
  }
  /** The middle of each box that has a row, from the middle of that row. */
  const middles: number[] = [];
  /** Lines are short if a job is below the middle of the jobs that it needs. */
  const wish = (job: number) =>
    needs[job]!.reduce((sum, need) => sum + middles[need]!, 0) / (needs[job]!.length || 1);
  const rows: number[][] = [];
  for (const [, jobs] of [...Map.groupBy(levels.keys(), (job) => levels[job]!)].sort(byNumber)) {
    const wishes = new Map(jobs.map((job) => [job, wish(job)]));
    const first = rows.length;
    let end = -GAP;
    for (const job of jobs.sort((a, b) => wishes.get(a)! - wishes.get(b)!)) {
      end += GAP + widths[job]!;
      if (end > columns || rows.length === first) {
        rows.push([]);
        end = widths[job]!;
      }
      rows.at(-1)!.push(job);
    }
    for (const row of rows.slice(first)) {
      let column = -rowWidth(row, widths) / 2;
      for (const job of row) {
        middles[job] = column + widths[job]! / 2;
        column += widths[job]! + GAP;
      }
    }
  }
  return rows;
}

function byNumber([a]: readonly [number, unknown], [b]: readonly [number, unknown]): number {
  return a - b;
}

function rowWidth(row: readonly number[], widths: readonly number[]): number {
  return row.reduce((sum, job) => sum + widths[job]! + GAP, -GAP);
}

/** Gives each line a lane; two lines have the same one only if there are rows between them. */
function assignLanes(rows: Rows, ends: readonly Ends[]): readonly Line[] {
  const rowOf: number[] = [];
  rows.forEach((row, number) => row.forEach((job) => rowOf[job] = number));
  const rowsOf = (jobs: readonly number[]) => jobs.map((job) => rowOf[job]!);
  /** The last row that each lane passes. */
  const lanes: number[] = [];
  const lines = ends.map(({ sources, targets }) => ({
    sources,
    targets,
    first: Math.min(...rowsOf(sources)) + 1,
    last: Math.max(...rowsOf(targets)) - 1,
    lane: -1,
  }));
  for (const line of lines.toSorted((a, b) => a.first - b.first)) {
    if (line.first > line.last) continue;
    const free = lanes.findIndex((last) => last + 1 < line.first);
    line.lane = free < 0 ? lanes.length : free;
    lanes[line.lane] = line.last;
  }
  return lines;
}

/** The columns of the boxes, each row in the middle; the lanes begin beside the widest row. */
function placeBoxes(rows: Rows, lines: readonly Line[], widths: readonly number[]): Layout {
  const width = Math.max(...rows.map((row) => rowWidth(row, widths)));
  const boxes: Box[] = [];
  rows.forEach((jobs, row) => {
    let left = (width - rowWidth(jobs, widths)) / 2;
    for (const job of jobs) {
      const width = widths[job]!;
      boxes[job] = { row, left, width, middle: left + (width - 1) / 2 };
      left += width + GAP;
    }
  });
  return {
    rows,
    boxes,
    lines: lines.map((line) => ({ ...line, lane: width + 1 + 2 * line.lane })),
  };
}
