import { checkExpression, checkTemplate } from "../check_expression.ts";
import { evaluate } from "./evaluate.ts";
import { ExpressionError } from "../../base/errors.ts";
import type { Value } from "../../base/value/value.ts";
import type { Expression, Template } from "../expression.ts";
import { parseExpression, parseTemplate } from "../parse/parse.ts";
import { loadAllFunctions } from "../functions/registry.ts";
import { loadRegexEngine } from "./regex.ts";
import { renderTemplate as render } from "../template/render.ts";

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
  return guarded(source, context, options, () => {
    const { display: _, ...scope } = { strict: false, display: false, ...options };
    return evaluate(expressionOf(source), { names: context, ...scope });
  });
}

/** The value of a text with `{{ … }}` in it. Throws `ExpressionError`. */
export function renderTemplate(
  source: string,
  context: Record<string, unknown>,
  options?: RenderTemplateOptions,
): unknown {
  return guarded(source, context, options, () => {
    const { strict = false, display = false } = options ?? {};
    return render(templateOf(source), { names: context, strict }, { display });
  });
}

/** Refuses what types cannot keep out, and data that runs code of its own when it is read. */
function guarded(
  source: unknown,
  context: unknown,
  options: unknown,
  act: () => unknown,
): unknown {
  if (typeof source !== "string") throw new ExpressionError("the source must be a string", 0, 0);
  const end = source.length;
  if (typeof context !== "object" || context === null) {
    throw new ExpressionError("the context must be an object", 0, end);
  }
  try {
    return act();
  } catch (error) {
    if (error instanceof ExpressionError || isPlainData(context, options)) throw error;
    throw new ExpressionError("the context cannot be read", 0, end, "pass plain data");
  }
}

/** Whether data can be read; what is thrown although it can is a bug of ours. */
function isPlainData(...data: unknown[]): boolean {
  try {
    JSON.stringify(data);
    return true;
  } catch {
    return false;
  }
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
