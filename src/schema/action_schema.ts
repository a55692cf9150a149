import type { Action, Alternatives, Parameter, ParameterType } from "../action/action.ts";
import { NUMBER_TEXT } from "../action/parameters.ts";
import { DURATION_TEXT } from "../value/duration.ts";
import { describe, type JsonSchema, type JsonSchemaObject, type JsonType } from "./json_schema.ts";

/** A string with a template is valid for every type. */
const TEMPLATE = String.raw`\{\{`;
const ANY: readonly JsonType[] = ["string", "number", "boolean", "object", "array"];

/** The schema of each parameter type, in addition to strings with a template. */
const TYPES: {
  readonly [T in ParameterType]: Pick<JsonSchemaObject, "pattern" | "minimum"> & {
    readonly type: readonly JsonType[];
  };
} = {
  string: { type: ["string", "number", "boolean"] },
  number: { type: ["number", "string"], pattern: `${TEMPLATE}|${NUMBER_TEXT.source}` },
  integer: { type: ["integer", "string"], pattern: `${TEMPLATE}|${NUMBER_TEXT.source}` },
  boolean: { type: ["boolean", "string"], pattern: `${TEMPLATE}|^(?:true|false)$` },
  duration: {
    type: ["string", "number"],
    minimum: 0,
    pattern: `${TEMPLATE}|${DURATION_TEXT}`,
  },
  map: { type: ["object", "string"], pattern: TEMPLATE },
  list: { type: ["array", "string"], pattern: TEMPLATE },
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

function parameterSchema(parameter: Parameter): JsonSchema {
  const { type, summary, default: standard } = parameter;
  const description = describe(summary, standard);
  const types = typeof type === "string" ? [type] : type;
  const schemas = types.map((one) => ({
    ...TYPES[one],
    type: [...TYPES[one].type, "null"] as const,
    ...one === "map" ? fieldsSchema(parameter) : {},
  }));
  return schemas.length === 1 ? { description, ...schemas[0]! } : { description, anyOf: schemas };
}

/** The fields of a map where they are fixed; they say nothing of a template. */
function fieldsSchema({ fields, oneField }: Parameter): JsonSchemaObject {
  if (!fields) return {};
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    properties: Object.fromEntries(fields.map((one) => [one.name, parameterSchema(one)])),
    additionalProperties: false,
    ...required.length === 0 ? {} : { required },
    ...oneField ? { oneOf: [NO_MAP, ...fields.map(({ name }) => mapWith(name))] } : {},
  };
}

const NO_MAP: JsonSchema = { not: { type: "object" } };

function mapWith(name: string): JsonSchema {
  return { type: "object", required: [name], properties: { [name]: NOT_NULL } };
}

/** Constraints on the `with` of every step, independent of the job's defaults. */
export function stepRules({ parameters = [], alternatives = [] }: Action): JsonSchemaObject {
  const required = parameters.filter((parameter) => parameter.required);
  return {
    ...required.length === 0
      ? {}
      : { properties: Object.fromEntries(required.map(({ name }) => [name, NOT_NULL])) },
    ...alternatives.length === 0 ? {} : { allOf: alternatives.map(atMostOne) },
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
      ...required.map(({ name }) => isGiven(name)),
      ...choices.map(({ names }) => ({ anyOf: names.map(isGiven) })),
    ],
  };
}

const NOT_NULL: JsonSchema = { not: { type: "null" } };

function atMostOne({ names }: Alternatives): JsonSchema {
  return { oneOf: [...names.map(isGiven), { not: { anyOf: names.map(isGiven) } }] };
}

/** A parameter without a value counts as absent. */
function isGiven(name: string): JsonSchema {
  return { required: [name], properties: { [name]: NOT_NULL } };
}
