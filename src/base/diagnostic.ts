import { cutLine, displayWidth, wrapWords } from "./text/display_width.ts";
import { printableLine } from "./text/printable.ts";
import { excerptOf, maskExcerpt, shortenExcerpt, type SourceExcerpt, type Span } from "./source.ts";

/** The severity: an error prevents a workflow from running, a hint may point at correct text. */
export type Severity = "error" | "warning" | "hint";

/** A message about a file: problem, severity, place and hint. */
export interface Diagnostic {
  /** The severity. */
  readonly severity: Severity;
  /** A stable name of the kind, for machines: `unknown-key`. */
  readonly code: string;
  /** The problem. */
  readonly message: string;
  /** A suggestion for a fix. */
  readonly hint?: string;
  /** Where it is. */
  readonly span?: Span;
}

/** Columns for a line of a file without a terminal. */
const LONGEST_LINE = 100;
const SHORTEST_LINE = 8;
const LONGEST_MESSAGE = 400;
/** Characters of a line that are looked at; more than fit into a line of a terminal. */
const WINDOW = 2000;

/** The head line, the line of the file and a caret under the part at fault. */
export function renderDiagnostic(diagnostic: Diagnostic): string {
  return renderMasked(diagnostic, (text) => text);
}

/** The same without secrets, which the lines of a file may hold, and for a terminal's columns. */
export function renderMasked(
  diagnostic: Diagnostic,
  mask: (text: string) => string,
  columns?: number,
): string {
  const { severity, span } = diagnostic;
  const message = shortLine(mask(diagnostic.message));
  const hint = diagnostic.hint && shortLine(mask(diagnostic.hint));
  if (!span) {
    return [
      ...fit(`${severity}: ${message}`, columns),
      ...(hint ? fit(hint, columns, 2) : []),
    ].join("\n");
  }
  const excerpt = maskExcerpt(excerptOf(span), mask);
  const position = `${printableLine(excerpt.file)}:${excerpt.line}:${excerpt.column}`;
  return [
    ...fit(`${position}: ${severity}: ${message}`, columns),
    renderExcerpt(excerpt, hint, columns),
  ].join("\n");
}

/** The line of a place with carets under the marked part, then the hint. */
export function renderExcerpt(excerpt: SourceExcerpt, hint?: string, columns?: number): string {
  const number = String(excerpt.line);
  const margin = `  ${" ".repeat(number.length)} | `;
  const room = columns === undefined
    ? LONGEST_LINE
    : Math.max(SHORTEST_LINE, columns - margin.length);
  const { from, to, ...near } = shortenExcerpt(excerpt, WINDOW);
  const text = plain(near.text);
  const before = displayWidth(text.slice(0, from));
  const skipped = before > room * 0.7 ? cutLine(text, before - Math.floor(room / 2)).length : 0;
  const dots = skipped > 0 ? "…" : "";
  const shown = dots + cutLine(text.slice(skipped), room - dots.length);
  const indent = dots.length + displayWidth(text.slice(skipped, from));
  const marked = displayWidth(text.slice(from, to));
  const carets = " ".repeat(indent) + "^".repeat(Math.max(1, Math.min(marked, room - indent)));
  const fits = !hint || columns === undefined || displayWidth(`${carets} ${hint}`) <= room;
  return [
    `  ${number} | ${shown}`,
    `${margin}${carets}${hint && fits ? ` ${hint}` : ""}`,
    ...(fits ? [] : wrapWords(hint, room).map((line) => margin + line)),
  ].join("\n");
}

function fit(text: string, columns: number | undefined, indent = 0): string[] {
  const lines = columns === undefined
    ? [text]
    : wrapWords(text, Math.max(SHORTEST_LINE, columns - indent));
  return lines.map((line) => " ".repeat(indent) + line);
}

/** Shortens a text to one line, since a message may quote a text of any length. */
function shortLine(text: string): string {
  const line = plain(text.replaceAll("\n", " "));
  return line.length <= LONGEST_MESSAGE ? line : line.slice(0, LONGEST_MESSAGE) + "…";
}

/** Tabs take one column here, so that the caret stays under its text; controls are shown. */
function plain(text: string): string {
  return printableLine(text.replaceAll("\t", " "));
}
