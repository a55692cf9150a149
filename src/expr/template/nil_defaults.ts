import { evaluateNode } from "../evaluate/evaluate.ts";
import { Evaluation } from "../evaluate/evaluation.ts";
import type { ParsedTemplate, Scope } from "../expression.ts";
import type { Node } from "../parse/ast.ts";
import { childrenOf } from "../parse/tree.ts";

/** The parts of a template in whose place `??` puts a default, as they are written. */
export function nilDefaults({ parts, source }: ParsedTemplate, scope: Scope): readonly string[] {
  const find = (node: Node): string[] => {
    // What a predicate reads differs from item to item.
    if (node.type === "Predicate") return [];
    const inside = childrenOf(node).flatMap(find);
    if (node.type !== "LogicalExpression" || node.operator !== "??") return inside;
    const { left } = node;
    const isNil = evaluateNode(left, new Evaluation(scope), source) === null;
    return isNil ? [source.slice(left.start, left.end), ...inside] : inside;
  };
  return parts.flatMap((part) => typeof part === "string" ? [] : find(part));
}
