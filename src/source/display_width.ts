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

/** Emoji, and the scripts that Unicode calls wide (its annex 11): those of China, Japan, Korea. */
const WIDE = new RegExp(
  "^[\\p{Emoji_Presentation}\\p{Script=Han}\\p{Script=Hangul}\\p{Script=Hiragana}" +
    "\\p{Script=Katakana}\\p{Script=Bopomofo}\\p{Script=Yi}\\p{Script=Tangut}" +
    "\\u3000-\\u303e\\u3099-\\u30ff\\u3190-\\u33ff\\ufe10-\\ufe19\\ufe30-\\ufe6f" +
    "\\uff01-\\uff60\\uffe0-\\uffe6]$",
  "u",
);

/** Halves of the wide scripts, made to take one column. */
const HALF = /^[\uff61-\uffdc\uffe8-\uffee]$/u;

function characterWidth(character: string): number {
  if (PLAIN.test(character)) return 1;
  if (NONE.test(character)) return 0;
  return WIDE.test(character) && !HALF.test(character) ? 2 : 1;
}
