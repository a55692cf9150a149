import { plain, readField, type Value } from "../base/value/value.ts";
import { Fault } from "./fault.ts";
import type { Node } from "./parse/ast.ts";

/** Limits of expressions: enough for real ones, and low enough that few can block the program. */
export const LIMITS = {
  /** Characters of one expression. */
  source: 10_000,
  /** Nodes of its tree. */
  nodes: 2_000,
  /** Levels of its tree. */
  depth: 250,
  /** Nodes evaluated, over all turns of all loops; items of operands, and 64 characters, count as one. */
  steps: 10_000_000,
  /** Characters of a text that is made. */
  text: 1_000_000,
  /** Items of a list that is made of numbers or of other lists. */
  items: 1_000_000,
  /** Values in a result, and 16 characters of text as one, written out. */
  size: 10_000_000,
  /** Levels of lists and maps in a result. */
  nesting: 500,
  /** Characters of a regular expression or a path. */
  pattern: 1_000,
} as const;

/**
 * The steps that each part of an argument takes, as `limitValue` counts them: of functions that read
 * all of it, or that take long for each character. Of other arguments only the length counts.
 */
export const COSTS: ReadonlyMap<string, number> = new Map([
  ...("match_json diff_json includes_json diff schema json_path jwt_sign merge string toJSON flatten " +
    "uniq one_of parse_yaml").split(" ").map((name) => [name, 1] as const),
  ...["trim", "split", "splitAfter", "replace"].map((name) => [name, 2] as const),
  ["css", 4],
  ["xpath", 20],
]);

/** Refuses a text before it is made. */
export function limitText(length: number): void {
  if (length <= LIMITS.text) return;
  throw new Fault(`this makes a text longer than ${LIMITS.text} characters`);
}

/** Refuses a list before it is made. */
export function limitItems(length: number): void {
  if (length <= LIMITS.items) return;
  throw new Fault(
    `this makes a list of more than ${LIMITS.items} items`,
    "evaluate a smaller part of the data",
  );
}

/**
 * Refuses a value that nobody could write out, because it holds the same parts again and again or
 * is nested too deeply: forty times `let b = [a, a]` is a small graph and a tree of a trillion values.
 * Gives its size: the values in it, and 16 characters of text as one.
 */
export function limitValue(value: Value, node?: Node): number {
  if (typeof value === "boolean" || typeof value === "number") return 1;
  let size = 0;
  const visit = (value: Value, levels: number): void => {
    size += typeof value === "string" ? 1 + (value.length >> 4) : 1;
    if (size > LIMITS.size) {
      const hint = "it holds the same part again and again; keep it once";
      throw new Fault("the value is too large to be written out", hint, node);
    }
    if (typeof value !== "object" || value === null) return;
    if (levels > LIMITS.nesting) throw new Fault("the data is nested too deeply", undefined, node);
    if (Array.isArray(value)) {
      for (const item of value) visit(plain(item), levels + 1);
    } else {
      for (const key of Object.keys(value)) visit(readField(value, key) ?? null, levels + 1);
    }
  };
  visit(value, 0);
  return size;
}

/**
 * Whether a node only reads by names: `vars.a`, `outputs["log-in"].token`. What it reads
 * from the scope is within the limits, and what it reads of `let` was checked there.
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
