import { ExpressionError } from "../base/errors.ts";
import type { Value } from "../base/value/value.ts";
import { checkExpression, checkTemplate } from "./check_expression.ts";
import { loadRegexEngine } from "./evaluate/regex.ts";
import { loadAllFunctions } from "./functions/registry.ts";
import { explained } from "./hints.ts";
import { parseExpression, parseTemplate } from "./parse_expression.ts";
import { remember } from "./remember.ts";

export { ExpressionError };

// Evaluation is synchronous from here, also with patterns.
await loadRegexEngine();
await loadAllFunctions();

/** The options for evaluating an expression. */
export interface EvaluateOptions {
  /** Whether an unknown name is an error, as in a step, rather than nil. */
  readonly strict?: boolean;
  /** Takes the values that `secret(…)` is called with. */
  readonly addSecret?: (value: Value) => void;
}

/** The options for rendering a template. */
export interface RenderTemplateOptions extends EvaluateOptions {
  /** Whether nil is written into the text, as `nil`. */
  readonly display?: boolean;
}

/** The value of an expression such as `res.code == 200`. Throws `ExpressionError`. */
export function evaluateExpression(
  source: string,
  context: Record<string, unknown>,
  options?: EvaluateOptions,
): unknown {
  checkArguments(source, context);
  const { strict = false, addSecret } = options ?? {};
  return orExplained(() => expressionOf(source).evaluate({ names: context, strict, addSecret }));
}

/** The value of a text with `{{ … }}` in it. Throws `ExpressionError`. */
export function renderTemplate(
  source: string,
  context: Record<string, unknown>,
  options?: RenderTemplateOptions,
): unknown {
  checkArguments(source, context);
  const { strict = false, display = false, addSecret } = options ?? {};
  return orExplained(() =>
    templateOf(source).render({ names: context, strict, addSecret }, { display })
  );
}

/** What a function returns, or the error that it throws with all that can be said about it. */
function orExplained<T>(evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    throw explained(error);
  }
}

/** Callers in JavaScript may pass other types. */
function checkArguments(source: unknown, context: unknown): void {
  if (typeof source !== "string") throw new ExpressionError("the source must be a string", 0, 0);
  if (typeof context !== "object" || context === null) {
    throw new ExpressionError("the context must be an object", 0, source.length);
  }
}

/** Reading an expression takes much longer than using it. */
const expressionOf = remember((source) => {
  const expression = parseExpression(source);
  for (const error of checkExpression(expression)) throw error;
  return expression;
});

const templateOf = remember((source) => {
  const template = parseTemplate(source);
  for (const error of checkTemplate(template)) throw error;
  return template;
});
