import { cutToWidth, displayWidth } from "./display_width.ts";

/** A line in pieces of at most that width. */
export function wrapLine(line: string, columns: number): string[] {
  if (displayWidth(line) <= columns) return [line];
  // Nearly all long lines are ASCII, and need not be measured character by character.
  const isAscii = /^[ -~]*$/.test(line);
  const cut = (text: string) => isAscii ? text.slice(0, columns) : cutToWidth(text, columns);
  const pieces: string[] = [];
  for (let rest = line; rest !== "";) {
    // At least one character, even if none is narrow enough.
    const piece = cut(rest) || String.fromCodePoint(rest.codePointAt(0)!);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces;
}

/**
 * A sentence in lines that end between words where they can. A URL stays whole, however long,
 * since a terminal can still open and copy one that it has wrapped itself.
 */
export function wrapWords(text: string, columns: number): string[] {
  const spaced = text.replaceAll("\t", "    ");
  if (displayWidth(spaced) <= columns) return [spaced];
  const lines: string[] = [];
  let line = "";
  for (const word of spaced.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (displayWidth(longer) <= columns) {
      line = longer;
      continue;
    }
    if (line !== "") lines.push(line);
    const pieces = URL_LIKE.test(word) ? [word] : wrapLine(word, columns);
    for (const piece of pieces.slice(0, -1)) lines.push(piece);
    line = pieces.at(-1) ?? "";
  }
  return [...lines, line];
}

const URL_LIKE = /[a-z]:\/\/\S/i;
