/** The names that are compared with a word: among more of them many are alike. */
const MAX_NAMES = 1000;

/** The name among `names` that `word` was probably meant to be. */
export function suggest(word: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  // A word that would be replaced entirely is not a misspelling.
  let limit = Math.min(Math.max(1, word.length / 3) + 0.5, word.length);
  let count = 0;
  for (const name of names) {
    if (++count > MAX_NAMES) break;
    if (Math.abs(name.length - word.length) >= limit) continue;
    const edits = distance(word.toLowerCase(), name.toLowerCase());
    if (edits < limit) [best, limit] = [name, edits];
  }
  return best;
}

/** `did you mean "x"?` for the nearest name, or nothing. */
export function didYouMean(word: string, names: Iterable<string>): string | undefined {
  const name = suggest(word, names);
  return name === undefined ? undefined : `did you mean "${name}"?`;
}

/** Edits that turn one word into the other; a swap of neighbours counts as one. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, substituted);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1);
      }
      row.push(cost);
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length]!;
}

/** The first ten names, for a hint that lists them. */
export function firstNames(names: readonly string[]): string {
  return names.slice(0, 10).join(", ") + (names.length > 10 ? ", …" : "");
}
