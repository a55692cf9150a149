import type { Dag, DagJob, DagStep } from "./dag.ts";
import { cutLine, displayWidth } from "../base/text/display_width.ts";
import { printableLine } from "../base/text/printable.ts";

/** The maximum widths of a box, in the order of preference. */
const BOX_WIDTHS = [41, 27];

/** With more jobs than this the boxes have names alone. */
const MOST_WITH_STEPS = 12;

/**
 * Draws a graph with boxes and arrows, no wider than `columns` if possible. The parts of a line
 * join at `├ ┤ ┬ ┴`; at `┼` two lines cross.
 */
export function renderAscii({ jobs }: Dag, columns: number): string {
  const index = new Map(jobs.map(({ id }, job) => [id, job]));
  const lines = makeLines(jobs.map(({ needs }) => needs.map((id) => index.get(id)!)));
  const entries = jobs.map(() => 0);
  for (const job of lines.flatMap(({ targets }) => targets)) entries[job]!++;
  const texts = jobs.map(jobs.length > MOST_WITH_STEPS ? nameText : boxText);
  const levels = jobs.map(({ level }) => level);
  const layouts = BOX_WIDTHS.map((limit) => {
    const widths = texts.map((text, job) =>
      boxWidth(text, entries[job]!, Math.min(limit, columns))
    );
    return makeLayout(levels, lines, widths, columns);
  });
  // Names are cut shorter only where that saves a row.
  const layout = layouts.reduce((best, other) =>
    other.rows.length < best.rows.length ? other : best
  );
  const rendered = layout.rows.flatMap((_, row) => [
    ...(row === 0 ? [] : drawCrossings(makeCrossings(layout, row))),
    ...drawRow(layout, row, texts),
  ]);
  return rendered.map((line) => line + "\n").join("");
}

/** The lines of text of a row: its boxes, and the lines that leave or pass them. */
function drawRow({ rows, boxes, lines }: Layout, row: number, texts: readonly BoxText[]) {
  const open = new Set(lines.flatMap(({ sources }) => sources));
  const items = rows[row]!.map((job) => ({
    ...boxes[job]!,
    isOpen: open.has(job),
    drawn: drawBox(texts[job]!, boxes[job]!.width, open.has(job)),
  }));
  const lanes = lines.filter((line) => passes(line, row)).map(({ lane }) => lane)
    .sort((a, b) => a - b);
  return Array.from({ length: Math.max(...items.map(({ drawn }) => drawn.length)) }, (_, index) => {
    let [text, end] = ["", 0];
    // A text may have fewer characters than columns.
    const put = (column: number, part: string, columns: number) => {
      text += " ".repeat(column - end) + part;
      end = column + columns;
    };
    for (const { left, width, middle, isOpen, drawn } of items) {
      if (index < drawn.length) put(left, drawn[index]!, width);
      else if (isOpen) put(middle, "│", 1);
    }
    for (const lane of lanes) put(lane, "│", 1);
    return text;
  });
}

function passes({ first, last }: Line, row: number): boolean {
  return first <= row && row <= last;
}

/** The columns of a line between two rows. */
interface Crossing {
  /** Where it comes from. */
  readonly tops: readonly number[];
  /** Where it enters boxes, and where it goes on beside them. */
  readonly entries: number[];
  readonly lane: readonly number[];
}

/** The lines that arrive from above a row. */
function makeCrossings({ rows, boxes, lines }: Layout, row: number): readonly Crossing[] {
  const crossings = new Map(
    lines.filter(({ first, last }) => first <= row && row <= last + 1).map((line) => {
      const { sources, lane } = line;
      const exits = sources.map((job) => boxes[job]!).filter((box) => box.row === row - 1);
      const crossing: Crossing = {
        tops: [...exits.map(({ middle }) => middle), ...passes(line, row - 1) ? [lane] : []],
        entries: [],
        lane: passes(line, row) ? [lane] : [],
      };
      return [line, crossing];
    }),
  );
  const taken = new Set([...crossings.values()].flatMap(({ tops }) => tops));
  /** Whether a line may enter a box there: it must not meet another line, nor cross itself. */
  const isFree = (line: Line, job: number, column: number) => {
    if (!taken.has(column)) return true;
    const { tops, lane } = crossings.get(line)!;
    const others = line.targets.filter((other) => other !== job && boxes[other]!.row === row);
    const ends = [...tops, ...lane, ...others.map((other) => boxes[other]!.middle)];
    return tops.includes(column) && (column <= Math.min(...ends) || column >= Math.max(...ends));
  };
  for (const job of rows[row]!) {
    const entering = [...crossings.keys()].filter(({ targets }) => targets.includes(job))
      .map((line) => ({ line, from: Math.min(...crossings.get(line)!.tops) }))
      .sort((a, b) => a.from - b.from);
    const { left, width } = boxes[job]!;
    let next = left + 1;
    entering.forEach(({ line }, index) => {
      const wish = left + 1 + Math.floor((index + 0.5) * (width - 2) / entering.length);
      const free = Array.from({ length: left + width - 1 - next }, (_, i) => next + i)
        .filter((column) => isFree(line, job, column));
      // The lines to the right need room too.
      const choice = free.slice(0, free.length - (entering.length - 1 - index));
      const column = choice.reduce((best, other) =>
        Math.abs(other - wish) < Math.abs(best - wish) ? other : best
      );
      crossings.get(line)!.entries.push(column);
      next = column + 1;
    });
  }
  return [...crossings.values()];
}

const [UP, DOWN, LEFT, RIGHT] = [1, 2, 4, 8];
/** The sign for each sum of the directions in which lines leave it. */
const SIGNS = [..." ││││┘┐┤│└┌├─┴┬┼"];

/** Draws the lines between two rows, each turned in a track that it shares with lines beside it. */
function drawCrossings(crossings: readonly Crossing[]): readonly string[] {
  if (crossings.length === 0) return [""];
  const turned = crossings.map(({ tops, entries, lane }) => {
    const bottoms = [...entries, ...lane];
    const ends = [...tops, ...bottoms];
    return { tops, bottoms, from: Math.min(...ends), to: Math.max(...ends), track: -1 };
  }).sort((a, b) => a.from - b.from);
  /** The last column of each track that is in use. */
  const tracks: number[] = [];
  for (const line of turned) {
    if (line.from === line.to) continue;
    const free = tracks.findIndex((to) => to + 1 < line.from);
    line.track = free < 0 ? tracks.length : free;
    tracks[line.track] = line.to;
  }
  // The first row is below the boxes; the last has the arrows.
  const height = tracks.length + 2;
  const width = Math.max(...turned.map(({ to }) => to + 1));
  const cells = Array.from({ length: height }, () => Array<number>(width).fill(0));
  const add = (row: number, column: number, arms: number) => cells[row]![column]! |= arms;
  for (const { tops, bottoms, from, to, track } of turned) {
    const turn = track < 0 ? height - 1 : track + 1;
    for (const column of tops) {
      for (let row = 0; row < turn; row++) add(row, column, UP | DOWN);
      add(turn, column, UP);
    }
    for (const column of bottoms) {
      for (let row = height - 1; row > turn; row--) add(row, column, UP | DOWN);
      add(turn, column, DOWN);
    }
    for (let column = from; column < to; column++) {
      add(turn, column, RIGHT);
      add(turn, column + 1, LEFT);
    }
  }
  const signs = cells.map((row) => row.map((arms) => SIGNS[arms]!));
  for (const column of crossings.flatMap(({ entries }) => entries)) signs.at(-1)![column] = "↓";
  return signs.map((row) => row.join("").trimEnd());
}

interface BoxText {
  readonly title: string;
  /** One line for each step, and one for each step of a job that a step embeds. */
  readonly rows: readonly string[];
}

/** The texts of a job's box before truncation. */
function boxText({ name, steps, conditions = [] }: DagJob): BoxText {
  const rows = [...conditions.map(nameLine), ...steps.flatMap((step) => stepRows(step))];
  return { title: nameLine(name), rows };
}

function nameText({ name }: DagJob): BoxText {
  return { title: nameLine(name), rows: [] };
}

function stepRows({ name, steps }: DagStep): readonly string[] {
  return [`${steps ? "↗" : "·"} ${nameLine(name)}`, ...branchRows(steps ?? [], "  ")];
}

function branchRows(steps: readonly DagStep[], indent: string): readonly string[] {
  return steps.flatMap(({ name, steps: inner = [] }, index) => {
    const isLast = index === steps.length - 1;
    return [
      `${indent}${isLast ? "└" : "├"} ${nameLine(name)}`,
      ...branchRows(inner, `${indent}${isLast ? " " : "│"} `),
    ];
  });
}

/**
 * The width of a box: that of its texts, at most `limit`, but wide enough for its lines at the
 * upper edge. Always odd, so that there is a column in the middle.
 */
function boxWidth({ title, rows }: BoxText, lines: number, limit: number): number {
  const text = Math.max(...[title, ...rows].map(displayWidth));
  const width = Math.min(nextOdd(text + FRAME), nextOdd(limit - 1));
  return Math.max(width, MIN_WIDTH, nextOdd(2 * lines + 2));
}

function nextOdd(number: number): number {
  return number % 2 === 1 ? number : number + 1;
}

/** The two sides of a box and a blank beside each. */
const FRAME = 4;
const MIN_WIDTH = FRAME + 5;

/** The lines of a box of that width. A line leaves an `open` box at the middle of its lower edge. */
function drawBox({ title, rows }: BoxText, width: number, isOpen: boolean): string[] {
  const text = width - FRAME;
  const half = "─".repeat((width - 3) / 2);
  return [
    `╭${"─".repeat(width - 2)}╮`,
    `│ ${centreText(title, text)} │`,
    ...rows.length === 0 ? [] : [`├${"─".repeat(width - 2)}┤`],
    ...rows.map((row) => `│ ${fitText(row, text)} │`),
    `╰${half}${isOpen ? "┬" : "─"}${half}╯`,
  ];
}

/** A name as one line without control characters. */
export function nameLine(name: string): string {
  return printableLine(name.trim().replace(/\s*[\r\n\t]\s*/g, " "));
}

/** A text of exactly this width; `…` marks what was cut. */
function fitText(text: string, columns: number): string {
  const cut = cutLine(text, columns);
  return cut + " ".repeat(columns - displayWidth(cut));
}

function centreText(text: string, columns: number): string {
  const before = Math.max(0, Math.floor((columns - displayWidth(text)) / 2));
  return " ".repeat(before) + fitText(text, columns - before);
}

/** Which boxes are in which row of a drawing, and the columns of boxes and of lines beside them. */
export interface Layout {
  /** The numbers of the jobs in each row, from left to right. */
  readonly rows: readonly (readonly number[])[];
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
type BoxRows = Layout["rows"];

/** The columns between two boxes: odd like their widths, so that the middles of rows agree. */
const GAP = 3;

/** The lines of a graph, given the needs of each job. */
function makeLines(needs: readonly (readonly number[])[]): readonly Ends[] {
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
function makeLayout(
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
): BoxRows {
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
function assignLanes(rows: BoxRows, ends: readonly Ends[]): readonly Line[] {
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
function placeBoxes(rows: BoxRows, lines: readonly Line[], widths: readonly number[]): Layout {
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
