import { cutToWidth, displayWidth } from "../../base/text/display_width.ts";
import { wrapLine, wrapWords } from "../../base/text/wrap_text.ts";
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
  // A text or a list that was cut before says how much of it is left.
  const [, count, isText, inLines] =
    /… \((\d+) more( characters)?(?: in (\d+) lines)?\)/.exec(left.join("\n")) ?? [];
  const also = count === undefined || inLines !== undefined
    ? ""
    : ` and ${count} ${isText === undefined ? "items" : "characters"}`;
  const all = inLines === undefined ? left.length : left.length - 1 + Number(inLines);
  return [...lines.slice(0, most - 1), `… (${all} more lines${also}, -v shows all)`];
}

/** The last lines up to a limit; the first one then says how many are missing and mentions -v. */
export function boundFirstLines(
  lines: readonly string[],
  most: number,
  shown = "all",
): readonly string[] {
  if (lines.length <= most) return lines;
  // Text that was cut before begins with what is missing.
  const [, count = 0, unit] = /^\((\d+) (lines?|characters) before\) …/.exec(lines[0]!) ?? [];
  const left = lines.length - most + 1;
  const all = unit?.startsWith("line")
    ? `${left - 1 + Number(count)} lines`
    : `${left} lines${unit === undefined ? "" : ` and ${count} characters`}`;
  return [`(${all} before, -v shows ${shown}) …`, ...lines.slice(lines.length - most + 1)];
}

/** A sentence in as many lines as it takes. */
export function fitSentence(text: string, { wraps, columns }: Room): string[] {
  return wraps ? wrapWords(text, columns) : [text];
}
