import { arrange } from "./drawing/arrange.ts";
import { type BoxText, boxText, boxWidth, drawBox } from "./drawing/box.ts";
import { drawChannel } from "./drawing/draw_channel.ts";
import { makeBundles } from "./drawing/make_bundles.ts";
import { makeSheet } from "./drawing/make_sheet.ts";
import { packRows } from "./drawing/pack_rows.ts";
import { settle, type Settled } from "./drawing/settle.ts";
import type { Bundle, Item } from "./drawing/sheet.ts";
import type { Dag } from "./dag.ts";

/**
 * Draws a graph with boxes and arrows, no wider than `columns` if possible: a wider level is
 * split into several rows.
 *
 * Each line belongs to a bundle of needs (see `Bundle`). Lines of one bundle join at `├ ┤ ┬ ┴`,
 * those of two only cross, at `┼`.
 */
export function renderAscii({ jobs }: Dag, columns: number): string {
  const index = new Map(jobs.map(({ id }, job) => [id, job]));
  const bundles = makeBundles(jobs.map(({ needs }) => needs.map((id) => index.get(id)!)));
  const texts = jobs.map(boxText);
  const ends = countEnds(bundles, jobs.length);
  const layouts = BOX_WIDTHS.map((most) => {
    const widths = texts.map((text, job) => boxWidth(text, ends[job]!, Math.min(most, columns)));
    const blocks = jobs.map(({ level }, job) => ({ level, width: widths[job]! }));
    return { widths, rows: packRows(blocks, bundles, columns) };
  });
  // Names are cut shorter only where that saves a row.
  const { widths, rows } = layouts.reduce((best, layout) =>
    layout.rows.length < best.rows.length ? layout : best
  );
  const { sheet, ...arrangement } = arrange(makeSheet(rows, widths, bundles));
  const settled = settle({ sheet, ...arrangement });
  return sheet.rows.flatMap((row, index) => [
    ...(index === 0 ? [] : drawChannel(settled.channels[index - 1]!, settled.width)),
    ...drawRow(row, settled, texts),
  ]).map((line) => line + "\n").join("");
}

/** The maximum width of a box, in the order of preference. */
const BOX_WIDTHS = [41, 27];

/** The number of lines that arrive at or leave each job, whichever is greater. */
function countEnds(bundles: readonly Bundle[], jobs: number): readonly number[] {
  const count = (ends: (bundle: Bundle) => readonly number[]) => {
    const counts = Array<number>(jobs).fill(0);
    for (const job of bundles.flatMap(ends)) counts[job]!++;
    return counts;
  };
  const leaving = count(({ sources }) => sources);
  return count(({ targets }) => targets).map((number, job) => Math.max(number, leaving[job]!));
}

/** The lines of a row: its boxes, and the lines beside and below them. */
function drawRow(
  row: readonly Item[],
  { columns, exits }: Settled,
  texts: readonly BoxText[],
): readonly string[] {
  const drawn = row.map((item) => {
    const column = columns.get(item)!;
    const ports = exits.get(item)!;
    if (item.kind === "lane") return { column, width: item.width, ports, lines: [] };
    const inside = ports.map((port) => port - column);
    return { ...item, column, ports, lines: drawBox(texts[item.job]!, item.width, inside) };
  });
  const height = Math.max(...drawn.map(({ lines }) => lines.length));
  return Array.from({ length: height }, (_, index) => {
    let line = "";
    let width = 0;
    const put = (column: number, text: string, columns: number) => {
      line += " ".repeat(column - width) + text;
      width = column + columns;
    };
    for (const { column, width, ports, lines } of drawn) {
      const text = lines[index];
      if (text !== undefined) put(column, text, width);
      else for (const port of ports) put(port, "│", 1);
    }
    return line;
  });
}
