import { wrapLine, wrapWords } from "../../base/text/display_width.ts";

/** The maximum width of lines. */
export interface Room {
  readonly columns: number;
  /** Whether a sentence that is wider goes on in the next line. */
  readonly wraps: boolean;
}

/** Output for programs such as grep: a sentence stays in one line. */
export const IN_A_PIPE: Room = { columns: 100, wraps: false };

const MIN_COLUMNS = 12;

/** The room of a terminal of that many columns, or of a pipe. */
export function roomOf(columns: number | undefined): Room {
  return columns === undefined ? IN_A_PIPE : { columns, wraps: true };
}

/** The room that is left for indented lines. */
export function indentedRoom(room: Room, columns: number): Room {
  if (!room.wraps) return room;
  return { ...room, columns: Math.max(MIN_COLUMNS, room.columns - columns) };
}

/** Lines that begin that many columns further right; empty ones stay empty. */
export function indentLines(lines: readonly string[], columns: number): string[] {
  const indent = " ".repeat(columns);
  return lines.map((line) => line === "" ? "" : indent + line);
}

/** Lines as text, each with its end. */
export function asText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** A sentence in as many lines as it takes. */
export function fitSentence(text: string, { wraps, columns }: Room): string[] {
  return wraps ? wrapWords(text, columns) : [text];
}

/** The lines of a text, each no wider than that: what is too wide goes on in the next line. */
export function textLines(text: string, columns: number): string[] {
  return text.replaceAll("\t", "    ").split("\n").flatMap((line) => wrapLine(line, columns));
}

/** The first lines up to a limit; the last one then says how many are missing. */
export function boundLines(lines: readonly string[], limit: number): readonly string[] {
  if (lines.length <= limit) return lines;
  const left = lines.slice(limit - 1);
  // A text or a list that was cut before says how much of it is left.
  const [, count, isText, inLines] =
    /… \((\d+) more( characters)?(?: in (\d+) lines)?\)/.exec(left.join("\n")) ?? [];
  const also = count === undefined || inLines !== undefined
    ? ""
    : ` and ${count} ${isText === undefined ? "items" : "characters"}`;
  const all = inLines === undefined ? left.length : left.length - 1 + Number(inLines);
  return [...lines.slice(0, limit - 1), `… (${all} more lines${also}, -v shows all)`];
}

/** The last lines up to a limit; the first one then says how many are missing and mentions -v. */
export function boundFirstLines(
  lines: readonly string[],
  limit: number,
  shown = "all",
): readonly string[] {
  if (lines.length <= limit) return lines;
  // Text that was cut before begins with what is missing.
  const [, count = 0, unit] = /^\((\d+) (lines?|characters) before\) …/.exec(lines[0]!) ?? [];
  const left = lines.length - limit + 1;
  const all = unit?.startsWith("line")
    ? `${left - 1 + Number(count)} lines`
    : `${left} lines${unit === undefined ? "" : ` and ${count} characters`}`;
  return [`(${all} before, -v shows ${shown}) …`, ...lines.slice(lines.length - limit + 1)];
}
