/**
 * Lines that belong together: every one of the sources is needed by every one of the targets, so
 * that it does not matter which way along them somebody reads. Jobs go by their index.
 */
export interface Bundle {
  readonly sources: readonly number[];
  readonly targets: readonly number[];
}

/** Something that takes room in a row: the box of a job, or a line on its way past the row. */
export type Item = Box | Lane;

export interface Box {
  readonly kind: "box";
  readonly job: number;
  readonly width: number;
}

export interface Lane {
  readonly kind: "lane";
  readonly bundle: number;
  /** One column is for the line; the other one lets it step aside. */
  readonly width: 2;
}

/** The connection of a bundle from one row to the next. */
export interface SheetLink {
  readonly bundle: number;
  readonly tops: readonly Item[];
  readonly bottoms: readonly Item[];
}

/** The items of each row, from left to right, and the bundles between neighbouring rows. */
export interface Sheet {
  readonly rows: readonly (readonly Item[])[];
  /** One list fewer than there are rows. */
  readonly links: readonly (readonly SheetLink[])[];
}

/** The left column of each item. */
export type Columns = ReadonlyMap<Item, number>;

/** Blank columns between two neighbours. */
export function gapBetween(left: Item, right: Item): number {
  return left.kind === "box" && right.kind === "box" ? 2 : 1;
}

/** The column in the middle of an item; that of a lane is the one that its line prefers. */
export function middleOf({ kind, width }: Item): number {
  return kind === "lane" ? 0 : (width - 1) / 2;
}
