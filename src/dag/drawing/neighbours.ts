import type { Item, Sheet } from "./sheet.ts";

/** The neighbours of each item in the rows above and below. */
export interface Neighbours {
  readonly above: ReadonlyMap<Item, readonly Item[]>;
  readonly below: ReadonlyMap<Item, readonly Item[]>;
}

/** Finds the neighbours of all items of a sheet. */
export function findNeighbours({ links }: Sheet): Neighbours {
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
