import type { Arrangement } from "./arrange.ts";
import type { Net } from "./net.ts";
import { placeRow } from "./place_row.ts";
import { type Arrival, choosePorts, spreadPorts } from "./ports.ts";
import { type Columns, type Item, middleOf, type SheetLink } from "./sheet.ts";

/** The column of everything. */
export interface Settled {
  readonly columns: Columns;
  /** Where lines leave the boxes below; and the line of each lane. */
  readonly exits: ReadonlyMap<Item, readonly number[]>;
  /** The nets to draw between each row and the next. */
  readonly channels: readonly (readonly Net[])[];
  readonly width: number;
}

/** The columns of a bundle by the items at which it ends. */
type Ends = ReadonlyMap<Item, ReadonlyMap<number, number>>;

/**
 * Settles all columns, row by row from the top. Two bundles never share a column between the same
 * rows, not even one above the other, so that lines need not evade each other there.
 */
export function settle({ sheet, columns: wanted, width }: Arrangement): Settled {
  const columns = new Map<Item, number>();
  const exits = new Map<Item, readonly number[]>();
  const channels: Net[][] = [];
  let before: { readonly links: readonly SheetLink[]; readonly ends: Ends } = {
    links: [],
    ends: new Map(),
  };
  sheet.rows.forEach((row, index) => {
    const arriving = linesTo(before.links, before.ends);
    const wishes = row.map((item) => {
      const lines = arriving.get(item)?.flatMap(({ tops }) => tops) ?? [];
      return lines.length === 0
        ? { column: wanted.get(item)!, weight: 0.5 }
        : { column: meanOf(lines) - middleOf(item), weight: item.kind === "lane" ? 4 : 1 };
    });
    placeRow(row, wishes, width).forEach((column, at) => columns.set(row[at]!, column));

    const taken = new Map<number, number>();
    for (const { bundle, tops } of [...arriving.values()].flat()) {
      for (const column of tops) taken.set(column, bundle);
    }
    const entries = new Map(row.map((item) => {
      const room = roomOf(item, columns.get(item)!);
      return [item, choosePorts(arriving.get(item) ?? [], room, taken)] as const;
    }));
    channels.push(before.links.map(({ bundle, tops, bottoms }) => ({
      tops: tops.map((item) => before.ends.get(item)!.get(bundle)!),
      bottoms: bottoms.map((item) => ({
        column: entries.get(item)!.get(bundle)!,
        arrow: item.kind === "box",
      })),
    })));

    const links = sheet.links[index] ?? [];
    const leaving = new Map<Item, number[]>();
    const byTarget = links.map((link) => ({ link, aim: aimOf(link, wanted) }));
    for (const { link: { bundle, tops } } of byTarget.sort((a, b) => a.aim - b.aim)) {
      for (const item of tops) leaving.set(item, [...leaving.get(item) ?? [], bundle]);
    }
    const ends = new Map<Item, ReadonlyMap<number, number>>();
    for (const item of row) {
      const ports = item.kind === "lane"
        ? entries.get(item)!
        : spreadPorts(leaving.get(item) ?? [], item.width, columns.get(item)!);
      ends.set(item, ports);
      exits.set(item, [...ports.values()]);
    }
    before = { links, ends };
  });
  return { columns, exits, channels: channels.slice(1), width };
}

function linesTo(links: readonly SheetLink[], ends: Ends): ReadonlyMap<Item, readonly Arrival[]> {
  const arriving = new Map<Item, Arrival[]>();
  for (const { bundle, tops, bottoms } of links) {
    const arrival = { bundle, tops: tops.map((item) => ends.get(item)!.get(bundle)!) };
    for (const item of bottoms) arriving.set(item, [...arriving.get(item) ?? [], arrival]);
  }
  return arriving;
}

/** The columns at which lines may reach an item, without the corners of a box. */
function roomOf(item: Item, column: number): { readonly from: number; readonly to: number } {
  if (item.kind === "lane") return { from: column, to: column + 1 };
  return { from: column + 1, to: column + item.width - 2 };
}

function aimOf({ bottoms }: SheetLink, columns: Columns): number {
  return meanOf(bottoms.map((item) => columns.get(item)! + middleOf(item)));
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}
