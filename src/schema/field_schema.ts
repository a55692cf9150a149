import { NUMBER_TEXT } from "../action/parameters.ts";
import { DURATION_TEXT } from "../value/duration.ts";
import { type FieldType, INTEGER_TEXT } from "../workflow/decode/decode_value.ts";
import type { Field } from "../workflow/decode/fields.ts";
import { describe, type JsonSchema, type JsonSchemaObject, type JsonType } from "./json_schema.ts";

/** YAML may read a string as another scalar type, which is accepted. */
const TEXT: readonly JsonType[] = ["string", "number", "boolean"];

const EXPRESSION: JsonSchemaObject = { type: TEXT, pattern: String.raw`\S` };

/** The schema of each key type. `inside` is the schema of a map or of the items of a list. */
const TYPES: { readonly [T in FieldType]: (field: Field, inside: JsonSchema) => JsonSchemaObject } =
  {
    text: ({ pattern, choices }) => ({
      ...choices ? { enum: choices } : { type: TEXT },
      ...pattern ? { pattern: pattern.source } : {},
    }),
    integer: ({ minimum }) => ({
      type: ["integer", "string"],
      ...minimum === undefined ? {} : { minimum },
      pattern: INTEGER_TEXT.source,
    }),
    number: ({ minimum }) => ({
      type: ["number", "string"],
      ...minimum === undefined ? {} : { minimum },
      pattern: NUMBER_TEXT.source,
    }),
    boolean: () => ({ type: "boolean" }),
    template: () => ({ type: TEXT }),
    expression: () => EXPRESSION,
    duration: () => ({
      type: ["string", "number"],
      minimum: 0,
      pattern: String.raw`\{\{[\s\S]*\}\}|${DURATION_TEXT}`,
    }),
    names: () => ({ type: "array", items: { type: TEXT } }),
    data: () => ({ type: "object" }),
    iteration: (_, inside) => ({
      type: inside === true ? ["array", "string"] : ["array", "string", "object"],
      pattern: String.raw`\{\{[\s\S]*\}\}`,
      ...typeof inside === "object" ? { if: { type: "object" }, then: inside } : {},
    }),
    outputs: () => ({ type: "object", additionalProperties: EXPRESSION }),
    map: (_, inside) => typeof inside === "object" ? inside : { type: "object" },
    list: (_, inside) => ({ type: "array", items: inside }),
  };

/** The schema of a key of the file format; `inside` is that of its map or items. */
export function fieldSchema(field: Field, inside: JsonSchema = true): JsonSchema {
  const schema = TYPES[field.type](field, inside);
  const description = describe(field.summary, field.default);
  // A key without a value counts as absent, except that an empty expression is a mistake.
  if (field.required) return { description, ...notEmpty(schema) };
  return { description, ...field.type === "expression" ? schema : orNull(schema) };
}

function notEmpty(schema: JsonSchemaObject): JsonSchemaObject {
  if (schema.type === "array") return { ...schema, minItems: 1 };
  return schema.type === TEXT ? { pattern: String.raw`\S`, ...schema } : schema;
}

function orNull(schema: JsonSchemaObject): JsonSchemaObject {
  const { type } = schema;
  if (type === undefined) return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [...typeof type === "string" ? [type] : type, "null"] };
}
