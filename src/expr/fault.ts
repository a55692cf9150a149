import { typeName, type Value } from "../base/value/value.ts";
import type { Node } from "./parse/ast.ts";

/** A mistake met while evaluating, before its place in the text is known. */
export class Fault extends Error {
  constructor(
    message: string,
    readonly hint?: string,
    /** The node at fault, if it is not the operation under way. */
    readonly node?: Node,
  ) {
    super(message);
  }
}

/** A key was read of nil. */
export class NilOwner extends Fault {}

/** The type of a value as messages name it. */
export function kindOf(value: Value): string {
  const type = typeName(value);
  if (typeof value === "bigint") return "int beyond ±2^53";
  return type === "array" ? "list" : type;
}

const LONGEST_QUOTED = 40;

/** A short text such as a date or a version as messages show it; others may be anything. */
export function quoted(text: string): string {
  const shown = JSON.stringify(text);
  // Masking does not find a secret that is written with escapes.
  const isAsItIs = shown.length === text.length + 2;
  return isAsItIs && text.length <= LONGEST_QUOTED ? shown : "this string";
}
