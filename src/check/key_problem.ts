import type { Problem } from "../workflow/problem.ts";
import type { Reading } from "./model.ts";

/** A finding about the key at an index of what is read. */
export function keyProblem(
  { path, keys }: Reading,
  index: number,
  rest: Omit<Problem, "path" | "range" | "part">,
): Problem {
  const { start, end } = keys[index]!;
  return { ...rest, path, range: { start, end } };
}
