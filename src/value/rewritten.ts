/** A text of which parts were written in another way, and the way back. */
export interface Rewritten {
  readonly text: string;
  /** Where a range of it stood before; a part that was rewritten counts as a whole. */
  origin(range: Range): Range;
}

/** A part of a text, in UTF-16 offsets; `end` is not part of it. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Rewrites every match of a global pattern; undefined where there is none. */
export function rewrite(
  text: string,
  pattern: RegExp,
  write: (match: string) => string,
): Rewritten | undefined {
  // Thousands of small parts are numbers in lists, since as objects they cost more than all else.
  const lengths: number[] = [];
  const wasAt: number[] = [];
  const isAt: number[] = [];
  let out = "";
  let from = 0;
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const [part] = match;
    const { index } = match;
    out += text.slice(from, index);
    wasAt.push(index);
    isAt.push(out.length);
    lengths.push(part.length);
    out += write(part);
    from = index + part.length;
  }
  if (from === 0) return undefined;
  out += text.slice(from);
  const originOf = (offset: number, isEnd: boolean): number => {
    const at = lastUpTo(isAt, offset);
    if (at < 0) return isEnd ? offset + 1 : offset;
    const start = wasAt[at]!;
    const end = start + lengths[at]!;
    const next = isAt[at]! + write(text.slice(start, end)).length;
    if (offset < next) return isEnd ? end : start;
    return end + offset - next + (isEnd ? 1 : 0);
  };
  return {
    text: out,
    origin: ({ start, end }) => ({ start: originOf(start, false), end: originOf(end - 1, true) }),
  };
}

/** The place of the last number that is not larger, in a list in order; -1 where all are. */
function lastUpTo(sorted: readonly number[], number: number): number {
  let low = -1;
  let high = sorted.length;
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= number) low = middle;
    else high = middle;
  }
  return low;
}
