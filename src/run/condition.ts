import type { Expression, Scope } from "../expr/expression.ts";
import { StepError } from "../source/errors.ts";
import { typeName } from "../value/value.ts";
import { inField } from "./field_error.ts";

/** The value of a `test` or `skipif`: exactly true or false, anything else is an error. */
export function isTrue(condition: Expression, scope: Scope, field: string): boolean {
  return inField([field], () => {
    const value = condition.evaluate(scope);
    if (typeof value === "boolean") return value;
    const type = typeName(value);
    throw new StepError(
      `${field} must be true or false, it is ${type}`,
      type === "nil" ? "add ?? false where it may be missing" : "compare it with something",
    );
  });
}
