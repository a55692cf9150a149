import type { Range } from "./outline.ts";

/** A position in a file as editors count: lines and UTF-16 units from 0. */
export interface EditorPosition {
  readonly line: number;
  readonly character: number;
}

export interface EditorRange {
  readonly start: EditorPosition;
  readonly end: EditorPosition;
}

/** Translates the positions in a text. */
export interface LineIndex {
  offsetAt(position: EditorPosition): number;
  rangeOf(range: Range): EditorRange;
}

export function makeLineIndex(text: string): LineIndex {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const positionAt = (offset: number): EditorPosition => {
    let low = 0;
    let high = starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return { line: low, character: offset - starts[low]! };
  };
  return {
    offsetAt: ({ line, character }) =>
      Math.min(
        (starts[line] ?? text.length) + character,
        (starts[line + 1] ?? text.length + 1) - 1,
      ),
    rangeOf: ({ start, end }) => ({ start: positionAt(start), end: positionAt(end) }),
  };
}
