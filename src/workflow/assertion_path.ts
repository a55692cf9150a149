import type { Path } from "../base/source.ts";
import type { Assertion } from "./model.ts";

/** Where an assertion is: under its key, or below that in a list. */
export function assertionPath(key: Path, { index }: Pick<Assertion, "index">): Path {
  return index === undefined ? key : [...key, index];
}
