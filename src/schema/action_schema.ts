import type { Action, Alternatives, Parameter, ParameterType } from "../action/action.ts";
import { NUMBER_TEXT } from "../action/parameters.ts";
import { FORMS } from "./field_schema.ts";
import { DURATION_TEXT } from "../base/value/duration.ts";
import { describe, type JsonSchema, type JsonSchemaObject, type JsonType } from "./json_schema.ts";

/** A string with a template is valid for every type. */
const TEMPLATE = String.raw`\{\{`;
const ANY: readonly JsonType[] = ["string", "number", "boolean", "object", "array"];

/** The schema of each parameter type, in addition to strings with a template. */
const TYPES: {
  readonly [T in ParameterType]:
    & Pick<JsonSchemaObject, "pattern" | "patternErrorMessage" | "minimum">
    & {
      readonly type: readonly JsonType[];
    };
} = {
  string: { type: ["string", "number", "boolean"] },
  number: {
    type: ["number", "string"],
    pattern: `${TEMPLATE}|${NUMBER_TEXT.source}`,
    patternErrorMessage: "must be a number or a template",
  },
  integer: {
    type: ["integer", "string"],
    pattern: `${TEMPLATE}|${NUMBER_TEXT.source}`,
    patternErrorMessage: "must be an integer or a template",
  },
  boolean: {
    type: ["boolean", "string"],
    pattern: `${TEMPLATE}|^(?:true|false)$`,
    patternErrorMessage: "must be true, false or a template",
  },
  duration: {
    type: ["string", "number"],
    minimum: 0,
    pattern: `${TEMPLATE}|${DURATION_TEXT}`,
    patternErrorMessage: FORMS.duration,
  },
  map: {
    type: ["object", "string"],
    pattern: TEMPLATE,
    patternErrorMessage: "must be a map or a template",
  },
  list: {
    type: ["array", "string"],
    pattern: TEMPLATE,
    patternErrorMessage: "must be a list or a template",
  },
  any: { type: ANY },
};

/** The parameters of an action, all of them optional. */
export function parametersSchema({ summary, parameters }: Action): JsonSchemaObject {
  const description = describe(summary);
  if (!parameters) return { description, type: ["object", "null"] };
  return {
    description,
    type: ["object", "null"],
    properties: Object.fromEntries(parameters.map((one) => [one.name, parameterSchema(one)])),
    additionalProperties: false,
  };
}

/** `isMerged` where defaults of the job may give what the map lacks. */
function parameterSchema(parameter: Parameter, isMerged = false): JsonSchema {
  const { name: title, type, summary, default: standard } = parameter;
  const description = describe(summary, standard);
  const types = typeof type === "string" ? [type] : type;
  const schemas = types.map((one) => ({
    ...TYPES[one],
    type: [...TYPES[one].type, "null"] as const,
    ...one === "map" ? fieldsSchema(parameter, isMerged) : {},
    items: one === "list" && parameter.items ? itemSchema(parameter) : undefined,
  }));
  const { values } = parameter;
  if (values) {
    const template: JsonSchema = {
      type: "string",
      pattern: TEMPLATE,
      patternErrorMessage: `must be ${values.join(" or ")}, or a template`,
    };
    // YAML reads some of these texts as numbers.
    const numbers = values.filter((one) => NUMBER_TEXT.test(one)).map(Number);
    return { title, description, anyOf: [{ enum: [...values, ...numbers, null] }, template] };
  }
  return {
    ...{ title, description },
    ...schemas.length === 1 ? schemas[0]! : { anyOf: schemas },
  };
}

/** Every item of the list is a map with these fields. */
function itemSchema({ name, items, summary }: Parameter): JsonSchema {
  return parameterSchema({ name, type: "map", summary, fields: items });
}

/** The fields of a map where they are fixed; they say nothing of a template. */
function fieldsSchema({ fields, oneField }: Parameter, isMerged: boolean): JsonSchemaObject {
  if (!fields) return {};
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    properties: Object.fromEntries(fields.map((one) => [one.name, parameterSchema(one, oneField)])),
    additionalProperties: false,
    required: required.length > 0 && !isMerged ? required : undefined,
    oneOf: oneField
      ? [{ not: { type: "object" } }, ...fields.map(({ name }) => mapWith(name))]
      : undefined,
  };
}

function mapWith(name: string): JsonSchema {
  return { type: "object", required: [name], properties: { [name]: NOT_NULL } };
}

/** Constraints on the `with` of every step, independent of the job's defaults. */
export function stepRules({ parameters = [], alternatives = [] }: Action): JsonSchemaObject {
  const required = parameters.filter((parameter) => parameter.required);
  const properties = Object.fromEntries(required.map(({ name }) => [name, NOT_NULL]));
  return {
    properties: required.length > 0 ? properties : undefined,
    allOf: alternatives.length > 0 ? alternatives.map(atMostOne) : undefined,
  };
}

/** Further constraints if the job has no defaults for the action; undefined if there are none. */
export function loneStepRules({ parameters = [], alternatives = [] }: Action):
  | JsonSchemaObject
  | undefined {
  const required = parameters.filter((parameter) => parameter.required);
  const choices = alternatives.filter((one) => one.required);
  if (required.length === 0 && choices.length === 0) return undefined;
  return {
    type: "object",
    allOf: [
      ...required.map(({ name }) => isPresent(name)),
      ...choices.map(({ names }) => ({ anyOf: names.map(isPresent) })),
    ],
  };
}

const NOT_NULL: JsonSchema = { not: { type: "null" } };

function atMostOne({ names }: Alternatives): JsonSchema {
  return { oneOf: [...names.map(isPresent), { not: { anyOf: names.map(isPresent) } }] };
}

/** A parameter without a value counts as absent. */
export function isPresent(name: string): JsonSchema {
  return { required: [name], properties: { [name]: NOT_NULL } };
}
