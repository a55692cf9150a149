import { NUMBER_TEXT } from "../action/parameters.ts";
import { DURATION_TEXT } from "../base/value/duration.ts";
import { INTEGER_TEXT, isCondition } from "../workflow/decode/decode_fields.ts";
import type { Field, FieldType } from "../workflow/decode/field.ts";
import { describe, type JsonSchema, type JsonSchemaObject, type JsonType } from "./json_schema.ts";

/** YAML may read a string as another scalar type, which is accepted. */
const TEXT: readonly JsonType[] = ["string", "number", "boolean"];

const NOT_EMPTY = { pattern: String.raw`\S`, patternErrorMessage: "must not be empty" };
const EXPRESSION: JsonSchemaObject = { type: TEXT, ...NOT_EMPTY };

/** An expression that is true or false: not a number, which would never be true. */
const CONDITION: JsonSchemaObject = { type: ["string", "boolean"], ...NOT_EMPTY };

/** The messages of editors for texts that do not fit. */
export const FORMS = {
  integer: "must be an integer",
  number: "must be a number",
  duration: "must be a duration such as 500ms, 5s or 1m30s, or a template",
  template: "must be a list, or a template that gives one",
};

/** The pattern of a text with a template in it. */
export const TEMPLATE = String.raw`\{\{[\s\S]*\}\}`;

/** A list, or a template that gives one. */
const LIST_OR_TEMPLATE: JsonSchemaObject = {
  type: ["array", "string"],
  pattern: TEMPLATE,
  patternErrorMessage: FORMS.template,
};

/** The schema of each key type. `inside` is the schema of a map or of the items of a list. */
const TYPES: { readonly [T in FieldType]: (field: Field, inside: JsonSchema) => JsonSchemaObject } =
  {
    text: ({ pattern, choices, form }) => ({
      ...choices ? { enum: choices } : { type: TEXT },
      ...pattern ? { pattern: pattern.source } : {},
      ...form === undefined ? {} : { patternErrorMessage: form },
    }),
    integer: ({ minimum }) => ({
      type: ["integer", "string"],
      minimum,
      pattern: INTEGER_TEXT.source,
      patternErrorMessage: FORMS.integer,
    }),
    number: ({ minimum }) => ({
      type: ["number", "string"],
      minimum,
      pattern: NUMBER_TEXT.source,
      patternErrorMessage: FORMS.number,
    }),
    boolean: () => ({ type: "boolean" }),
    template: () => ({ type: TEXT }),
    expression: () => EXPRESSION,
    assertions: (_, inside) => {
      const one = [CONDITION, { allOf: [inside, { properties: { that: CONDITION } }] }];
      return { anyOf: [...one, { type: "array", minItems: 1, items: { anyOf: one } }] };
    },
    duration: () => ({
      type: ["string", "number"],
      minimum: 0,
      pattern: String.raw`\{\{[\s\S]*\}\}|${DURATION_TEXT}`,
      patternErrorMessage: FORMS.duration,
    }),
    names: () => ({ type: "array", items: { type: TEXT } }),
    data: () => ({ type: "object" }),
    iteration: (_, inside) => ({
      ...LIST_OR_TEMPLATE,
      ...inside === true ? {} : { type: ["array", "string", "object"] },
      ...typeof inside === "object" ? { if: { type: "object" }, then: inside } : {},
    }),
    rows: (_, inside) => ({
      type: ["array", "string", "object"],
      ...typeof inside === "object" ? { if: { type: "object" }, then: inside } : {},
    }),
    matrix: (_, inside) => typeof inside === "object" ? inside : { type: "object" },
    types: (_, inside) => ({ anyOf: [{ const: "auto" }, inside] }),
    snapshot: (_, inside) => ({ anyOf: [{ type: "boolean" }, inside] }),
    outputs: () => ({ type: "object", additionalProperties: EXPRESSION }),
    map: (_, inside) => typeof inside === "object" ? inside : { type: "object" },
    list: (_, inside) => ({ type: "array", items: inside }),
  };

/** The schema of a key of the file format; `inside` is that of its map or items. */
export function fieldSchema(
  title: string,
  field: Field,
  inside: JsonSchema = true,
): JsonSchema {
  const schema = TYPES[field.type](field, inside);
  const description = describe(field.summary, field.default);
  // A key without a value counts as absent, except that an empty expression is a mistake.
  if (field.required) return { title, description, ...notEmpty(schema) };
  return { title, description, ...isCondition(field) ? schema : orNull(schema) };
}

function notEmpty(schema: JsonSchemaObject): JsonSchemaObject {
  if (schema.type === "array") return { ...schema, minItems: 1 };
  return schema.type === TEXT ? { ...NOT_EMPTY, ...schema } : schema;
}

function orNull(schema: JsonSchemaObject): JsonSchemaObject {
  const { type } = schema;
  if (type === undefined) return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [...typeof type === "string" ? [type] : type, "null"] };
}
