/**
 * The library: evaluate expressions and templates as workflows do.
 *
 * @module
 */
export {
  evaluateExpression,
  type EvaluateOptions,
  ExpressionError,
  renderTemplate,
  type RenderTemplateOptions,
} from "./src/expr/evaluate_expression.ts";
