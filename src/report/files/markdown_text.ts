import { printable } from "../../source/printable.ts";
import { cutLine } from "../text/fit_lines.ts";

/**
 * Characters that never begin a link on GitHub, and that are not markup unless escaped. A
 * colon before a space or a line number begins no address and no emoji.
 */
const HARMLESS =
  /^(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic} ,.;?!'"()/{}%=+›…–—<>[\]_*|-]|& |: |:\d+(?![\d:]))*$/u;

/** Characters that are markup unless written as a numeric reference. */
const ESCAPED = /[<>[\]_*|&]/g;

/** Texts that are markup or become a link, although each of their characters is harmless. */
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
