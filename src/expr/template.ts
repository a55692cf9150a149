import { formatValue } from "../base/value/format_value.ts";
import type { Value } from "../base/value/value.ts";
import type { Node } from "./parse/ast.ts";
import { childrenOf } from "./parse/tree.ts";
import { evaluateNode, evaluateResult } from "./evaluate/evaluate.ts";
import { Evaluation } from "./evaluate/evaluation.ts";
import { ExpressionError } from "../base/errors.ts";
import type { DataTemplate, ParsedTemplate, RenderOptions, Scope, Template } from "./expression.ts";
import { LIMITS, limitValue } from "./limits.ts";
import { locateFault } from "./evaluate/locate_fault.ts";
import { PlainError } from "./plain_error.ts";
import { neededIn } from "./references.ts";
import type { Path } from "../base/source.ts";

/** The value of a template that is one expression, whatever its type. */
export function renderOnly(
  only: Node,
  source: string,
  scope: Scope,
  { nilOmits }: RenderOptions = {},
): Value {
  const run = new Evaluation(scope);
  const value = evaluateResult(only, run, source);
  if (value === null && nilOmits !== undefined) throw nilError(only, run, source, nilOmits);
  return value;
}

/** A template as text. nil in it would leave a gap, and is an error. */
export function renderText(
  template: ParsedTemplate,
  scope: Scope,
  { display = false, nilOmits }: RenderOptions = {},
): string {
  const [first] = template.parts;
  if (template.parts.length === 1 && typeof first === "string") return first;
  const run = new Evaluation(scope);
  let text = "";
  for (const part of template.parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = evaluateNode(part, run, template.source);
    if (value === null && !display) throw nilError(part, run, template.source, nilOmits);
    text += formatPart(value, part, run, template.source);
    if (text.length > LIMITS.text + template.source.length) {
      throw new ExpressionError(
        `this makes a text longer than ${LIMITS.text} characters`,
        part.start,
        part.end,
      );
    }
  }
  return text;
}

function formatPart(value: Value, part: Node, run: Evaluation, source: string): string {
  try {
    limitValue(value, part);
    return formatValue(value);
  } catch (error) {
    run.at = part;
    throw locateFault(error, run, source, part);
  }
}

/** Only short parts of names and keys are quoted in a message. */
const SHORT_READ = /^[\w.?[\]"'`-]{1,60}$/;

function nilError(
  part: Node,
  run: Evaluation,
  source: string,
  nilOmits: string | undefined,
): ExpressionError {
  const read = source.slice(part.start, part.end);
  const what = SHORT_READ.test(read) ? read : "this";
  const [harm, meant] = nilOmits === undefined
    ? ["would leave a gap in the text", 'if that is right, add ?? ""']
    : [`${nilOmits} would be left out`, "if that is right, add ?? nil"];
  const mistake = { kind: "nil", part, run, source, meant } as const;
  const message = `${what} is nil, and ${harm}`;
  return new PlainError(message, part, meant, mistake, { reads: neededIn(part) });
}

/** The parts of a template that `??` replaces by a default, as written. */
export function nilDefaults({ parts, source }: ParsedTemplate, scope: Scope): readonly string[] {
  const find = (node: Node): string[] => {
    // A predicate reads other values for each item.
    if (node.type === "Predicate") return [];
    const inside = childrenOf(node).flatMap(find);
    if (node.type !== "LogicalExpression" || node.operator !== "??") return inside;
    const { left } = node;
    const isNil = evaluateNode(left, new Evaluation(scope), source) === null;
    return isNil ? [source.slice(left.start, left.end), ...inside] : inside;
  };
  return parts.flatMap((part) => typeof part === "string" ? [] : find(part));
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
