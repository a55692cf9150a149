import type { Diagnostic } from "./diagnostic.ts";
import { cutToWidth, displayWidth } from "./display_width.ts";
import { maskPlace } from "./mask_place.ts";
import { printableLine } from "./printable.ts";
import { type Place, placeOf } from "./source.ts";

const LONGEST_LINE = 100;
const LONGEST_MESSAGE = 400;

/** The head line, the line of the file and a caret under the part at fault. */
export function renderDiagnostic(diagnostic: Diagnostic): string {
  return renderMasked(diagnostic, (text) => text);
}

/** The same without secrets: the lines of a file may hold some. */
export function renderMasked(diagnostic: Diagnostic, mask: (text: string) => string): string {
  const { severity, span } = diagnostic;
  const message = oneLine(mask(diagnostic.message));
  const hint = diagnostic.hint && oneLine(mask(diagnostic.hint));
  if (!span) return `${severity}: ${message}${hint ? `\n  ${hint}` : ""}`;
  const place = maskPlace(placeOf(span), mask);
  return `${printableLine(place.file)}:${place.line}:${place.column}: ${severity}: ${message}\n` +
    renderExcerpt(place, hint);
}

/** The line of a place with carets under the marked part, then the hint. */
export function renderExcerpt(place: Place, hint?: string): string {
  const number = String(place.line);
  const gutter = " ".repeat(number.length);
  const before = displayWidth(place.text.slice(0, place.from));
  const skipped = before > LONGEST_LINE * 0.7
    ? cutToWidth(place.text, before - LONGEST_LINE / 2).length
    : 0;
  const shown = (skipped ? "…" : "") + shorten(plain(place.text.slice(skipped)));
  const indent = (skipped ? 1 : 0) + displayWidth(plain(place.text.slice(skipped, place.from)));
  const marked = displayWidth(plain(place.text.slice(place.from, place.to)));
  const carets = "^".repeat(Math.max(1, Math.min(marked, LONGEST_LINE - indent)));
  return `  ${number} | ${shown}\n  ${gutter} | ${" ".repeat(indent)}${carets}${
    hint ? ` ${hint}` : ""
  }`;
}

/** What a message quotes may be of any length, and over several lines. */
function oneLine(text: string): string {
  const line = plain(text.replaceAll("\n", " "));
  return line.length <= LONGEST_MESSAGE ? line : line.slice(0, LONGEST_MESSAGE) + "…";
}

/** Tabs take one column here, so that the caret stays under its text; controls are shown. */
function plain(text: string): string {
  return printableLine(text.replaceAll("\t", " "));
}

function shorten(text: string): string {
  return displayWidth(text) <= LONGEST_LINE ? text : cutToWidth(text, LONGEST_LINE) + "…";
}
