import { eastAsianWidth } from "get-east-asian-width";

/** Columns that a text takes on a terminal: wide characters two, combining ones none. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += characterWidth(character);
  return width;
}

/** The longest beginning of a text that fits into that many columns. */
export function cutToWidth(text: string, columns: number): string {
  let offset = 0;
  let width = 0;
  for (const character of text) {
    width += characterWidth(character);
    if (width > columns) break;
    offset += character.length;
  }
  return text.slice(0, offset);
}

const PLAIN = /^[\x20-\x7e]*$/;

/** Marks that sit on the character before them, invisible joiners and controls. */
const NONE = /^[\p{M}\p{Cc}\p{Cf}\u1160-\u11ff]$/u;

function characterWidth(character: string): number {
  if (PLAIN.test(character)) return 1;
  return NONE.test(character) ? 0 : eastAsianWidth(character.codePointAt(0)!);
}
