import type { Dict } from "../../base/value/value.ts";
import type { NameRule } from "../model.ts";

/** The types of the keys of the file format; `Decoded` has the value of each. */
export type FieldType =
  | "text"
  | "integer"
  | "number"
  | "boolean"
  | "template"
  | "expression"
  | "assertions"
  | "duration"
  | "names"
  | "data"
  | "iteration"
  | "rows"
  | "snapshot"
  | "matrix"
  | "types"
  | "outputs"
  | "map"
  | "list";

/** A key of the file format. */
export interface Field {
  readonly type: FieldType;
  /** It must be there and must not be empty. */
  readonly required?: true;
  /** A key that will do instead, where it is required. */
  readonly unless?: string;
  /** A hint where it is required and missing. */
  readonly whenMissing?: (map: Dict) => string | undefined;
  /** The names that expressions in it see. */
  readonly names?: NameRule;
  /** Its value when it is left out. */
  readonly default?: string;
  /** The least value of a number. */
  readonly minimum?: number;
  /** The allowed texts. */
  readonly choices?: readonly string[];
  /** The pattern of a text. */
  readonly pattern?: RegExp;
  /** A description of the required form of the text. */
  readonly form?: string;
  /** The value is the path of a file, relative to the file that has the key; for editors. */
  readonly namesFile?: "any" | "yaml";
  readonly summary: string;
}

/** The keys that one kind of mapping may have. */
export interface FieldTable<F extends Readonly<Record<string, Field>>> {
  /** The kind as messages name it: `a step`. */
  readonly what: string;
  readonly fields: F;
}
