import { ExpressionError } from "../base/errors.ts";
import type { Expression } from "./expression.ts";
import { parseExpression, parseTemplate } from "./parse_expression.ts";
import { POWER, TOKEN, Tokenizer } from "./parse/tokenizer.ts";

/**
 * A bare expression with one space around each operator between two operands and after each comma,
 * and nowhere more than one. A text that is no expression, or that has several lines, stays as it is.
 */
export function spaceExpression(source: string): string {
  return orUnchanged(source, () => {
    const spaced = spaceTokens(source);
    return shapeOf(parseExpression(spaced)) === shapeOf(parseExpression(source)) ? spaced : source;
  });
}

/** The same for each expression between `{{` and `}}`, which have no spaces inside of them. */
export function spaceTemplate(source: string): string {
  return orUnchanged(source, () => {
    let [spaced, from] = ["", 0];
    for (const part of parseTemplate(source).parts) {
      if (typeof part === "string") continue;
      const start = source.lastIndexOf("{{", part.start) + 2;
      const end = source.indexOf("}}", part.end);
      const inside = spaceExpression(source.slice(start, end).trim());
      // A map would put its brace beside those of the template.
      const pad = inside.startsWith("{") || inside.endsWith("}") ? " " : "";
      spaced += source.slice(from, start) + pad + inside + pad;
      from = end;
    }
    return spaced + source.slice(from);
  });
}

function orUnchanged(source: string, space: () => string): string {
  if (source.includes("\n")) return source;
  try {
    return space();
  } catch (error) {
    if (error instanceof ExpressionError) return source;
    throw error;
  }
}

function spaceTokens(source: string): string {
  const scanner = new Tokenizer(source);
  let [spaced, end, mayBeOperand] = ["", 0, false];
  let isBefore = false;
  for (scanner.nextToken(); scanner.type !== TOKEN.end; scanner.nextToken()) {
    const text = source.slice(scanner.start, scanner.end);
    const isOperator = scanner.type === TOKEN.operator;
    const isBetween = isOperator && mayBeOperand && text !== ".." && POWER.has(text);
    const hasGap = source.slice(end, scanner.start) !== "";
    if (spaced !== "" && (hasGap || isBetween || isBefore)) spaced += " ";
    spaced += text;
    end = scanner.end;
    isBefore = isBetween || scanner.type === TOKEN.comma;
    // After an operand an operator stands between two; after anything else it is a sign.
    mayBeOperand = ENDS_OPERAND.has(scanner.type);
  }
  return spaced;
}

const ENDS_OPERAND: ReadonlySet<unknown> = new Set([
  ...[TOKEN.number, TOKEN.string, TOKEN.name, TOKEN.hash],
  ...[TOKEN.parenClose, TOKEN.bracketClose, TOKEN.braceClose],
]);

/** A tree without its positions. */
function shapeOf({ node }: Expression): string {
  return JSON.stringify(node, (key, value) => key === "start" || key === "end" ? undefined : value);
}
