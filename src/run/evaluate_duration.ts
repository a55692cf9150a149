import type { Scope } from "../expr/expression.ts";
import { StepError } from "../source/errors.ts";
import type { Path } from "../source/source.ts";
import { durationProblem, parseDuration } from "../value/duration.ts";
import type { Duration } from "../workflow/model.ts";
import { inField } from "./field_error.ts";

/** The milliseconds under a key; a template that gives no duration is a `StepError`. */
export function evaluateDuration(duration: Duration, scope: Scope, field: Path): number {
  if (duration.kind === "constant") return duration.milliseconds;
  return inField(field, () => {
    const value = duration.template.render(scope);
    const milliseconds = parseDuration(value);
    if (milliseconds !== undefined) return milliseconds;
    throw new StepError(`"${field.at(-1)}" ${durationProblem(value)}`);
  });
}
