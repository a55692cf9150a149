import type { Exchange, MessageView } from "../../run/event.ts";
import { KEPT_FROM_THE_END } from "../../secrets/bound_value.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { fittingJson, renderJson } from "../../base/value/render_json.ts";
import { type Dict, isDict, isNumber, type Value } from "../../base/value/value.ts";
import { indentLines } from "./lines.ts";
import type { Style } from "../reporter.ts";
import { cutLine, displayWidth, wrapLine } from "../../base/text/display_width.ts";

/** The width of the lines of a request or response, and the maximum number for each field. */
export interface ExchangeBounds {
  readonly columns: number;
  readonly lines: number;
  /** Whether a long command is broken between its words. */
  readonly wraps?: boolean;
}

/** Longer texts are not worth a guess whether they are JSON. */
const LONGEST_JSON = 1_000_000;

/** Request and response for people: fields by name, bodies as blocks. */
export function renderExchange(
  { req, res, view, command }: Exchange,
  style: Style,
  bounds: ExchangeBounds,
): string[] {
  const parts = [
    ["request:", messageLines(req, view?.request, bounds)],
    ["response:", messageLines(res, view?.response, bounds)],
    // It is there to be copied: no word of it is cut.
    ["reproduce with:", command === undefined ? [] : commandLines(command, bounds)],
  ] as const;
  return parts.flatMap(([label, lines]) =>
    lines.length === 0 ? [] : [style.blue(label), ...indentLines(lines, 2)]
  );
}

/** The words of a command for a shell, options with their values; ends of lines, and spaces. */
const COMMAND_PARTS =
  /(?:--?[\w-]+ (?=[^\s\\-]))?(?:[^\s'"\\]|\\[^\n]|'[^']*'|"(?:[^"\\]|\\.)*")+| \\\n *| /gs;

/** The lines of a command, which go on in more lines where they are too wide. */
function commandLines(command: string, { columns, wraps }: ExchangeBounds): string[] {
  const parts = command.match(COMMAND_PARTS) ?? [];
  // What this does not understand stays as it is.
  if (!wraps || parts.join("") !== command) return command.split("\n");
  let line = "";
  let text = "";
  for (const part of parts) {
    if (part.startsWith(" \\\n")) {
      text += `${line}${part}`;
      line = "";
    } else if (part !== " " && displayWidth(line + part) + 4 > columns && line.trim() !== "") {
      text += `${line.trimEnd()} \\\n    `;
      line = part;
    } else {
      line += part;
    }
  }
  return (text + line).split("\n");
}

/** An exchange without what is nearly always the same; `-v` shows it all. */
export function withoutMinor(exchange: Exchange): Exchange {
  const { req, res, view } = exchange;
  return {
    ...exchange,
    req: (view?.request?.minor ?? []).reduce(withoutPath, req),
    res: (view?.response?.minor ?? []).reduce(withoutPath, res),
  };
}

function withoutPath(value: Value, [name, ...rest]: readonly string[]): Value {
  if (!isDict(value) || name === undefined || !Object.hasOwn(value, name)) return value;
  const { [name]: field = null, ...others } = value;
  return rest.length === 0 ? others : { ...value, [name]: withoutPath(field, rest) };
}

/** Each field has its bound, so that a long one leaves those after it to be seen. */
function messageLines(
  message: Value,
  { title, covered = [], asJson = [], asTable = [] }: MessageView = {},
  { columns, lines }: ExchangeBounds,
): readonly string[] {
  if (!isDict(message)) {
    return isNothing(message) ? [] : boundLines(renderJson(message, columns), lines);
  }
  const kept = message.truncated === true ? "what max_output kept" : "all";
  const fields = Object.entries(message).filter(([name]) => !covered.includes(name));
  return [
    ...title === undefined ? [] : boundLines(textLines(title, columns), lines),
    ...fields.flatMap(([name, value]) => {
      if (asTable.includes(name) && Array.isArray(value) && value.length > 0) {
        const table = renderTable(value, message.columns, columns - 2);
        return [`${name}:`, ...indentLines(boundLines(table, lines - 1), 2)];
      }
      const field = fieldLines(name, value, columns, asJson.includes(name));
      if (!KEPT_FROM_THE_END.has(name)) return boundLines(field, lines);
      if (field.length <= lines) return field;
      // Shows the tail of a long output.
      const tail = boundFirstLines(valueLines(value, columns), lines - 1, kept);
      return [`${name}:`, ...indentLines(tail, 2)];
    }),
  ];
}

function fieldLines(name: string, value: Value, columns: number, asJson = false): string[] {
  if (isNothing(value)) return [];
  if (!asJson && isFlat(value)) {
    const entries = Object.entries(value).flatMap(([key, item]) => fieldLines(key, item, columns));
    return [`${name}:`, ...indentLines(entries, 2)];
  }
  const [first, ...rest] = valueLines(value, columns);
  if (rest.length === 0 && name.length + 2 + (first?.length ?? 0) <= columns) {
    return [`${name}: ${first}`];
  }
  return [`${name}:`, ...indentLines([first ?? "", ...rest], 2)];
}

function valueLines(value: Value, columns: number): string[] {
  if (typeof value !== "string") return renderJson(value, columns);
  if (value === "") return ['""'];
  const isLikeJson = /^\s*[[{]/.test(value) && value.length <= LONGEST_JSON;
  const data = isLikeJson ? tryParseJson(value) : undefined;
  return data === undefined
    ? textLines(value.replace(/\n$/, ""), columns)
    : renderJson(data, columns);
}

/** A map with nothing in it but single lines, like headers. */
function isFlat(value: Value): value is Dict {
  return isDict(value) &&
    Object.values(value).every((item) => typeof item !== "object" || item === null);
}

function isNothing(value: Value): boolean {
  return value === null || typeof value === "object" && fittingJson(value, 2) !== undefined;
}

/** A cell is no wider than this. */
const WIDEST_CELL = 40;

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
  const valuesOf = (row: Value): readonly (Value | undefined)[] | undefined => {
    if (Array.isArray(row)) return row;
    return isDict(row)
      ? head.map((name) => Object.hasOwn(row, name) ? row[name] : undefined)
      : undefined;
  };
  const body = rows.map((row) => valuesOf(row) ?? String(row));
  const lines = [head, ...body.filter((row) => typeof row !== "string")];
  const layout = head.map((_, index) => {
    const values = lines.map((row) => row[index]);
    const width = Math.max(...values.map((value) => displayWidth(cellOf(value))));
    const isNumeric = values.slice(1).every((value) =>
      value === null || value === undefined || isNumber(value)
    );
    return { width: Math.min(WIDEST_CELL, width), isNumeric };
  });
  const lineOf = (row: readonly (Value | undefined)[]) =>
    layout.map(({ width, isNumeric }, index) => {
      const cell = cutLine(cellOf(row[index]), width);
      const space = " ".repeat(width - displayWidth(cell));
      return isNumeric ? space + cell : cell + space;
    }).join(" | ").trimEnd();
  return [
    lineOf(head),
    layout.map(({ width }) => "-".repeat(width)).join("-+-"),
    ...body.map((row) => typeof row === "string" ? row : lineOf(row)),
  ].map((text) => cutLine(text, columns));
}

function headOf(rows: readonly Value[], names: Value | undefined): string[] {
  if (Array.isArray(names)) return names.map(cellOf);
  const [first] = rows;
  if (Array.isArray(first)) return first.map((_, index) => `${index + 1}`);
  return [...new Set(rows.flatMap((row) => isDict(row) ? Object.keys(row) : []))];
}

function cellOf(value: Value | undefined): string {
  if (value === undefined) return "";
  if (value === null) return "nil";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  // deno-lint-ignore no-control-regex
  return text.replace(/[\n\r\t\x00-\x1f]+/g, " ");
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
