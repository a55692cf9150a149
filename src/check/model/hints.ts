import { didYouMean } from "../../source/suggest.ts";

/** Looking for what was meant takes as long as there are names; more hints than this help nobody. */
const MOST_HINTS = 50;
const MOST_NAMES = 5000;

/** Gives what `didYouMean` gives, as often as it is worth it. */
export function hintGiver(): (word: string, names: () => readonly string[]) => string | undefined {
  let left = MOST_HINTS;
  return (word, names) => left-- > 0 ? didYouMean(word, names().slice(0, MOST_NAMES)) : undefined;
}
