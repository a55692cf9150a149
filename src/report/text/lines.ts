import { wrapWords } from "../../base/text/display_width.ts";

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
