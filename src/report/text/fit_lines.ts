import { cutToWidth, displayWidth } from "../../source/display_width.ts";
import { wrapLine, wrapWords } from "../../source/wrap_text.ts";
import type { Room } from "./text_lines.ts";

/** A line that is no wider than that, with `…` where some of it was left out. */
export function cutLine(line: string, columns: number): string {
  if (displayWidth(line) <= columns) return line;
  return columns < 1 ? "" : `${cutToWidth(line, columns - 1)}…`;
}

/** The lines of a text, each no wider than that: what is too wide goes on in the next line. */
export function textLines(text: string, columns: number): string[] {
  return text.replaceAll("\t", "    ").split("\n").flatMap((line) => wrapLine(line, columns));
}

/** The first lines up to a limit; the last one then says how many are missing. */
export function boundLines(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines;
  const left = lines.slice(most - 1);
  // Text that ends like this was cut before, and the number of lines is unknown.
  const isCut = left.some((line) => /… \(\d+ more(?: characters)?\)/.test(line));
  const count = isCut ? `more than ${left.length}` : `${left.length} more`;
  return [...lines.slice(0, most - 1), `… (${count} lines, -v shows all)`];
}

/** The last lines up to a limit; the first one then says how many are missing and mentions -v. */
export function boundFirstLines(
  lines: readonly string[],
  most: number,
  shown = "all",
): readonly string[] {
  if (lines.length <= most) return lines;
  const [first = ""] = lines;
  // Text that begins like this was cut before, and the number of lines is unknown.
  const [, characters] = /^\((\d+) characters before\) …/.exec(first) ?? [];
  const left = characters === undefined
    ? `${lines.length - most + 1} lines`
    : `more than ${characters} characters`;
  return [`(${left} before, -v shows ${shown}) …`, ...lines.slice(lines.length - most + 1)];
}

/** A sentence in as many lines as it takes. */
export function fitSentence(text: string, { wraps, columns }: Room): string[] {
  return wraps ? wrapWords(text, columns) : [text];
}
