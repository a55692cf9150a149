import type { Bundle, Item, Sheet, SheetLink } from "./sheet.ts";

/** Puts boxes into rows, and a lane into each row that a bundle passes on its way. */
export function makeSheet(
  rows: readonly (readonly number[])[],
  widths: readonly number[],
  bundles: readonly Bundle[],
): Sheet {
  const rowOf = new Map(rows.flatMap((jobs, row) => jobs.map((job) => [job, row] as const)));
  const boxes = widths.map((width, job): Item => ({ kind: "box", job, width }));
  const items = rows.map((jobs): Item[] => jobs.map((job) => boxes[job]!));
  const links: SheetLink[][] = rows.slice(1).map(() => []);
  bundles.forEach(({ sources, targets }, bundle) => {
    const stops = (jobs: readonly number[]) => {
      const byRow = new Map<number, Item[]>();
      for (const job of jobs) {
        const row = rowOf.get(job)!;
        byRow.set(row, [...byRow.get(row) ?? [], boxes[job]!]);
      }
      return byRow;
    };
    const from = stops(sources);
    const to = stops(targets);
    const last = Math.max(...to.keys());
    let lane: Item[] = [];
    for (let row = Math.min(...from.keys()); row < last; row++) {
      const tops = [...lane, ...from.get(row) ?? []];
      lane = row + 1 < last ? [{ kind: "lane", bundle, width: 2 }] : [];
      items[row + 1]!.push(...lane);
      links[row]!.push({ bundle, tops, bottoms: [...lane, ...to.get(row + 1) ?? []] });
    }
  });
  return { rows: items, links };
}
