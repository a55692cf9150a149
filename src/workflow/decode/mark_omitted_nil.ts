import type { Action } from "../../action/action.ts";
import type { Node } from "../../expr/parse/ast.ts";
import type { DataTemplate } from "../../expr/expression.ts";
import { onlyExpression } from "../../expr/parse/tree.ts";

/**
 * The parameters of an action that leaves out what is nil, with a guard at each template that
 * could silently leave one out. `open` names those whose fields are left out as well.
 */
export function markOmittedNil(
  data: DataTemplate,
  { parameters = [], alternatives = [] }: Action,
  open: readonly string[],
): DataTemplate {
  if (data.kind !== "map") return data;
  // The action itself reports those that it requires.
  const needed = parameters.filter(({ required }) => required).map(({ name }) => name).concat(
    alternatives.filter(({ required }) => required).flatMap(({ names }) => names),
  );
  return mapEntries(data, (name, value) => {
    if (needed.includes(name)) return value;
    const inside = open.includes(name) ? guardFields(name, value) : value;
    return guard(inside, `"${name}"`);
  });
}

function guardFields(parameter: string, data: DataTemplate): DataTemplate {
  if (data.kind !== "map") return data;
  return mapEntries(data, (name, value) => {
    const what = `"${name}" of "${parameter}"`;
    if (value.kind !== "list") return guard(value, what);
    return { kind: "list", items: value.items.map((item) => guard(item, what)) };
  });
}

type MapTemplate = Extract<DataTemplate, { kind: "map" }>;

function mapEntries(
  { entries }: MapTemplate,
  change: (name: string, value: DataTemplate) => DataTemplate,
): MapTemplate {
  return { kind: "map", entries: entries.map(([name, value]) => [name, change(name, value)]) };
}

function guard(data: DataTemplate, nilOmits: string): DataTemplate {
  if (data.kind !== "template") return data;
  // A text with nil in it is an error anyway.
  const only = onlyExpression(data.template);
  return !only || isNilMeant(only) ? data : { ...data, nilOmits };
}

/** Whether an expression says itself that it may give nil: `a ?? nil`, or `a ? b : nil`. */
function isNilMeant(node: Node): boolean {
  switch (node.type) {
    case "Literal":
      return node.value === null;
    case "LogicalExpression":
      return node.operator === "??" && isNilMeant(node.right);
    case "ConditionalExpression":
      return isNilMeant(node.consequent) || isNilMeant(node.alternate);
    case "LetExpression":
      return isNilMeant(node.body);
    case "SequenceExpression":
      return node.expressions.slice(-1).some(isNilMeant);
    default:
      return false;
  }
}
