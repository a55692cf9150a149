import type { AnyNode } from "acorn";

/** The nodes right inside of a node. */
export function* childrenOf(node: AnyNode): Generator<AnyNode> {
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (isNode(child)) yield child;
    }
  }
}

/** A node and all that is inside of it. */
export function* nodesOf(node: AnyNode): Generator<AnyNode> {
  yield node;
  for (const child of childrenOf(node)) yield* nodesOf(child);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === "object" && value !== null && "type" in value &&
    typeof value.type === "string";
}
