import { checkExpression, checkTemplate } from "./check.ts";
import { evaluate } from "./evaluate.ts";
import type { Expression, Template } from "./expression.ts";
import { parseExpression, parseTemplate } from "./parse.ts";
import { loadRegexEngine } from "./regex.ts";
import { renderTemplate as render } from "./render.ts";

export { ExpressionError } from "./expression_error.ts";

// What follows is synchronous, whether or not an expression has a pattern.
await loadRegexEngine();

export interface EvaluateOptions {
  /** Whether an unknown name is an error, as in a step, rather than nil. */
  readonly strict?: boolean;
}

export interface RenderTemplateOptions extends EvaluateOptions {
  /** Whether nil may stand in the text, as `nil`. */
  readonly display?: boolean;
}

/** The value of an expression such as `res.code == 200`. Throws `ExpressionError`. */
export function evaluateExpression(
  source: string,
  context: Record<string, unknown>,
  { strict = false }: EvaluateOptions = {},
): unknown {
  return evaluate(expressionOf(source), { names: context, strict });
}

/** The value of a text with `{{ … }}` in it. Throws `ExpressionError`. */
export function renderTemplate(
  source: string,
  context: Record<string, unknown>,
  { strict = false, display = false }: RenderTemplateOptions = {},
): unknown {
  return render(templateOf(source), { names: context, strict }, { display });
}

const expressionOf = remembered((source): Expression => {
  const expression = parseExpression(source);
  for (const error of checkExpression(expression)) throw error;
  return expression;
});

const templateOf = remembered((source): Template => {
  const template = parseTemplate(source);
  for (const error of checkTemplate(template)) throw error;
  return template;
});

const MOST_REMEMBERED = 500;
const LONGEST_REMEMBERED = 10_000;

/** Keeps what was made of the sources seen last: reading one takes much longer than using it. */
function remembered<T>(make: (source: string) => T): (source: string) => T {
  const known = new Map<string, T>();
  return (source) => {
    const found = known.get(source);
    if (found !== undefined) return found;
    const made = make(source);
    if (known.size >= MOST_REMEMBERED) known.delete(known.keys().next().value!);
    if (source.length <= LONGEST_REMEMBERED) known.set(source, made);
    return made;
  };
}
