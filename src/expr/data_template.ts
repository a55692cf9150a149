import type { Path } from "../source/source.ts";
import type { DataTemplate, Scope, Template } from "./expression.ts";
import { ExpressionError } from "./expression_error.ts";
import { parseTemplate } from "./parse.ts";
import { renderTemplate } from "./render.ts";

/** Reads the strings in plain data as templates. Keys are never templates. */
export function parseData(value: unknown): { template: DataTemplate; errors: ExpressionError[] } {
  const errors: ExpressionError[] = [];
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
    errors.push(withPath(error, path));
    return { kind: "constant", value: text };
  }
}

function isConstant(template: DataTemplate): boolean {
  return template.kind === "constant";
}

/** The data with the values of its templates. An error's `path` leads to the string. */
export function renderData(template: DataTemplate, scope: Scope): unknown {
  return renderPart(template, scope, []);
}

function renderPart(part: DataTemplate, scope: Scope, path: (string | number)[]): unknown {
  switch (part.kind) {
    case "constant":
      return part.value;
    case "template":
      return renderString(part.template, scope, path);
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

function renderString(template: Template, scope: Scope, path: Path): unknown {
  try {
    return renderTemplate(template, scope);
  } catch (error) {
    throw error instanceof ExpressionError ? withPath(error, [...path]) : error;
  }
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

function withPath({ message, start, end, hint }: ExpressionError, path: Path): ExpressionError {
  return new ExpressionError(message, start, end, hint, path);
}
