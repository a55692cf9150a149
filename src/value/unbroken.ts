/**
 * A line break in the middle of base64, also as JSON writes it, with the indent of the next line.
 * Who breaks base64 makes long lines; most lines of other texts end in shorter words. What comes
 * before is looked at after the break was found, which is rare.
 */
const BREAK = /(?:\r?\n|(?:\\r)?\\n)(?<=[\w+/-]{16}(?:\r?\n|(?:\\r)?\\n))[ \t]*(?=[\w+/=-])/g;

/** A text whose lines were joined, and the way back. */
export interface Unbroken {
  readonly text: string;
  /** Where the character at an offset stood before. */
  origin(offset: number): number;
}

/** Joins lines that may be pieces of one base64 text; undefined where there are none. */
export function joinBase64(text: string): Unbroken | undefined {
  if (!text.includes("\n") && !text.includes("\\n")) return undefined;
  const pieces: string[] = [];
  /** Where each piece begins, in the joined text and in the text. */
  const joined: number[] = [];
  const origins: number[] = [];
  let length = 0;
  const add = (from: number, to: number) => {
    pieces.push(text.slice(from, to));
    joined.push(length);
    origins.push(from);
    length += to - from;
  };
  let from = 0;
  for (const { index, 0: gap } of text.matchAll(BREAK)) {
    add(from, index);
    from = index + gap.length;
  }
  if (from === 0) return undefined;
  add(from, text.length);
  return {
    text: pieces.join(""),
    origin(offset) {
      let low = 0;
      let high = joined.length;
      while (low + 1 < high) {
        const middle = (low + high) >> 1;
        if (joined[middle]! <= offset) low = middle;
        else high = middle;
      }
      return origins[low]! + offset - joined[low]!;
    },
  };
}
