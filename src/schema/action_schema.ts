import type { Action, Alternatives, Parameter, ParameterType } from "../action/action.ts";
import { NUMBER_TEXT } from "../action/parameters.ts";
import { DURATION_TEXT } from "../value/duration.ts";
import { describe } from "./describe.ts";
import type { JsonSchema, JsonSchemaObject, JsonType } from "./json_schema.ts";

/** A text with a template in it fits every type until it is rendered. */
const TEMPLATE = String.raw`\{\{`;
const ANY: readonly JsonType[] = ["string", "number", "boolean", "object", "array"];

/** What each type of a parameter allows, beside a text with a template in it. */
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

/** The parameters of an action by their names and types, all of which may be left out. */
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

function parameterSchema({ type, summary, default: standard }: Parameter): JsonSchema {
  const description = describe(summary, standard);
  const types = typeof type === "string" ? [type] : type;
  const schemas = types.map((one) => ({
    ...TYPES[one],
    type: [...TYPES[one].type, "null"] as const,
  }));
  return schemas.length === 1 ? { description, ...schemas[0]! } : { description, anyOf: schemas };
}

/** What holds for the `with` of each step, whatever the defaults of its job are. */
export function stepRules({ parameters = [], alternatives = [] }: Action): JsonSchemaObject {
  const required = parameters.filter((parameter) => parameter.required);
  return {
    ...required.length === 0
      ? {}
      : { properties: Object.fromEntries(required.map(({ name }) => [name, NOT_NULL])) },
    ...alternatives.length === 0 ? {} : { allOf: alternatives.map(atMostOne) },
  };
}

/** What else holds where the job has no defaults for the action; undefined where nothing does. */
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

/** A parameter without a value is none. */
function isGiven(name: string): JsonSchema {
  return { required: [name], properties: { [name]: NOT_NULL } };
}
