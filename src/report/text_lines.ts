/** A text as one line: what lies around line ends and tabs becomes a space. */
export function oneLine(text: string): string {
  return /[\n\t]/.test(text) ? text.trim().replace(/\s*[\n\t]\s*/g, " ") : text;
}

/** Lines that begin that many columns further right; empty ones stay empty. */
export function indentLines(lines: readonly string[], columns: number): string[] {
  const indent = " ".repeat(columns);
  return lines.map((line) => line === "" ? "" : indent + line);
}

/** `1 job`, `2 jobs`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
