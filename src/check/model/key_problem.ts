import type { Severity } from "../../source/diagnostic.ts";
import type { Problem } from "../../workflow/problem.ts";
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

/** How bad it is that nothing is under the key at an index: a name or an echo shows nil as it is. */
export function severityOfNil({ field, keys, isOpen }: Reading, index: number): Severity {
  const isShown = (field === "name" || field === "echo") && index === keys.length - 1 && !isOpen;
  return isShown ? "warning" : "error";
}
