import type { Condition, Dict, LateContext, Value } from "../../action/action.ts";
import type { StepError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import { parseData, parseExpression } from "../../expr/parse_expression.ts";
import { faultsOf } from "../../action/run_resources.ts";
import { renderData } from "../../expr/template.ts";
import { joinedParts } from "../../expr/parse/tree.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import type { StepExecution } from "../run_state.ts";
import { FieldError, inField, isTrue } from "./evaluate_field.ts";

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

/** What a step that stays open needs after it is done. */
export function lateContext(step: StepExecution): LateContext {
  return {
    readTemplates: (path, value) => readTemplates(step, path, value),
    failRun: (error) => failRun(step, error),
  };
}

/** Reads the templates of a value at a path in `with`, which see further names. */
function readTemplates(
  step: StepExecution,
  path: Path,
  value: Value,
): (names: Dict) => Value {
  const { names, ...scope } = step.scope;
  const { template } = parseData(value);
  return (added) =>
    inField(
      ["with", ...path],
      () => renderData(template, { ...scope, names: { ...names, ...added } }),
    ) as Value;
}

/** Fails the run by a mistake of a step that is done. */
async function failRun(step: StepExecution, error: unknown): Promise<void> {
  const { run } = step;
  const inStep = error instanceof FieldError ? error : new FieldError(["with"], error);
  const { message, hint, place } = await run.failureOf(step, inStep);
  const where = place ? `${place.file}:${place.line}:${place.column}: ` : "";
  const text = `${where}${message}${hint === undefined ? "" : `: ${hint}`}`;
  const faults = faultsOf(run.resources);
  if (faults.includes(text)) return;
  faults.push(text);
  run.note("warning", text, step);
}

/** Whether a condition is true, and not false or an error. */
export function isSurelyTrue(condition: Expression, scope: Scope): boolean {
  try {
    return condition.evaluate(scope) === true;
  } catch {
    return false;
  }
}
