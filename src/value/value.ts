/** Plain data, as JSON has it: what expressions see and actions return. */
export type Value = null | boolean | number | string | readonly Value[] | Dict;

/** A mapping of plain data. Only own properties count. */
export interface Dict {
  /** The value of a key. */
  readonly [key: string]: Value;
}

/** What the expression language calls the type of a value. */
export type TypeName = "nil" | "bool" | "int" | "float" | "string" | "array" | "map";

/** The type of a value, in the words of the expression language. */
export function typeName(value: unknown): TypeName {
  if (value === null || value === undefined) return "nil";
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "number":
      return Number.isInteger(value) ? "int" : "float";
    case "string":
      return "string";
    default:
      return Array.isArray(value) ? "array" : "map";
  }
}

/** Whether a value is a mapping, not a list. */
export function isDict(value: unknown): value is Dict {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
