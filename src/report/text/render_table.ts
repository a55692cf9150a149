import { displayWidth } from "../../base/text/display_width.ts";
import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import { cutLine } from "./fit_lines.ts";

/** A cell is no wider than this. */
const WIDEST = 40;

/**
 * Rows as a table: maps by column, or lists, whose columns are named beside them. A text among the
 * rows is what was left out of them.
 */
export function renderTable(
  rows: readonly Value[],
  names: Value | undefined,
  columns: number,
): string[] {
  const head = headOf(rows, names);
  const body = rows.map((row) =>
    Array.isArray(row)
      ? row.map(cellOf)
      : isDict(row)
      ? head.map((name) => Object.hasOwn(row, name) ? cellOf(row[name]!) : "")
      : undefined
  );
  const lines = [head, ...body.flatMap((cells) => cells ? [cells] : [])];
  const widths = head.map((_, index) =>
    Math.min(WIDEST, Math.max(...lines.map((cells) => displayWidth(cells[index] ?? ""))))
  );
  const areNumbers = head.map((_, index) =>
    rows.every((row) => {
      const value = Array.isArray(row) ? row[index] : isDict(row) ? row[head[index]!] : null;
      return isNumber(value) || value === null || value === undefined;
    })
  );
  const line = (cells: readonly string[]) =>
    widths.map((width, index) => {
      const cell = cutLine(cells[index] ?? "", width);
      const space = " ".repeat(width - displayWidth(cell));
      return areNumbers[index] ? space + cell : cell + space;
    }).join(" | ").trimEnd();
  return [
    line(head),
    widths.map((width) => "-".repeat(width)).join("-+-"),
    ...body.map((cells, index) => cells ? line(cells) : String(rows[index])),
  ].map((text) => cutLine(text, columns));
}

function headOf(rows: readonly Value[], names: Value | undefined): string[] {
  if (Array.isArray(names)) return names.map(cellOf);
  const [first] = rows;
  if (Array.isArray(first)) return first.map((_, index) => `${index + 1}`);
  return [...new Set(rows.flatMap((row) => isDict(row) ? Object.keys(row) : []))];
}

function cellOf(value: Value): string {
  if (value === null) return "nil";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // deno-lint-ignore no-control-regex
  return text.replace(/[\n\r\t\x00-\x1f]+/g, " ");
}
