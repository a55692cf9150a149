import type { Scope } from "../../expr/expression.ts";
import { StepError } from "../../source/errors.ts";
import type { Loop } from "../../workflow/model.ts";
import { evaluateDuration, FieldError, isTrue } from "./evaluate_field.ts";

/** Decides after a pass whether there is another one. Throws where there cannot be one. */
export function endPass(
  { until, max, interval, pass }: Loop & { readonly pass: { isOver: boolean; pause: number } },
  index: number,
  scope: Scope,
): void {
  pass.isOver = isTrue(until, scope, ["iteration", "until"]);
  if (pass.isOver) return;
  pass.pause = evaluateDuration(interval, scope, ["iteration", "interval"]);
  if (index + 1 < max) return;
  const error = new StepError(
    `"until" is still false after ${max === 1 ? "1 pass" : `${max} passes`}`,
    "raise max, or look at what the expression reads",
    { decided: false },
  );
  throw new FieldError(["iteration", "until"], error, until);
}
