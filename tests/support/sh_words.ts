/** Writes words as a shell has to read them; directories may have quotes in their names. */
export function shWords(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}
