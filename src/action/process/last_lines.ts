const MOST_LINES = 10;
const MOST_CHARACTERS = 2000;

/**
 * The end of an output under its name, in whole lines; undefined where there was none.
 */
export function lastLines(name: string, text: string): string | undefined {
  const lines = text.trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return undefined;
  const shown: string[] = [];
  let left = MOST_CHARACTERS;
  for (const line of lines.slice(-MOST_LINES).reverse()) {
    left -= line.length;
    if (left < 0) break;
    shown.unshift(`  ${line}`);
  }
  if (shown.length === 0) return `${name}: one line of ${lines.at(-1)!.length} characters`;
  const some = shown.length < lines.length ? ` (the last of ${lines.length} lines)` : "";
  return `${name}${some}:\n${shown.join("\n")}`;
}
