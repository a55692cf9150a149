/** A word for sh, in quotes where it needs them. */
export function shellWord(word: string): string {
  return /^[\w./=:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
