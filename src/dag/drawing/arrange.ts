import { endOf, packRow, placeRow, rowWidth } from "./place_row.ts";
import { type Columns, type Item, middleOf, type Sheet } from "./sheet.ts";

/** A sheet whose rows have their final order, with the preferred columns of its items. */
export interface Arrangement {
  readonly sheet: Sheet;
  readonly columns: Columns;
  /** The width of the widest row. */
  readonly width: number;
}

/** Orders the items of each row so that few lines cross, and moves them near to their neighbours. */
export function arrange(sheet: Sheet): Arrangement {
  const neighbours = findNeighbours(sheet);
  const rows = orderRows(sheet.rows, neighbours);
  const width = Math.max(0, ...rows.map(rowWidth));
  return {
    sheet: { rows, links: sheet.links },
    columns: placeRows(rows, neighbours, width),
    width,
  };
}

const ORDER_SWEEPS = 4;
const PLACE_SWEEPS = 2;

function orderRows(
  rows: readonly (readonly Item[])[],
  { above, below }: Neighbours,
): readonly (readonly Item[])[] {
  const places = new Map<Item, number>();
  const note = (row: readonly Item[]) => {
    const columns = packRow(row);
    const half = endOf(row, columns) / 2;
    // Rows are thought of as centred, so that the outer ones of a narrow row stay between.
    row.forEach((item, index) => places.set(item, columns[index]! + middleOf(item) - half));
  };
  const ordered = [...rows];
  ordered.forEach(note);
  const sort = (index: number, neighbours: Neighbours["above"]) => {
    const row = ordered[index]!;
    const wishes = row.map((item) => ({ item, place: meanOf(item, neighbours, places) }));
    ordered[index] = wishes.sort((a, b) => a.place - b.place).map(({ item }) => item);
    note(ordered[index]);
  };
  for (let sweep = 0; sweep < ORDER_SWEEPS; sweep++) {
    for (let index = 1; index < rows.length; index++) sort(index, above);
    if (sweep === ORDER_SWEEPS - 1) break;
    for (let index = rows.length - 2; index >= 0; index--) sort(index, below);
  }
  return ordered;
}

function placeRows(
  rows: readonly (readonly Item[])[],
  { above, below }: Neighbours,
  width: number,
): Columns {
  const columns = new Map<Item, number>();
  const middles = new Map<Item, number>();
  const place = (row: readonly Item[], placed: readonly number[]) =>
    row.forEach((item, index) => {
      columns.set(item, placed[index]!);
      middles.set(item, placed[index]! + middleOf(item));
    });
  const move = (row: readonly Item[], neighbours: Neighbours["above"]) => {
    const wishes = row.map((item) => ({
      column: meanOf(item, neighbours, middles) - middleOf(item),
      weight: neighbours.has(item) ? item.kind === "lane" ? LANE_WEIGHT : 1 : LONELY_WEIGHT,
    }));
    place(row, placeRow(row, wishes, width));
  };
  for (const row of rows) place(row, packRow(row));
  for (let sweep = 0; sweep < PLACE_SWEEPS; sweep++) {
    for (const row of rows.slice(1)) move(row, above);
    for (const row of rows.slice(0, -1).reverse()) move(row, below);
  }
  return columns;
}

/** A line that stays straight is easier to follow. */
const LANE_WEIGHT = 4;
const LONELY_WEIGHT = 0.01;

/** The mean column of its neighbours, or its own. */
function meanOf(
  item: Item,
  neighbours: Neighbours["above"],
  places: ReadonlyMap<Item, number>,
): number {
  const others = neighbours.get(item);
  if (!others) return places.get(item)!;
  let sum = 0;
  for (const other of others) sum += places.get(other)!;
  return sum / others.length;
}

/** The neighbours of each item in the rows above and below. */
interface Neighbours {
  readonly above: ReadonlyMap<Item, readonly Item[]>;
  readonly below: ReadonlyMap<Item, readonly Item[]>;
}

/** Finds the neighbours of all items of a sheet. */
function findNeighbours({ links }: Sheet): Neighbours {
  const above = new Map<Item, Item[]>();
  const below = new Map<Item, Item[]>();
  const add = (map: Map<Item, Item[]>, item: Item, others: readonly Item[]) => {
    const list = map.get(item);
    if (list) list.push(...others);
    else map.set(item, [...others]);
  };
  for (const { tops, bottoms } of links.flat()) {
    for (const item of bottoms) add(above, item, tops);
    for (const item of tops) add(below, item, bottoms);
  }
  return { above, below };
}
