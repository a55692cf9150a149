/** Longer parts are searched for in a way whose time does not depend on their shape. */
const LONGEST_SIMPLE = 64;

const SURROGATE = /[\ud800-\udfff]/;

/** Whether a text holds a part. */
export function containsText(text: string, part: string): boolean {
  return findText(text, part) >= 0;
}

/** The index of the first occurrence, or -1. */
export function findText(text: string, part: string): number {
  if (part.length <= LONGEST_SIMPLE) return text.indexOf(part);
  return placesOf(text, part).next().value ?? -1;
}

/** The index of the last occurrence, or -1. */
export function findLastText(text: string, part: string): number {
  if (part.length <= LONGEST_SIMPLE) return text.lastIndexOf(part);
  let last = -1;
  for (const place of placesOf(text, part)) last = place;
  return last;
}

/** A text cut at each place of a separator; into characters where that is empty. */
export function splitText(text: string, separator: string): string[] {
  if (separator === "") return [...text];
  if (separator.length <= LONGEST_SIMPLE) return text.split(separator);
  const parts: string[] = [];
  let from = 0;
  for (const place of placesOf(text, separator)) {
    if (place < from) continue; // it overlaps with the one before
    parts.push(text.slice(from, place));
    from = place + separator.length;
  }
  parts.push(text.slice(from));
  return parts;
}

/**
 * Every place of a part, by the method of Knuth, Morris and Pratt: the engine's own search can
 * take the product of both lengths, minutes for texts that an expression is allowed to make.
 */
function* placesOf(text: string, part: string): Generator<number, undefined> {
  /** For each length of a match, the length of the longest shorter match that it ends with. */
  const shorter = new Int32Array(part.length + 1);
  for (let i = 1, length = 0; i < part.length; i++) {
    while (length > 0 && part[i] !== part[length]) length = shorter[length]!;
    if (part[i] === part[length]) length++;
    shorter[i + 1] = length;
  }
  for (let i = 0, length = 0; i < text.length; i++) {
    while (length > 0 && text[i] !== part[length]) length = shorter[length]!;
    if (text[i] === part[length]) length++;
    if (length < part.length) continue;
    yield i - length + 1;
    length = shorter[length]!;
  }
}

/** The number of characters of a text; one outside the basic plane counts as one, not two. */
export function countCharacters(text: string): number {
  return SURROGATE.test(text) ? [...text].length : text.length;
}

/** The characters of a text, as something that can be indexed and sliced. */
export function charactersOf(text: string): string | readonly string[] {
  return SURROGATE.test(text) ? [...text] : text;
}
