import type { Severity } from "../source/diagnostic.ts";
import { didYouMean } from "../source/suggest.ts";
import type { Problem } from "../workflow/problem.ts";
import type { CheckModel, Reading } from "./model/check_model.ts";

/** One thing that static analysis looks for: a record in the list of checks. */
export interface Check {
  /** The codes that it reports, for the documentation. */
  readonly codes: readonly CheckCode[];
  readonly find: (model: CheckModel) => Iterable<Problem>;
}

/** A kind of finding, by its stable name. */
export interface CheckCode {
  readonly code: string;
  readonly severity: Problem["severity"];
  readonly summary: string;
}

/** A finding about the key at an index of what is read. */
export function keyProblem(
  { path, keys }: Reading,
  index: number,
  rest: Omit<Problem, "path" | "range" | "part">,
): Problem {
  const { start, end } = keys[index]!;
  return { ...rest, path, range: { start, end } };
}

/** The severity of a missing value under the key at an index: a name or an echo may show nil. */
export function severityOfNil({ field, keys, isOpen }: Reading, index: number): Severity {
  const isShown = (field === "name" || field === "echo") && index === keys.length - 1 && !isOpen;
  return isShown ? "warning" : "error";
}

/** Finding a suggestion takes time in proportion to the names; more hints than this do not help. */
const MOST_HINTS = 50;
const MOST_NAMES = 5000;

/** Gives what `didYouMean` gives, as often as it is worth it. */
export function hintGiver(): (word: string, names: () => readonly string[]) => string | undefined {
  let left = MOST_HINTS;
  return (word, names) => left-- > 0 ? didYouMean(word, names().slice(0, MOST_NAMES)) : undefined;
}
