import { cutToWidth, displayWidth } from "../source/display_width.ts";

/** A text as one line: what lies around line ends and tabs becomes a space. */
export function oneLine(text: string): string {
  return /[\n\t]/.test(text) ? text.trim().replace(/\s*[\n\t]\s*/g, " ") : text;
}

/** A line that is no wider than that, with `…` where some of it was left out. */
export function cutLine(line: string, columns: number): string {
  if (displayWidth(line) <= columns) return line;
  return columns < 1 ? "" : `${cutToWidth(line, columns - 1)}…`;
}

/** The lines of a text, each no wider than that: what is too wide goes on in the next line. */
export function textLines(text: string, columns: number): string[] {
  return text.replaceAll("\t", "    ").split("\n").flatMap((line) => wrapLine(line, columns));
}

/** A line in pieces that are no wider than that. */
export function wrapLine(line: string, columns: number): string[] {
  if (displayWidth(line) <= columns) return [line];
  // Nearly all long lines are ASCII, and need not be measured character by character.
  const isAscii = /^[ -~]*$/.test(line);
  const cut = (text: string) => isAscii ? text.slice(0, columns) : cutToWidth(text, columns);
  const pieces: string[] = [];
  for (let rest = line; rest !== "";) {
    // One character at least, even where none is narrow enough.
    const piece = cut(rest) || String.fromCodePoint(rest.codePointAt(0)!);
    pieces.push(piece);
    rest = rest.slice(piece.length);
  }
  return pieces;
}

/** A sentence in lines that end between words where they can. */
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
    const pieces = wrapLine(word, columns);
    lines.push(...pieces.slice(0, -1));
    line = pieces.at(-1) ?? "";
  }
  return [...lines, line];
}

/** The first so many lines, the last of which then tells how many are missing. */
export function boundLines(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), `… (${lines.length - most + 1} more lines)`];
}

/** Lines that begin that many columns further right; empty ones stay empty. */
export function indentLines(lines: readonly string[], columns: number): string[] {
  const indent = " ".repeat(columns);
  return lines.map((line) => line === "" ? "" : indent + line);
}

/** `1 job`, `2 jobs`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
