import type { DataTemplate, Scope } from "../expr/expression.ts";
import { ExpressionError } from "../base/errors.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Workflow } from "../workflow/model.ts";

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
