import type { Host } from "../../host/host.ts";
import { loadStyle, type Paint, PLAIN } from "../../report/reporter.ts";
import { usesColour } from "../output_mode.ts";

/** The width of help, and the look of its headings. */
export interface Layout {
  readonly width: number;
  readonly bold: Paint;
}

/** Columns of help that does not go to a terminal. */
const WIDTH = 80;
/** Longer lines are hard to read, however wide the terminal is. */
const MAX_WIDTH = 120;

/** The layout for standard output. */
export async function layoutOf({ env, stdout }: Host, noColor = false): Promise<Layout> {
  const width = stdout.isTerminal ? Math.min(stdout.columns(), MAX_WIDTH) : WIDTH;
  const { bold } = await loadStyle(isColoured());
  return { width, bold };

  function isColoured(): boolean {
    try {
      return usesColour(noColor, env, stdout);
    } catch {
      // Help says what is wrong with the environment, and must not fail because of it.
      return false;
    }
  }
}

/** Help for tests and pipes. */
export const PLAIN_LAYOUT: Layout = { width: WIDTH, bold: PLAIN.bold };

/** Terms with their meanings. */
export type Rows = readonly (readonly [term: string, meaning: string])[];

/** A heading, and terms with their meanings beside them. */
export function section(
  title: string,
  rows: Rows,
  layout: Layout,
  column = columnOf(rows),
): string[] {
  if (rows.length === 0) return [];
  return ["", layout.bold(`${title}:`), ...rowLines(rows, layout.width, column)];
}

/** Terms with their meanings beside them. */
function rowLines(rows: Rows, width: number, column = columnOf(rows)): string[] {
  return rows.flatMap(([term, meaning]) =>
    wrap(meaning, width - column).map((line, index) =>
      (index === 0 ? `  ${term}` : "").padEnd(column) + line
    )
  );
}

/** Terms with their meanings beside them, or below them where a term is long. */
export function termLines(rows: Rows, width: number): string[] {
  if (rows.every(([term]) => term.length <= 28)) return rowLines(rows, width);
  return rows.flatMap(([term, meaning]) => [
    ...wrap(term, width - 2).map((line) => `  ${line}`),
    ...wrap(meaning, width - 6).map((line) => `      ${line}`),
  ]);
}

/** The column where the meanings of terms begin. */
export function columnOf(rows: Rows): number {
  return Math.max(...rows.map(([term]) => term.length)) + 4;
}

/** The lines of a text that is at most that wide, unless a word is longer. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** A line that is at most that wide. */
export function cutLine(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, width - 1).trimEnd()}…`;
}
