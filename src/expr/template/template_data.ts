import { ExpressionError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import type { DataTemplate, Scope, Template } from "../expression.ts";

/** The data with the values of its templates. An error's `path` leads to the string. */
export function renderData(template: DataTemplate, scope: Scope): unknown {
  return renderPart(template, scope, []);
}

function renderPart(part: DataTemplate, scope: Scope, path: (string | number)[]): unknown {
  switch (part.kind) {
    case "constant":
      return part.value;
    case "template":
      return renderString(part, scope, path);
    case "list":
      return part.items.map((item, index) => renderInner(item, scope, path, index));
    case "map": {
      const map: Record<string, unknown> = Object.create(null);
      for (const [key, field] of part.entries) map[key] = renderInner(field, scope, path, key);
      return map;
    }
  }
}

function renderInner(
  part: DataTemplate,
  scope: Scope,
  path: (string | number)[],
  key: string | number,
): unknown {
  path.push(key);
  const value = renderPart(part, scope, path);
  path.pop();
  return value;
}

function renderString(part: DataString, scope: Scope, path: Path): unknown {
  try {
    return part.template.render(scope, part);
  } catch (error) {
    throw error instanceof ExpressionError ? error.within([...path]) : error;
  }
}

type DataString = Extract<DataTemplate, { kind: "template" }>;

/** A text that has no expression in it, as a template. */
export function plainTemplate(source: string): Template {
  return { source, parts: [source], render: () => source, renderText: () => source };
}

/** Whether a text may be more than itself: it has the beginning of an expression in it. */
export function holdsTemplate(text: string): boolean {
  return text.includes("{{");
}

/** Whether a value is known only once its templates are rendered. */
export function isTemplate(value: unknown): boolean {
  return typeof value === "string" && holdsTemplate(value);
}

/** Whether any text in plain data may be more than itself. Nearly all data is found to be plain. */
export function holdsTemplates(value: unknown): boolean {
  if (typeof value === "string") return holdsTemplate(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsTemplates);
  return Object.values(value).some(holdsTemplates);
}

/** The fields of a mapping by their keys. */
export type Fields = ReadonlyMap<string, DataTemplate>;

/** The fields of a mapping; a missing value may become one. */
export function fieldsOf(template: DataTemplate): Fields | undefined {
  if (template.kind === "map") return new Map(template.entries);
  if (template.kind !== "constant") return undefined;
  const { value } = template;
  if (value === null) return new Map();
  if (typeof value !== "object" || Array.isArray(value)) return undefined;
  const constant = (value: unknown) => ({ kind: "constant", value }) as const;
  return new Map(Object.entries(value!).map(([key, field]) => [key, constant(field)]));
}
