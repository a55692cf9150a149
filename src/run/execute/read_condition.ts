import type { Condition, Dict } from "../../action/action.ts";
import type { StepError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { parseExpression } from "../../expr/parse_expression.ts";
import { joinedParts } from "../../expr/parse/tree.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import type { StepExecution } from "../run_state.ts";
import { FieldError, isTrue } from "./evaluate_field.ts";

/** Reads a parameter that is a bare expression, for an attempt of a step. */
export function readCondition(step: StepExecution, field: Path, source: string): Condition {
  const { names, ...scope } = step.scope;
  const expression = parseExpression(source);
  const seeing = (added: Dict) => ({ ...scope, names: { ...names, ...added } });
  return Object.assign(
    (added: Dict) => isTrue(expression, seeing(added), field),
    {
      countTrue: (added: Dict) =>
        joinedParts(expression.node).map(({ start, end }) => source.slice(start, end))
          .filter((part) => isSurelyTrue(parseExpression(part), seeing(added))).length,
      untrue(added: Dict, error: StepError) {
        Object.assign(step.names, added);
        return new FieldError(field, error, expression);
      },
    },
  );
}

/** Whether a condition is true, and not false or an error. */
export function isSurelyTrue(condition: Expression, scope: Scope): boolean {
  try {
    return condition.evaluate(scope) === true;
  } catch {
    return false;
  }
}
