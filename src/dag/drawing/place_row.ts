import { gapBetween, type Item } from "./sheet.ts";

/** The preferred column of an item, and its weight. */
export interface PreferredColumn {
  readonly column: number;
  readonly weight: number;
}

/**
 * Gives each item of a row its left column, in their order and without overlap, as near to the
 * wishes as can be (the squares of the distances count). No item ends behind `limit` unless the
 * row as a whole is wider.
 */
export function placeRow(
  row: readonly Item[],
  wishes: readonly PreferredColumn[],
  limit: number,
): readonly number[] {
  const offsets = packRow(row);
  const most = Math.max(0, limit - endOf(row, offsets));
  /** Items without gaps between them, which are shifted together. */
  const groups: { sum: number; weight: number; size: number }[] = [];
  wishes.forEach(({ column, weight }, index) => {
    let group = { sum: (column - offsets[index]!) * weight, weight, size: 1 };
    for (let last = groups.at(-1); last; last = groups.at(-1)) {
      if (last.sum / last.weight <= group.sum / group.weight) break;
      group = {
        sum: last.sum + group.sum,
        weight: last.weight + group.weight,
        size: last.size + group.size,
      };
      groups.pop();
    }
    groups.push(group);
  });
  const shifts = groups.flatMap(({ sum, weight, size }) => {
    const shift = Math.min(most, Math.max(0, Math.round(sum / weight)));
    return Array<number>(size).fill(shift);
  });
  return offsets.map((offset, index) => offset + shifts[index]!);
}

/** The leftmost columns of items. */
export function packRow(row: readonly Item[]): readonly number[] {
  let next = 0;
  return row.map((item, index) => {
    const column = next;
    const right = row[index + 1];
    next += item.width + (right ? gapBetween(item, right) : 0);
    return column;
  });
}

/** The minimum width of a row. */
export function rowWidth(row: readonly Item[]): number {
  return endOf(row, packRow(row));
}

/** The column after the end of a row. */
export function endOf(row: readonly Item[], columns: readonly number[]): number {
  const last = row.length - 1;
  return last < 0 ? 0 : columns[last]! + row[last]!.width;
}
