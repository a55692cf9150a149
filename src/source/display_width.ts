import { unicodeWidth } from "@std/cli/unicode-width";

/** Columns that a text takes on a terminal: wide characters two, combining ones none. */
export function displayWidth(text: string): number {
  return unicodeWidth(text);
}

/** The longest beginning of a text that fits into that many columns. */
export function cutToWidth(text: string, columns: number): string {
  let offset = 0;
  let width = 0;
  for (const character of text) {
    width += unicodeWidth(character);
    if (width > columns) break;
    offset += character.length;
  }
  return text.slice(0, offset);
}
