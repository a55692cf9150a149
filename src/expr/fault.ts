import { typeName, type Value } from "../value/value.ts";
import type { Node } from "./parse/ast.ts";

/** A mistake met while evaluating, before its place in the text is known. */
export class Fault extends Error {
  constructor(
    message: string,
    readonly hint?: string,
    /** The node at fault, where it is not the operation under way. */
    readonly node?: Node,
  ) {
    super(message);
  }
}

/** The type of a value as messages name it. */
export function kindOf(value: Value): string {
  const type = typeName(value);
  return type === "array" ? "list" : type;
}
