import { ExpressionError } from "../../base/errors.ts";
import type { Path } from "../../base/source.ts";
import type { DataTemplate, Template } from "../expression.ts";
import { parseTemplate } from "./parse.ts";
import { holdsTemplates } from "../template/template_data.ts";

/** Reads the strings in plain data as templates. Keys are never templates. */
export function parseData(value: unknown): { template: DataTemplate; errors: ExpressionError[] } {
  const errors: ExpressionError[] = [];
  if (!holdsTemplates(value)) return { template: { kind: "constant", value }, errors };
  return { template: parsePart(value, [], errors), errors };
}

function parsePart(value: unknown, path: Path, errors: ExpressionError[]): DataTemplate {
  if (typeof value === "string") return parseString(value, path, errors);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => parsePart(item, [...path, index], errors));
    return items.every(isConstant) ? { kind: "constant", value } : { kind: "list", items };
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, field]) =>
      [key, parsePart(field, [...path, key], errors)] as const
    );
    return entries.every(([, field]) => isConstant(field))
      ? { kind: "constant", value }
      : { kind: "map", entries };
  }
  return { kind: "constant", value };
}

function parseString(text: string, path: Path, errors: ExpressionError[]): DataTemplate {
  try {
    const template = parseTemplate(text);
    const isText = template.parts.every((part) => typeof part === "string");
    return isText ? { kind: "constant", value: text } : { kind: "template", template };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    errors.push(error.within(path));
    return { kind: "constant", value: text };
  }
}

function isConstant(template: DataTemplate): boolean {
  return template.kind === "constant";
}

/** Every template in the data, with the path to its string. */
export function* templatesIn(
  data: DataTemplate,
  path: Path = [],
): Generator<{ readonly path: Path; readonly template: Template }> {
  switch (data.kind) {
    case "constant":
      return;
    case "template":
      yield { path, template: data.template };
      return;
    case "list":
      for (const [index, item] of data.items.entries()) yield* templatesIn(item, [...path, index]);
      return;
    case "map":
      for (const [key, field] of data.entries) yield* templatesIn(field, [...path, key]);
  }
}
