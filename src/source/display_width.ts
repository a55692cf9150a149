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

/** What Unicode calls wide or full width, in ranges that no other assigned character lies in. */
const WIDE = new RegExp(
  "^(?:" + [
    String.raw`(?![\u{1f1e6}-\u{1f1ff}])\p{Emoji_Presentation}`, // Two letters make one flag.
    String.raw`[\u1100-\u115f\ua960-\ua97c\uac00-\ud7a3]`, // Hangul
    String.raw`[\u2e80-\u303e\u3041-\u3247\u3250-\ua4c6\uf900-\ufaff]`, // kana, Han and Yi
    String.raw`[\u2329\u232a\u2630-\u2637\u268a-\u268f]`, // brackets and trigrams
    String.raw`[\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6]`, // forms for vertical text
    String.raw`[\u{16fe0}-\u{191ff}\u{1aff0}-\u{1b2fb}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}]`,
    String.raw`[\u{20000}-\u{3fffd}]`, // the rarer Han
  ].join("|") + ")$",
  "u",
);

function characterWidth(character: string): number {
  if (PLAIN.test(character)) return 1;
  if (NONE.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}
