import { printable } from "../../source/printable.ts";
import { cutLine } from "../text/fit_lines.ts";

/**
 * What GitHub makes no link of anywhere in a line, and what is no markup but for what is escaped. A
 * colon before a space or a line number begins no address and no emoji.
 */
const HARMLESS =
  /^(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic} ,.;?!'"()/{}%=+›…–—<>[\]_*|-]|& |: |:\d+(?![\d:]))*$/u;

/** What is markup, and not when it is written as a number. */
const ESCAPED = /[<>[\]_*|&]/g;

/** What is markup, or becomes a link, although each of its characters is harmless. */
const MARKUP = /^[-+=]|^\d+[.)]|www\.|\bGH-\d/i;

/**
 * A text that comes from outside, for a line of Markdown, a cell of a table or an element; no more
 * than the beginning of a long one. Where it could become a link it is shown as code, in which
 * GitHub mentions nobody and links to nothing, and with signs that no renderer takes for anything
 * else.
 */
export function markdownText(text: string, columns = 300): string {
  const line = cutLine(printable(text.toWellFormed()).replace(/\s+/g, " ").trim(), columns);
  if (HARMLESS.test(line) && !MARKUP.test(line)) return line.replace(ESCAPED, entity);
  return `<code>${line.replace(/[^\p{L}\p{M}\p{N} ]/gu, entity)}</code>`;
}

function entity(sign: string): string {
  return `&#${sign.codePointAt(0)};`;
}

/** A block of code. */
export function fencedText(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map(([ticks]) => ticks.length);
  const fence = "`".repeat(runs.reduce((most, run) => Math.max(most, run + 1), 3));
  return `${fence}text\n${text}\n${fence}\n\n`;
}
