import { printable } from "../../source/printable.ts";

/**
 * What is no markup anywhere in a line of Markdown or HTML, nor anything that GitHub makes a link
 * of. A colon before a space or a line number begins no address and no emoji.
 */
const HARMLESS =
  /^(?:[\p{L}\p{M}\p{N}\p{Extended_Pictographic} ,.;?!'"()/{}%=+›…–—-]|: |:\d+(?![\d:]))*$/u;

/** What is markup, or becomes a link, although each of its characters is harmless. */
const MARKUP = /^[-+=]|^\d+[.)]|www\.|\bGH-\d/i;

/**
 * A text that comes from outside, for a line of Markdown, a cell of a table or an element. Where it
 * could be markup it is shown as code, in which GitHub mentions nobody and links to nothing, and
 * with signs that no renderer takes for anything else.
 */
export function markdownText(text: string): string {
  const line = printable(text.toWellFormed()).replace(/\s+/g, " ").trim();
  if (HARMLESS.test(line) && !MARKUP.test(line)) return line;
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
