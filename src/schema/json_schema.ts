/** The part of JSON Schema (2020-12) that the file format needs. */
export type JsonSchema = boolean | JsonSchemaObject;

/** The keywords in use. */
export interface JsonSchemaObject {
  readonly $schema?: string;
  readonly $id?: string;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly title?: string;
  readonly description?: string;
  readonly type?: JsonType | readonly JsonType[];
  readonly const?: string;
  readonly enum?: readonly (string | number | null)[];
  readonly minProperties?: number;
  readonly minimum?: number;
  readonly pattern?: string;
  /** The message of an editor for a text that does not fit the pattern; not in the standard. */
  readonly patternErrorMessage?: string;
  /** The snippets that an editor offers; not a part of the standard. */
  readonly defaultSnippets?: readonly Snippet[];
  readonly minItems?: number;
  readonly items?: JsonSchema;
  readonly contains?: JsonSchema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly if?: JsonSchema;
  readonly then?: JsonSchema;
  readonly else?: JsonSchema;
}

/** A value with places to fill in, like `$1`. */
export interface Snippet {
  readonly label: string;
  readonly description: string;
  readonly body: unknown;
}

export type JsonType = "null" | "boolean" | "number" | "integer" | "string" | "array" | "object";

/** A description for editors: the summary as a sentence, and the default. */
export function describe(summary: string, standard?: string): string {
  const sentence = summary.charAt(0).toUpperCase() + summary.slice(1).replace(/\.$/, "") + ".";
  return standard === undefined ? sentence : `${sentence} Default: ${standard}.`;
}
