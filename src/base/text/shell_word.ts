/** A word for sh, in quotes where it needs them; one with control characters for bash and zsh. */
export function shellWord(word: string): string {
  if (/^[\w./=:@%+,-]+$/.test(word)) return word;
  if (!/\p{C}/u.test(word)) return quoteForShell(word);
  const escaped = word.replace(/[\\']/g, "\\$&").replace(/\p{C}/gu, (one) => {
    const code = one.codePointAt(0)!.toString(16);
    return code.length < 3 ? `\\x${code.padStart(2, "0")}` : `\\U${code.padStart(8, "0")}`;
  });
  return `$'${escaped}'`;
}

/** A text in single quotes, which no shell changes. */
export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
