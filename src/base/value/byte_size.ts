/** The largest body that is kept in memory, encoded and decoded, unless a step sets another limit. */
export const BODY_LIMIT = 64 * 1024 * 1024;

/** The same for one that is written to a file: an endless one must not fill the disk. */
export const SAVE_LIMIT = 4 * 1024 ** 3;

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/** The bytes in a size such as `200MB`; undefined if it is invalid. */
export function parseSize(text: string): number | undefined {
  const [, number, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(text) ?? [];
  const factor = UNITS[unit.toLowerCase()];
  if (number === undefined || factor === undefined) return undefined;
  const bytes = Math.floor(Number(number) * factor);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** A size for people: `64 MiB`, `200 MB`, `12 bytes`. */
export function formatSize(bytes: number): string {
  for (const [unit, factor] of [["GiB", 1024 ** 3], ["MiB", 1024 ** 2]] as const) {
    if (bytes >= factor && bytes % factor === 0) return `${bytes / factor} ${unit}`;
  }
  for (const [unit, factor] of [["GB", 1000 ** 3], ["MB", 1000 ** 2], ["kB", 1000]] as const) {
    if (bytes >= factor) return `${Number((bytes / factor).toFixed(2))} ${unit}`;
  }
  return `${bytes} bytes`;
}
