import type { Action } from "../action/action.ts";
import {
  type Alternatives,
  INTEGER_TEXT,
  NUMBER_TEXT,
  type Parameter,
  type ParameterType,
} from "../action/parameter.ts";
import { isCondition } from "../action/rule.ts";
import { PLUGIN_NAME } from "../actions/plugin/plugin.ts";
import { DURATION_TEXT } from "../base/value/duration.ts";
import { SUITE } from "../suite/decode_suite.ts";
import { JOB, WORKFLOW } from "../workflow/decode/key_tree.ts";
import type { RuleForm } from "../workflow/names.ts";

/** The kind of file: a workflow, or a job file. */
type SchemaSubject = "workflow" | "job" | "suite";

const ROOTS = { workflow: WORKFLOW, job: JOB, suite: SUITE };

const TITLES = {
  workflow: "A workflow of runner",
  job: "A job file of runner",
  suite: "A suite of runner",
};

/**
 * The file format as a JSON Schema, made from the rules that the decoder and the actions use. It
 * refuses nothing that runs without a warning, but for wrong defaults that every step replaces.
 */
export function makeSchema(actions: readonly Action[], subject: SchemaSubject): JsonSchemaObject {
  const schemas = new KeySchemas();
  const root = schemas.keys(ROOTS[subject].form);
  const header = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:runner:${subject}`,
    title: TITLES[subject],
  };
  const { definitions } = schemas;
  if (subject === "suite") {
    return { ...header, ...withDefaults(root, defaultsSchema([])), $defs: definitions };
  }
  schemas.map(JOB.form);
  const jobSchema = forJob(definitions.job!, actions);
  return {
    ...header,
    ...subject === "job" ? jobSchema : root,
    $defs: {
      ...definitions,
      job: { ...jobSchema, defaultSnippets: JOB_SNIPPETS },
      step: { ...forStep(definitions.step!, actions), defaultSnippets: STEP_SNIPPETS },
      ...Object.fromEntries(
        actions.map((action) => [definitionOf(action), withSchema(action)]),
      ),
    },
  };
}

const JOB_SNIPPETS: readonly Snippet[] = [{
  label: "job",
  description: "A job with a step",
  body: { name: "$1", id: "$2", steps: [{ name: "$3", uses: "$4" }] },
}];

const STEP_SNIPPETS: readonly Snippet[] = [
  {
    label: "http request",
    description: "A request with a test of its response",
    body: { name: "$1", uses: "http", with: { get: "$2" }, test: "res.code == 200$3" },
  },
  {
    label: "shell command",
    description: "A command with a test of its exit code",
    body: { name: "$1", uses: "shell", with: { cmd: "$2" }, test: "res.code == 0$3" },
  },
];

function forJob(schema: JsonSchemaObject, actions: readonly Action[]): JsonSchemaObject {
  return { ...withDefaults(schema, defaultsSchema(actions)), allOf: actions.flatMap(jobRules) };
}

function withDefaults(schema: JsonSchemaObject, defaults: JsonSchemaObject): JsonSchemaObject {
  const { title, description, type } = schema.properties!.defaults as JsonSchemaObject;
  return {
    ...schema,
    properties: { ...schema.properties, defaults: { title, description, ...defaults, type } },
  };
}

/** Defaults by action name. They apply only to steps that use the action. */
function defaultsSchema(actions: readonly Action[]): JsonSchemaObject {
  const properties = actions.map((action) =>
    [action.name, {
      type: ["object", "null"],
      anyOf: [{ $ref: referenceTo(action) }, true],
    }] as const
  );
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    additionalProperties: { type: ["object", "null"] },
  };
}

/** Constraints on a job whose steps use an action. */
function jobRules(action: Action): JsonSchema[] {
  const { name } = action;
  const inDefaults = (schema: JsonSchema): JsonSchemaObject => ({
    properties: { defaults: { properties: { [name]: schema } } },
  });
  const rules: JsonSchema[] = [];
  if (action.parameters) {
    rules.push({
      if: { properties: { steps: { type: "array", contains: uses(name) } } },
      then: inDefaults({ $ref: referenceTo(action) }),
    });
  }
  const alone = loneStepRules(action);
  if (alone) {
    const hasDefaults = {
      type: "object",
      required: [name],
      properties: { [name]: { type: "object" } },
    };
    const step = { if: uses(name), then: { required: ["with"], properties: { with: alone } } };
    rules.push({
      if: { required: ["defaults"], properties: { defaults: hasDefaults as JsonSchema } },
      else: { properties: { steps: { items: step } } },
    });
  }
  return rules;
}

function forStep(schema: JsonSchemaObject, actions: readonly Action[]): JsonSchemaObject {
  const names: JsonSchemaObject = {
    ...schema.properties!.uses as JsonSchemaObject,
    anyOf: [
      ...actions.map(({ name, summary }) => ({ const: name, description: describe(summary) })),
      {
        description: "A plugin of that name.",
        pattern: PLUGIN_NAME.source,
        patternErrorMessage: "must be the name of an action or of a plugin",
      },
    ],
  };
  return {
    ...schema,
    properties: { ...schema.properties, uses: names },
    allOf: actions.map((action) => ({
      if: uses(action.name),
      then: { properties: { with: { $ref: referenceTo(action), ...stepRules(action) } } },
    })),
  };
}

function uses(name: string): JsonSchemaObject {
  return { type: "object", required: ["uses"], properties: { uses: { const: name } } };
}

/** The name of the definition of an action's parameters; other definitions have no hyphen. */
function definitionOf({ name }: Action): string {
  return `with-${name}`;
}

function referenceTo(action: Action): string {
  return `#/$defs/${definitionOf(action)}`;
}

/** The `with` of a step that uses an action, which defaults of the job may complete. */
function withSchema({ summary, parameters }: Action): JsonSchemaObject {
  return {
    description: describe(summary),
    type: ["object", "null"],
    ...parameters && parametersSchema(parameters),
  };
}

/** Constraints on the `with` of every step, independent of the job's defaults. */
function stepRules({ parameters = [], alternatives = [] }: Action): JsonSchemaObject {
  const required = parameters.filter((parameter) => parameter.required);
  const properties = Object.fromEntries(required.map(({ name }) => [name, NOT_NULL]));
  return {
    properties: required.length > 0 ? properties : undefined,
    allOf: alternatives.length > 0 ? alternatives.map(atMostOne) : undefined,
  };
}

/** Further constraints if the job has no defaults for the action; undefined if there are none. */
function loneStepRules({ parameters = [], alternatives = [] }: Action):
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

type ValueSchema =
  & Pick<JsonSchemaObject, "enum" | "pattern" | "patternErrorMessage" | "minimum">
  & { readonly type: JsonType | readonly JsonType[] };

/** YAML may read a string as another scalar type, which is accepted. */
const TEXT: readonly JsonType[] = ["string", "number", "boolean"];

/** A text with a template is valid for every type of a parameter. */
const TEMPLATE = String.raw`\{\{`;

const TYPES: { readonly [T in ParameterType]: ValueSchema } = {
  string: { type: TEXT },
  number: {
    type: ["number", "string"],
    pattern: NUMBER_TEXT.source,
    patternErrorMessage: "must be a number",
  },
  integer: {
    type: ["integer", "string"],
    pattern: INTEGER_TEXT.source,
    patternErrorMessage: "must be an integer",
  },
  boolean: {
    type: ["boolean", "string"],
    pattern: "^(?:true|false)$",
    patternErrorMessage: "must be true or false",
  },
  duration: {
    type: ["string", "number"],
    minimum: 0,
    pattern: DURATION_TEXT,
    patternErrorMessage: "must be a duration such as 500ms, 5s or 1m30s",
  },
  map: { type: "object" },
  list: { type: "array" },
  any: { type: [...TEXT, "object", "array"] },
};

const MESSAGES = { map: "must be a map", list: "must be a list" };

/** The values of a type, of which a text with a template is one. */
function orTemplate(type: ParameterType): ValueSchema {
  const schema = TYPES[type];
  if (type === "string" || type === "any") return schema;
  const message = schema.patternErrorMessage ?? MESSAGES[type as keyof typeof MESSAGES];
  return {
    ...schema,
    type: [...new Set([schema.type, "string" as const].flat())],
    pattern: [TEMPLATE, schema.pattern ?? []].flat().join("|"),
    patternErrorMessage: `${message}${message.includes(" or ") ? "," : ""} or a template`,
  };
}

const NOT_EMPTY = { pattern: String.raw`\S`, patternErrorMessage: "must not be empty" };
const EXPRESSION: JsonSchemaObject = { type: TEXT, ...NOT_EMPTY };

/** An expression that is true or false: not a number, which would never be true. */
const CONDITION: JsonSchemaObject = { type: ["string", "boolean"], ...NOT_EMPTY };

/** The pattern of a list in a text, which only the run knows. */
const LIST_TEMPLATE = {
  pattern: String.raw`\{\{[\s\S]*\}\}`,
  patternErrorMessage: "must be a list, or a template that gives one",
};

const DURATION: JsonSchemaObject = {
  ...TYPES.duration,
  pattern: `${LIST_TEMPLATE.pattern}|${TYPES.duration.pattern}`,
  patternErrorMessage: `${TYPES.duration.patternErrorMessage}, or a template`,
};

/** Makes schemas of keys; the maps that have a title become definitions. */
class KeySchemas {
  readonly definitions: Record<string, JsonSchemaObject> = {};

  /** The schema of a map, wherever it is. */
  map(form: RuleForm): JsonSchemaObject {
    const { what, title } = form.key ?? {};
    if (what === undefined || title === undefined) return this.keys(form);
    const name = what.replace(/^an? /, "").replaceAll(" ", "_");
    this.definitions[name] ??= this.keys(form);
    return { $ref: `#/$defs/${name}` };
  }

  keys({ fields = [], alternatives = [], key }: RuleForm): JsonSchemaObject {
    const rules = alternatives.map(({ names, mayCombine }) =>
      mayCombine ? { anyOf: names.map(isPresent) } : { oneOf: names.map(isPresent) }
    );
    const schema: JsonSchemaObject = {
      type: "object",
      required: fields.filter(({ required }) => required).map(({ name }) => name),
      allOf: rules.length > 0 ? rules : undefined,
      properties: Object.fromEntries(fields.map((field) => [field.name, this.key(field)])),
      patternProperties: { "^x[-_]": true },
      additionalProperties: false,
    };
    return key?.kind === "matrix" ? withLists(schema) : schema;
  }

  key(field: Parameter): JsonSchemaObject {
    const schema = this.#value(field);
    const title = { title: field.name, description: describe(field.summary, field.default) };
    // A key without a value counts as absent, except that an empty expression is a mistake.
    if (field.required) return { ...title, ...notEmpty(schema) };
    return { ...title, ...isCondition(field) ? schema : orNull(schema) };
  }

  #value(form: RuleForm): JsonSchemaObject {
    const {
      type,
      fields,
      values,
      minimum,
      key: { kind, item, pattern, requirement: message } = {},
    } = form;
    const types = [type].flat();
    switch (kind) {
      case "template":
        return { type: TEXT };
      case "expression":
        return EXPRESSION;
      case "assertions": {
        const one = [CONDITION, {
          allOf: [this.map(item!), { properties: { that: CONDITION } }],
        }];
        return { anyOf: [...one, { type: "array", minItems: 1, items: { anyOf: one } }] };
      }
      case "names": {
        const list: JsonSchemaObject = { type: "array", items: { type: TEXT } };
        return types.includes("string") ? { anyOf: [list, { type: "string" }] } : list;
      }
      case "iteration":
      case "rows": {
        const isPath = kind === "rows" ? {} : LIST_TEMPLATE;
        if (!fields) return { type: ["array", "string"], ...isPath };
        const then = this.map(form);
        return { type: ["array", "string", "object"], ...isPath, if: { type: "object" }, then };
      }
      case "matrix":
        return this.map(form);
      case "types":
        return { anyOf: [{ const: "auto" }, { type: "object" }] };
      case "snapshot":
        return { anyOf: [{ type: "boolean" }, this.map(form)] };
      case "outputs":
        return { type: "object", additionalProperties: EXPRESSION };
      case "data":
        return { type: "object" };
      case undefined:
        break;
    }
    if (values) return { enum: values };
    if (fields && types.length > 1) return { anyOf: [{ type: "string" }, this.map(form)] };
    if (fields) return this.map(form);
    if (item) return { type: "array", items: this.#value(item) };
    if (type === "duration") return DURATION;
    return {
      ...TYPES[types[0]!],
      ...minimum !== undefined && { minimum },
      ...pattern && { pattern: pattern.source, patternErrorMessage: message },
    };
  }
}

/** Lists of values by any name, beside the keys of a matrix. */
function withLists(schema: JsonSchemaObject): JsonSchemaObject {
  const { properties = {} } = schema;
  const maps = (name: string): JsonSchemaObject => ({
    ...properties[name] as JsonSchemaObject,
    items: {
      type: ["object", "string"],
      pattern: LIST_TEMPLATE.pattern,
      patternErrorMessage: "must be a map, or a template that gives one",
    },
  });
  const options = Object.keys(properties).join("|");
  return {
    ...schema,
    minProperties: 1,
    properties: { ...properties, include: maps("include"), exclude: maps("exclude") },
    patternProperties: {
      ...schema.patternProperties,
      [String.raw`^(?!(?:${options}|x[-_].*)$)[A-Za-z_]\w*$`]: {
        ...{ type: ["array", "string"], ...LIST_TEMPLATE, minItems: 1 },
        items: { type: ["string", "number", "boolean", "object"] },
      },
    },
  };
}

function notEmpty(schema: JsonSchemaObject): JsonSchemaObject {
  if (schema.type === "array") return { ...schema, minItems: 1 };
  return schema.type === TEXT ? { ...NOT_EMPTY, ...schema } : schema;
}

function orNull(schema: JsonSchemaObject): JsonSchemaObject {
  const { type } = schema;
  if (schema.enum) return { ...schema, enum: [...schema.enum, null] };
  if (type === undefined) return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [...typeof type === "string" ? [type] : type, "null"] };
}

/** The schema of parameters, all of them optional. */
function parametersSchema(parameters: readonly Parameter[]): JsonSchemaObject {
  return {
    properties: Object.fromEntries(parameters.map((one) => [one.name, parameterSchema(one)])),
    additionalProperties: false,
  };
}

/** `isMerged` where defaults of the job may give what the map lacks. */
function parameterSchema(parameter: Parameter, isMerged = false): JsonSchema {
  const { name: title, type, summary, default: standard, minimum } = parameter;
  const description = describe(summary, standard);
  const schemas = [type].flat().map((one) => {
    const schema = orTemplate(one);
    return {
      ...schema,
      ...minimum !== undefined && { minimum },
      type: [schema.type, "null" as const].flat(),
      ...one === "map" ? fieldsSchema(parameter, isMerged) : {},
      items: one === "list" && parameter.items ? itemSchema(parameter) : undefined,
    };
  });
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

/** The fields of a map if they are fixed; they do not apply to a template. */
function fieldsSchema({ fields, oneField }: Parameter, isMerged: boolean): JsonSchemaObject {
  if (!fields) return {};
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    properties: Object.fromEntries(fields.map((one) => [one.name, parameterSchema(one, oneField)])),
    additionalProperties: false,
    required: required.length > 0 && !isMerged ? required : undefined,
    oneOf: oneField
      ? [{ not: { type: "object" } }, ...fields.map(({ name }) => ofMap(isPresent(name)))]
      : undefined,
  };
}

function ofMap(schema: JsonSchemaObject): JsonSchemaObject {
  return { type: "object", ...schema };
}

const NOT_NULL: JsonSchema = { not: { type: "null" } };

/** At most one of these is present. */
function atMostOne({ names }: Alternatives): JsonSchema {
  return { oneOf: [...names.map(isPresent), { not: { anyOf: names.map(isPresent) } }] };
}

/** What has no value counts as absent. */
function isPresent(name: string): JsonSchemaObject {
  return { required: [name], properties: { [name]: NOT_NULL } };
}

/** The part of JSON Schema (2020-12) that the file format needs. */
type JsonSchema = boolean | JsonSchemaObject;

/** The keywords in use. */
interface JsonSchemaObject {
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
interface Snippet {
  readonly label: string;
  readonly description: string;
  readonly body: unknown;
}

type JsonType = "null" | "boolean" | "number" | "integer" | "string" | "array" | "object";

/** A description for editors: the summary as a sentence, and the default. */
function describe(summary: string, standard?: string): string {
  const sentence = summary.charAt(0).toUpperCase() + summary.slice(1).replace(/\.$/, "") + ".";
  return standard === undefined ? sentence : `${sentence} Default: ${standard}.`;
}
