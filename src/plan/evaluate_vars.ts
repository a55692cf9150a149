import type { DataTemplate, Scope } from "../expr/expression.ts";
import { renderData } from "../expr/template.ts";
import { ExpressionError, LoadError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Workflow } from "../workflow/model.ts";

/** The location of `vars`, and the file that they are in. */
interface VarsLocation {
  readonly path: Path;
  readonly document: Workflow["document"];
  readonly owner: "workflow" | "suite";
}

/**
 * Evaluates `vars`, which see the environment by bare names. Throws LoadError with the place of
 * what cannot be evaluated.
 */
export async function evaluateVars(
  vars: DataTemplate,
  { path, document, owner }: VarsLocation,
  environment: Readonly<Record<string, Value>>,
  sources: Pick<Scope, "addSecret" | "random"> = {},
): Promise<Dict> {
  try {
    return renderData(vars, { ...sources, names: environment, strict: false }) as Dict;
  } catch (fault) {
    if (!(fault instanceof ExpressionError)) throw fault;
    const { positionsOf } = await import("../base/yaml/positions.ts");
    const error = (await import("../expr/hints.ts")).explained(fault);
    const at = [...path, ...error.path];
    const positions = positionsOf(document);
    const source = positions.text(at);
    const hint = unsetHint(source?.text.slice(error.start, error.end), environment) ?? error.hint;
    throw new LoadError(`cannot evaluate "${at.join(".")}" of the ${owner}`, [{
      severity: "error",
      code: "vars",
      message: error.message,
      span: source ? { source, start: error.start, end: error.end } : positions.locate(at),
      hint,
    }]);
  }
}

/** An expression that is a single name and nil reads a variable that is not set. */
function unsetHint(
  read: string | undefined,
  environment: Readonly<Record<string, Value>>,
): string | undefined {
  if (read === undefined || !/^[A-Za-z_]\w*$/.test(read)) return undefined;
  if (Object.hasOwn(environment, read)) return undefined;
  return `the variable ${read} is not set: set it, or add ?? ""`;
}

/**
 * The top-level `vars` as far as they can be evaluated: what looks at a workflow without running
 * it may do so where the environment of a run is missing. The others are left out.
 */
export function evaluateKnownVars(
  workflow: Pick<Workflow, "vars">,
  environment: Readonly<Record<string, string>>,
  addSecret: (value: Value) => void = () => {},
): Dict {
  return evaluateKnown(workflow.vars, { names: environment, strict: false, addSecret }) as Dict;
}

/** Data with the values of its templates; entries that cannot be evaluated are omitted. */
export function evaluateKnown(template: DataTemplate, scope: Scope): unknown {
  switch (template.kind) {
    case "constant":
      return template.value;
    case "template":
      try {
        return template.template.render(scope);
      } catch (error) {
        if (error instanceof ExpressionError) return undefined;
        throw error;
      }
    case "list":
      return template.items.map((item) => evaluateKnown(item, scope) ?? null);
    case "map": {
      const map: Record<string, unknown> = Object.create(null);
      for (const [key, field] of template.entries) {
        const value = evaluateKnown(field, scope);
        if (value !== undefined) map[key] = value;
      }
      return map;
    }
  }
}
