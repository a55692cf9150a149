import type { Draws } from "../../expr/draws.ts";
import type { Host } from "../../host/host.ts";

/** Says how the random values of a failed run can be repeated, if there are any. */
export function printSeed({ usedSeed }: Draws, { stderr }: Host): void {
  if (usedSeed === undefined) return;
  const seed = /^[\w.-]+$/.test(usedSeed) ? usedSeed : `'${usedSeed.replaceAll("'", "'\\''")}'`;
  stderr.write(`random values: --seed=${seed} repeats them\n`);
}
