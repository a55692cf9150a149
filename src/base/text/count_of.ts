/** `1 job`, `2 jobs`. */
export function countOf(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}
