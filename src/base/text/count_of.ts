/** `1 job`, `2 jobs`. */
export function countOf(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** A number with its thousands apart: `60,000`. `toLocaleString` needs 20 MB for that. */
export function grouped(number: number): string {
  return String(number).replace(/(?<=^-?\d+)(?=(?:\d{3})+(?:\.|$))/g, ",");
}
