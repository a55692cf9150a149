import type { Action } from "../action/action.ts";
import type { Node } from "../expr/ast.ts";
import type { DataTemplate, Template } from "../expr/expression.ts";

/**
 * The parameters of an action that leaves out what is nil, with a guard at each template that
 * could leave one out without a word. `open` names those whose fields are left out as well.
 */
export function guardNil(
  data: DataTemplate,
  { parameters = [] }: Action,
  open: readonly string[],
): DataTemplate {
  if (data.kind !== "map") return data;
  // The action itself says more of those that it cannot do without.
  const needed = parameters.filter(({ required }) => required).map(({ name }) => name);
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

function guard(data: DataTemplate, leavesOut: string): DataTemplate {
  if (data.kind !== "template" || isNilMeant(data.template)) return data;
  return { ...data, leavesOut };
}

/** Whether it says itself that it may give nil: `a ?? nil`, or `a ? b : nil`. */
function isNilMeant({ parts }: Template): boolean {
  return parts.some((part) => typeof part !== "string" && mayEndInNil(part));
}

function mayEndInNil(node: Node): boolean {
  switch (node.type) {
    case "Literal":
      return node.value === null;
    case "LogicalExpression":
      return node.operator === "??" && mayEndInNil(node.right);
    case "ConditionalExpression":
      return mayEndInNil(node.consequent) || mayEndInNil(node.alternate);
    case "LetExpression":
      return mayEndInNil(node.body);
    default:
      return false;
  }
}
