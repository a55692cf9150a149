import type { Node } from "./ast.ts";
import { evaluate } from "../evaluate/evaluate.ts";
import { explain } from "../evaluate/explain.ts";
import type { Expression, Template } from "../expression.ts";
import { Parser } from "./parser.ts";
import { renderTemplate, renderText } from "../template/render.ts";

/** Reads a bare expression. Throws `ExpressionError` at the first mistake of syntax. */
export function parseExpression(source: string): Expression {
  const parsed = { source, node: new Parser(source).parse() };
  return {
    ...parsed,
    evaluate: (scope) => evaluate(parsed, scope),
    explain: (scope, outcome) => explain(parsed, scope, outcome),
  };
}

/**
 * Reads a text with `{{ … }}` in it. The grammar of the expressions decides where each one ends,
 * so that braces and strings inside it cause no problem. Braces without an end are text.
 */
export function parseTemplate(source: string): Template {
  const parts: (string | Node)[] = [];
  let from = 0;
  let parser: Parser | undefined;
  for (let open = nextBraces(source, 0); open >= 0; open = nextBraces(source, from)) {
    if (open > from) parts.push(source.slice(from, open));
    parser ??= new Parser(source);
    const [node, end] = parser.parseBraces(open);
    parts.push(node);
    from = end;
  }
  if (from < source.length || parts.length === 0) parts.push(source.slice(from));
  const parsed = { source, parts };
  return {
    ...parsed,
    render: (scope, options) => renderTemplate(parsed, scope, options),
    renderText: (scope, options) => renderText(parsed, scope, options),
  };
}

/** The offset of the next `{{` that has a `}}` after it, or -1. */
function nextBraces(source: string, from: number): number {
  const open = source.indexOf("{{", from);
  return open >= 0 && source.indexOf("}}", open + 2) >= 0 ? open : -1;
}
