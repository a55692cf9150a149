/** Writes words as a shell has to read them; directories may have quotes in their names. */
export function shWords(args: readonly string[]): string {
  return args.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}
