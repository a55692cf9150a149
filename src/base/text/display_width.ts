import { eastAsianWidth } from "get-east-asian-width";

/** Columns that a text takes on a terminal: wide characters two, combining ones none. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The longest beginning of a text that fits into that many columns. */
export function cutToWidth(text: string, columns: number): string {
  let offset = 0;
  let width = 0;
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns) break;
    offset += character.length;
  }
  return text.slice(0, offset);
}

const PLAIN = /^[\x20-\x7e]*$/;

/** Marks that sit on the character before them, invisible joiners and controls. */
const NONE = /^[\p{M}\p{Cc}\p{Cf}\u1160-\u11ff]$/u;

function characterWidth(character: string): number {
  if (PLAIN.test(character)) return 1;
  return NONE.test(character) ? 0 : eastAsianWidth(character.codePointAt(0)!);
}

/** A line cut to a width, with `…` if it was wider. */
export function cutLine(line: string, columns: number): string {
  if (displayWidth(line) <= columns) return line;
  return columns < 1 ? "" : `${cutToWidth(line, columns - 1)}…`;
}

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
