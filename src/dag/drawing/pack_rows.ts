import type { Bundle } from "./sheet.ts";

/** The data needed to place a job. */
export interface RowBlock {
  readonly level: number;
  readonly width: number;
}

/**
 * Divides the jobs of each level into rows of at most that width, with the lines that pass
 * them. A row holds one job at least, however wide.
 */
export function packRows(
  blocks: readonly RowBlock[],
  bundles: readonly Bundle[],
  columns: number,
): readonly (readonly number[])[] {
  const incoming: number[][] = blocks.map(() => []);
  const outgoing: number[][] = blocks.map(() => []);
  bundles.forEach(({ sources, targets }, bundle) => {
    for (const job of sources) outgoing[job]!.push(bundle);
    for (const job of targets) incoming[job]!.push(bundle);
  });
  /** Targets of each bundle that have no row yet. */
  const open = bundles.map(({ targets }) => targets.length);
  const begun = new Set<number>();
  let lanes = 0;

  const rows: number[][] = [];
  for (const level of sortLevels(blocks, incoming, bundles)) {
    for (let rest = level; rest.length > 0;) {
      const row: number[] = [];
      let width = -BOX_GAP;
      for (const job of rest) {
        const ended = incoming[job]!.filter((bundle) => open[bundle] === 1).length;
        const wider = width + BOX_GAP + blocks[job]!.width;
        if (row.length > 0 && wider + (lanes - ended) * LANE > columns) break;
        for (const bundle of incoming[job]!) open[bundle]!--;
        width = wider;
        lanes -= ended;
        row.push(job);
      }
      for (const bundle of row.flatMap((job) => outgoing[job]!)) {
        if (begun.has(bundle)) continue;
        begun.add(bundle);
        lanes++;
      }
      rows.push(row);
      rest = rest.slice(row.length);
    }
  }
  return rows;
}

const BOX_GAP = 2;

/** A line with its room to step aside, and the gap to its neighbour. */
const LANE = 3;

/** The jobs of each level: close to their needs, otherwise in the order of the file. */
function sortLevels(
  blocks: readonly RowBlock[],
  incoming: readonly (readonly number[])[],
  bundles: readonly Bundle[],
): readonly (readonly number[])[] {
  const levels: number[][] = [];
  blocks.forEach(({ level }, job) => (levels[level] ??= []).push(job));
  const places = new Map<number, number>();
  return levels.map((jobs) => {
    const wish = new Map(jobs.map((job) => {
      const needs = incoming[job]!.flatMap((bundle) => bundles[bundle]!.sources);
      const sum = needs.reduce((total, need) => total + places.get(need)!, 0);
      return [job, needs.length === 0 ? 0 : sum / needs.length];
    }));
    const sorted = jobs.toSorted((a, b) => wish.get(a)! - wish.get(b)!);
    sorted.forEach((job, index) => places.set(job, (index + 0.5) / sorted.length));
    return sorted;
  });
}
