import type { Scope, Template } from "../expr/expression.ts";
import { ExpressionError } from "../source/errors.ts";
import { renderText } from "../expr/template/render.ts";

/**
 * A template as text before anything has run: an expression that cannot be evaluated yet, or that
 * gives nil, stays as it is written.
 */
export function renderKnown({ source, parts }: Template, scope: Scope): string {
  let text = "";
  let from = 0;
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      from += part.length;
      continue;
    }
    const end = source.indexOf("}}", part.end) + "}}".length;
    try {
      text += renderText({ source, parts: [part] }, scope);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      text += source.slice(from, end);
    }
    from = end;
  }
  return text;
}
