import { plain, readField, type Value } from "../../base/value/value.ts";
import type { Node } from "../parse/ast.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../expression_limits.ts";

/**
 * Refuses a value that holds the same parts so often that nobody could write it out: forty times
 * `let b = [a, a]` is a small graph and a tree of a trillion values.
 */
export function limitSharing(value: Value, node: Node): void {
  if (typeof value !== "object" || value === null) return;
  if (treeSize(value, LIMITS.size) <= LIMITS.size) return;
  if (repeatedSize(value) <= LIMITS.size) return;
  throw new Fault(
    "the value is too large to be written out",
    "it holds the same part again and again; keep it once",
    node,
  );
}

/**
 * Whether a node does nothing but read by names: `vars.a`, `outputs["log-in"].token`. What it reads
 * from the scope is a tree already, whatever its size.
 */
export function isRead(node: Node): boolean {
  switch (node.type) {
    case "Identifier":
      return true;
    case "ChainExpression":
      return isRead(node.expression);
    case "MemberExpression":
      return (!node.computed || node.property.type === "Literal") && isRead(node.object);
    default:
      return false;
  }
}

/** The values in a value and its texts by length, as a tree; counting ends above a limit. */
function treeSize(value: Value, limit: number): number {
  let size = sizeOfText(value);
  for (const part of partsOf(value)) {
    if (size > limit) break;
    size += treeSize(part, limit - size);
  }
  return size;
}

/** The difference in size of a value as a tree and in memory, where a shared part exists once. */
function repeatedSize(value: Value): number {
  const sizes = new Map<Value, number>();
  let distinct = 0;
  const measure = (value: Value): number => {
    const known = sizes.get(value);
    if (known !== undefined) return known;
    let size = sizeOfText(value);
    distinct += size;
    for (const part of partsOf(value)) size += measure(part);
    // Short texts and numbers are equal by chance.
    if (size > 1) sizes.set(value, size);
    return size;
  };
  return measure(value) - distinct;
}

/** A text counts by its length. */
function sizeOfText(value: Value): number {
  return typeof value === "string" ? 1 + (value.length >> 4) : 1;
}

function* partsOf(value: Value): Iterable<Value> {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) yield plain(item);
  } else {
    for (const key of Object.keys(value)) yield readField(value, key) ?? null;
  }
}
