import { ExpressionError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import { evaluate } from "./evaluate/evaluate.ts";
import type { DataTemplate, Expression, Scope, Template } from "./expression.ts";
import { Parser } from "./parse/parser.ts";
import type { Node } from "./parse/ast.ts";
import { childrenOf, onlyExpression } from "./parse/tree.ts";
import { renderOnly, renderText } from "./template/render.ts";
import { holdsTemplates } from "./template/template_data.ts";

/** Reads a bare expression. Throws `ExpressionError` at the first mistake of syntax. */
export function parseExpression(source: string): Expression {
  const parsed = { source, node: new Parser(source).parse() };
  return { ...parsed, evaluate: (scope) => evaluate(parsed, scope) };
}

/**
 * Reads a text with `{{ … }}` in it. Braces without an end are text. Throws `ExpressionError` at the
 * first mistake of syntax.
 */
export function parseTemplate(source: string): Template {
  const parsed = { source, parts: new Parser(source).parseTemplate() };
  const only = onlyExpression(parsed);
  const asText: Template["renderText"] = (scope, options) => renderText(parsed, scope, options);
  return {
    ...parsed,
    render: only ? (scope, options) => renderOnly(only, source, scope, options) : asText,
    renderText: asText,
  };
}

/** The text of a template that reads only these names; undefined if it reads more, or calls. */
export function knownText(source: string, names: Scope["names"] = {}): string | undefined {
  try {
    const template = parseTemplate(source);
    if (template.parts.some((part) => typeof part !== "string" && hasCall(part))) return undefined;
    const value = template.render({ names, strict: true });
    return typeof value === "string" ? value : undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function hasCall(node: Node): boolean {
  return node.type === "CallExpression" || childrenOf(node).some(hasCall);
}

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
