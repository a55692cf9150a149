/** A line of what two values have in common, or of what one of them has alone. */
export interface DiffLine {
  readonly sign: " " | "-" | "+";
  /** What is written only where the line is shown. */
  readonly text: () => string;
  /** What the line is about: `.items[2]`, `line 7`. */
  readonly where: string;
}

/** Lines around each difference that are the same on both sides. */
const CONTEXT = 3;
const MOST_LINES = 60;
const MOST_PLACES = 5;
/** Characters of a line. */
export const WIDEST = 120;

/** Lines that are the same on both sides, without those in the middle that are never shown. */
export function sameLines(count: number, line: (index: number) => DiffLine): DiffLine[] {
  const all = count <= 2 * CONTEXT + 1;
  const indices = all
    ? Array.from({ length: count }, (_, index) => index)
    : [0, 1, 2, 3, count - 3, count - 2, count - 1];
  return indices.map(line);
}

/**
 * The lines that differ with some around them. Above each group of them a line with `@` says where
 * the differences in it are.
 */
export function diffHunks(lines: readonly DiffLine[]): string[] {
  const isNear = new Uint8Array(lines.length);
  lines.forEach(({ sign }, at) => {
    if (sign !== " ") isNear.fill(1, Math.max(0, at - CONTEXT), at + CONTEXT + 1);
  });
  const out: string[] = [];
  for (const [at, { sign, text }] of lines.entries()) {
    if (!isNear[at]) continue;
    if (at === 0 || !isNear[at - 1]) {
      const places = placesIn(lines.slice(at, groupEnd(isNear, at)));
      if (places !== "") out.push(cut(`@ ${places}`));
    }
    out.push(`${sign} ${cut(text())}`);
  }
  if (out.length <= MOST_LINES) return out;
  return [...out.slice(0, MOST_LINES), `… (${out.length - MOST_LINES} more lines)`];
}

function groupEnd(isNear: Uint8Array, start: number): number {
  const end = isNear.indexOf(0, start);
  return end < 0 ? isNear.length : end;
}

/** `.items[2].price, .total`. */
function placesIn(lines: readonly DiffLine[]): string {
  const all = lines.flatMap(({ sign, where }) => sign === " " || where === "" ? [] : where);
  const places = [...new Set(all)];
  const left = places.length - MOST_PLACES;
  return places.slice(0, MOST_PLACES).join(", ") + (left > 0 ? ` and ${left} more` : "");
}

/** A line that is not too long, and does not end within a character of two units. */
function cut(text: string): string {
  if (text.length <= WIDEST) return text;
  return `${text.slice(0, WIDEST - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
