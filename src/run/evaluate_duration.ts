import type { Scope } from "../expr/expression.ts";
import { StepError } from "../source/errors.ts";
import { durationProblem, parseDuration } from "../value/duration.ts";
import type { Duration } from "../workflow/model.ts";

/** Milliseconds; a template that does not give a duration is a `StepError`. */
export function evaluateDuration(duration: Duration, scope: Scope): number {
  if (duration.kind === "constant") return duration.milliseconds;
  const value = duration.template.render(scope);
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined) throw new StepError(`${durationProblem(value)}`);
  return milliseconds;
}
