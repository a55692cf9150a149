import type { Value } from "../../base/value/value.ts";
import type { Parsed, Scope } from "../expression.ts";
import { isRead, limitValue } from "../limits.ts";
import type { Node } from "../parse/ast.ts";
import { type Code, compile } from "./compile.ts";
import { Evaluation } from "./evaluation.ts";
import { locateFault } from "./locate_fault.ts";

/** The value of an expression. Throws `ExpressionError` with the location of the error. */
export function evaluate(expression: Parsed, scope: Scope): Value {
  return evaluateResult(expression.node, new Evaluation(scope), expression.source);
}

/** The final value of an evaluation, which is within the limits of size. */
export function evaluateResult(node: Node, run: Evaluation, source: string): Value {
  try {
    const value = codeOf(node)(run);
    if (!isRead(node)) limitValue(value, node);
    return value;
  } catch (error) {
    throw locateFault(error, run, source, node);
  }
}

/** The value of a part of a text, in an evaluation that may have done other parts before. */
export function evaluateNode(node: Node, run: Evaluation, source: string): Value {
  try {
    return codeOf(node)(run);
  } catch (error) {
    throw locateFault(error, run, source, node);
  }
}

const codes = new WeakMap<Node, Code>();

/** The code of a node that is evaluated by itself; it is made once. */
function codeOf(node: Node): Code {
  let code = codes.get(node);
  if (!code) codes.set(node, code = compile(node));
  return code;
}
