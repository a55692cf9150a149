import type { Identifier, Node } from "../../expr/parse/ast.ts";
import { childrenOf } from "../../expr/parse/tree.ts";

/** The names that an expression takes from its scope: not functions, nor what `let` brings in. */
export function freeNames(node: Node): readonly Identifier[] {
  const found: Identifier[] = [];
  collect(node, [], found);
  return found;
}

function collect(node: Node, bound: readonly string[], found: Identifier[]): void {
  if (node.type === "Identifier") {
    if (!bound.includes(node.name)) found.push(node);
  } else if (node.type === "LetExpression") {
    collect(node.init, bound, found);
    collect(node.body, [...bound, node.id.name], found);
  } else {
    for (const child of childrenOf(node)) collect(child, bound, found);
  }
}
