import type { RandomSource } from "../expr/draws.ts";
import { renderData } from "../expr/template/template_data.ts";
import { ExpressionError, LoadError } from "../source/errors.ts";
import type { Dict, Value } from "../value/value.ts";
import type { Workflow } from "../workflow/model.ts";

/**
 * Evaluates the top-level `vars`, which see the environment by bare names. Throws LoadError with
 * the place of what cannot be evaluated.
 */
export async function evaluateVars(
  workflow: Workflow,
  environment: Readonly<Record<string, string>>,
  addSecret: (value: Value) => void,
  random: RandomSource,
): Promise<Dict> {
  try {
    const scope = { names: environment, strict: false, addSecret, random };
    return renderData(workflow.vars, scope) as Dict;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const path = ["vars", ...error.path];
    const positions = await workflow.document.positions();
    const source = positions.text(path);
    const hint = unsetHint(source?.text.slice(error.start, error.end), environment) ?? error.hint;
    throw new LoadError(`cannot evaluate "${path.join(".")}" of the workflow`, [{
      severity: "error",
      code: "vars",
      message: error.message,
      span: source ? { source, start: error.start, end: error.end } : positions.locate(path),
      ...(hint === undefined ? {} : { hint }),
    }]);
  }
}

/** An expression that is a single name and nil reads a variable that is not set. */
function unsetHint(
  read: string | undefined,
  environment: Readonly<Record<string, string>>,
): string | undefined {
  if (read === undefined || !/^[A-Za-z_]\w*$/.test(read)) return undefined;
  if (Object.hasOwn(environment, read)) return undefined;
  return `the variable ${read} is not set: set it, or add ?? ""`;
}
