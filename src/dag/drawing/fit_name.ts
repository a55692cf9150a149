import { cutToWidth, displayWidth } from "../../source/display_width.ts";
import { printableLine } from "../../source/printable.ts";

/** A name as one line without control characters. */
export function nameLine(name: string): string {
  return printableLine(name.trim().replace(/\s*[\r\n\t]\s*/g, " "));
}

/** A text of exactly this width; `…` marks what was cut. */
export function fitText(text: string, columns: number): string {
  const width = displayWidth(text);
  const cut = width <= columns ? text : cutToWidth(text, columns - 1) + "…";
  return cut + " ".repeat(columns - displayWidth(cut));
}

/** The same with the text in the middle. */
export function centreText(text: string, columns: number): string {
  const before = Math.max(0, Math.floor((columns - displayWidth(text)) / 2));
  return " ".repeat(before) + fitText(text, columns - before);
}
