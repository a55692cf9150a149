import { LimitError } from "../../base/value/value.ts";
import { Fault } from "../fault.ts";
import { PlainError } from "../plain_error.ts";
import type { Node } from "../parse/ast.ts";
import { childrenOf } from "../parse/tree.ts";
import { neededIn } from "../references.ts";
import type { Evaluation, Missing } from "./evaluation.ts";

/** Turns an error of the evaluation of `root` into an ExpressionError with its location. */
export function locateFault(error: unknown, run: Evaluation, source: string, root: Node): unknown {
  const fault = faultOf(error);
  if (!(fault instanceof Fault)) return error;
  const { message, hint, node = run.at ?? { ...root, start: 0, end: source.length } } = fault;
  const { missing } = run;
  // The absent name is to blame, not the nil that it gave.
  const isAbsent = missing !== undefined && (fault.node ?? run.at) !== undefined &&
    [node, ...childrenOf(node)].some((part) => isOfMissing(part, missing));
  const place = !isAbsent ? node : "within" in missing ? missing.node : missing.at;
  const mistake = { kind: "evaluated", fault, node, run, source, isOfMissing: isAbsent } as const;
  return new PlainError(message, place, hint, mistake, { reads: neededIn(root) });
}

/** Only walking or writing data that is far too large can exhaust the stack, or the length of a text. */
function faultOf(error: unknown): unknown {
  if (error instanceof LimitError) return new Fault("the value is too large");
  if (!(error instanceof RangeError)) return error;
  if (/call stack/.test(error.message)) return new Fault("the data is nested too deeply");
  return /string length/.test(error.message) ? new Fault("the text is too long") : error;
}

/** Whether a missing name or item is the reason why a part is nil. */
export function isOfMissing(part: Node, missing: Missing): boolean {
  const link = bare(part);
  return link === missing.node ||
    link.type === "MemberExpression" && isOfMissing(link.object, missing) ||
    link.type === "LogicalExpression" && isOfMissing(link.right, missing);
}

/** A node without the chain round it. */
function bare(node: Node): Node {
  return node.type === "ChainExpression" ? node.expression : node;
}
