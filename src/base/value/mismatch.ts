import { countOf } from "../text/count_of.ts";
import { formatJson } from "./format_value.ts";
import { stepText, type Value } from "./value.ts";

/** A place where data is not what was expected of it. */
export interface Mismatch {
  /** Keys and indexes, from the outside. */
  readonly path: readonly (string | number)[];
  /** The expectation, as an expression or a description; undefined if nothing was expected. */
  readonly expected: string | undefined;
  /** The value there; undefined where there is none. */
  readonly actual: Value | undefined;
  /** A note about a difference that the two do not show: `3 items, not 2`. */
  readonly note?: string;
}

/** The most places that are shown. */
const MAX_LOCATIONS = 20;

/**
 * The lines of a diff by places: `@` begins the path of a place, `-` what was expected there, and
 * `+` what is there. `mask` masks the secrets in a text, and is given each line as a whole.
 */
export function renderMismatches(
  mismatches: readonly Mismatch[],
  mask: (text: string) => string,
): string[] {
  const lines = mismatches.slice(0, MAX_LOCATIONS).flatMap(({ path, expected, actual, note }) => {
    const location = pathText(path) || "the value itself";
    return [
      `@ ${location}${note === undefined ? "" : `: ${note}`}`,
      ...expected === undefined ? [] : [`- ${expected}`],
      actual === undefined ? "+ (missing)" : `+ ${formatJson(actual)}`,
    ];
  });
  const rest = mismatches.length - MAX_LOCATIONS;
  return [
    ...lines.map((line) => cutLine(mask(line))),
    ...rest > 0 ? [`… (${countOf(rest, "more place")})`] : [],
  ];
}

/** A path as an expression writes it behind a value: `.items[2].price`. */
export function pathText(path: Mismatch["path"]): string {
  return path.map(stepText).join("");
}

const WIDEST = 120;

function cutLine(line: string): string {
  return line.length > WIDEST ? `${line.slice(0, WIDEST - 1).toWellFormed()}…` : line;
}
