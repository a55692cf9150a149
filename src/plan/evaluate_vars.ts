import type { DataTemplate, Scope } from "../expr/expression.ts";
import { renderData } from "../expr/template/template_data.ts";
import { ExpressionError, LoadError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import type { Dict } from "../base/value/value.ts";
import type { Workflow } from "../workflow/model.ts";

/** The place of `vars`, and the file that they are in. */
interface VarsPlace {
  readonly path: Path;
  readonly document: Pick<Workflow["document"], "positions">;
  readonly owner: "workflow" | "suite";
}

/**
 * Evaluates `vars`, which see the environment by bare names. Throws LoadError with the place of
 * what cannot be evaluated.
 */
export async function evaluateVars(
  vars: DataTemplate,
  { path, document, owner }: VarsPlace,
  environment: Readonly<Record<string, string>>,
  given: Pick<Scope, "addSecret" | "random"> = {},
): Promise<Dict> {
  try {
    return renderData(vars, { ...given, names: environment, strict: false }) as Dict;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const at = [...path, ...error.path];
    const positions = await document.positions();
    const source = positions.text(at);
    const hint = unsetHint(source?.text.slice(error.start, error.end), environment) ?? error.hint;
    throw new LoadError(`cannot evaluate "${at.join(".")}" of the ${owner}`, [{
      severity: "error",
      code: "vars",
      message: error.message,
      span: source ? { source, start: error.start, end: error.end } : positions.locate(at),
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
