import type { Expression } from "../../expr/expression.ts";
import type { Path } from "../../base/source.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { CheckedStep } from "./check_model.ts";

/** The expressions that decide by the result of a step, with their places. */
export function* conditionsOf({ draft }: CheckedStep): Iterable<readonly [Path, Expression]> {
  const { path, test = [], retry, iteration } = draft;
  for (const assertion of test) {
    yield [assertionPath([...path, "test"], assertion), assertion.expression];
  }
  if (retry?.until) yield [[...path, "retry", "until"], retry.until];
  if (retry?.stop) yield [[...path, "retry", "stop"], retry.stop];
  if (iteration?.kind === "loop") yield [[...path, "iteration", "until"], iteration.until];
}
