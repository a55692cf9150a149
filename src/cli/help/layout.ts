import { wrapWords } from "../../base/text/display_width.ts";
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

export type TermRows = readonly (readonly [term: string, meaning: string])[];

/** A heading, and terms with their meanings beside them. */
export function section(
  title: string,
  rows: TermRows,
  layout: Layout,
  column = columnOf(rows),
): string[] {
  if (rows.length === 0) return [];
  return ["", layout.bold(`${title}:`), ...rowLines(rows, layout.width, column)];
}

/** Terms with their meanings beside them. */
function rowLines(rows: TermRows, width: number, column = columnOf(rows)): string[] {
  return rows.flatMap(([term, meaning]) =>
    wrapWords(meaning, width - column).map((line, index) =>
      (index === 0 ? `  ${term}` : "").padEnd(column) + line
    )
  );
}

/** Terms with their meanings beside them, or below them where a term is long. */
export function termLines(rows: TermRows, width: number): string[] {
  if (rows.every(([term]) => term.length <= 28)) return rowLines(rows, width);
  return rows.flatMap(([term, meaning]) => [
    ...wrapWords(term, width - 2).map((line) => `  ${line}`),
    ...wrapWords(meaning, width - 6).map((line) => `      ${line}`),
  ]);
}

/** The column where the meanings of terms begin. */
export function columnOf(rows: TermRows): number {
  return Math.max(...rows.map(([term]) => term.length)) + 4;
}
