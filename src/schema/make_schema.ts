import type { Action } from "../action/action.ts";
import { PLUGIN_NAME } from "../actions/plugin/plugin.ts";
import type { Field, FieldTable } from "../workflow/decode/field.ts";
import {
  ASSERTION,
  JOB_FIELDS,
  MATRIX,
  REPEAT,
  STEP_FIELDS,
  WORKFLOW,
} from "../workflow/decode/fields.ts";
import { LOAD, LOAD_DATA, LOAD_STAGE } from "../workflow/decode/load_fields.ts";
import { ITERATION, ITERATION_MATRIX, RETRY, SNAPSHOT } from "../workflow/decode/step_maps.ts";
import { ONE_OR_MANY, SUITE, SUITE_ENTRY, SUITE_MATRIX } from "../suite/suite_fields.ts";
import { isPresent, loneStepRules, parametersSchema, stepRules } from "./action_schema.ts";
import { fieldSchema, FORMS, TEMPLATE } from "./field_schema.ts";
import { describe, type JsonSchema, type JsonSchemaObject, type Snippet } from "./json_schema.ts";

/** The kind of file: a workflow, or a job file. */
type SchemaSubject = "workflow" | "job" | "suite";

/**
 * The file format as a JSON Schema, made from the tables that the decoder and the actions use. It
 * refuses nothing that runs without a warning, but for wrong defaults that every step replaces.
 */
export function makeSchema(actions: readonly Action[], subject: SchemaSubject): JsonSchemaObject {
  if (subject === "suite") return suiteSchema();
  const root = subject === "workflow" ? workflowSchema() : jobSchema(actions);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: `urn:runner:${subject}`,
    title: subject === "workflow" ? "A workflow of runner" : "A job file of runner",
    ...root,
    $defs: {
      job: { ...jobSchema(actions), defaultSnippets: JOB_SNIPPETS },
      step: { ...stepSchema(actions), defaultSnippets: STEP_SNIPPETS },
      repeat: tableSchema(REPEAT, {}),
      load: tableSchema(LOAD, {
        expect: ASSERTION_REFERENCE,
        stages: tableSchema(LOAD_STAGE, {}),
        data: tableSchema(LOAD_DATA, { list: true, types: { type: "object" } }),
      }),
      assertion: tableSchema(ASSERTION, {}),
      matrix: matrixSchema(MATRIX),
      retry: tableSchema(RETRY, {}),
      iteration: iterationSchema(),
      ...Object.fromEntries(
        actions.map((action) => [parametersOf(action), parametersSchema(action)]),
      ),
    },
  };
}

const ASSERTION_REFERENCE: JsonSchema = { $ref: "#/$defs/assertion" };

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

function iterationSchema(): JsonSchemaObject {
  return {
    ...tableSchema(ITERATION, {
      list: true,
      matrix: matrixSchema(ITERATION_MATRIX),
      types: { type: "object" },
    }),
    minProperties: 1,
  };
}

/** Its options, and lists of values by any other name. */
function matrixSchema(
  table: typeof MATRIX | typeof SUITE_MATRIX | typeof ITERATION_MATRIX,
): JsonSchemaObject {
  const schema = tableSchema<Readonly<Record<string, Field>>>(table, {
    include: true,
    exclude: true,
  });
  const maps = (name: string) => ({
    ...schema.properties![name] as JsonSchemaObject,
    items: {
      type: ["object", "string"],
      pattern: TEMPLATE,
      patternErrorMessage: "must be a map, or a template that gives one",
    } as const,
  });
  const values: JsonSchemaObject = {
    type: ["array", "string"],
    pattern: TEMPLATE,
    patternErrorMessage: FORMS.template,
    minItems: 1,
    items: { type: ["string", "number", "boolean", "object"] },
  };
  const options = Object.keys(table.fields).join("|");
  return {
    ...schema,
    minProperties: 1,
    properties: { ...schema.properties, include: maps("include"), exclude: maps("exclude") },
    patternProperties: {
      ...schema.patternProperties,
      [String.raw`^(?!(?:${options}|x[-_].*)$)[A-Za-z_]\w*$`]: values,
    },
  };
}

/** A suite file; where it lists texts, one text alone will do. */
function suiteSchema(): JsonSchemaObject {
  const entry: JsonSchema = {
    anyOf: [{ type: "string" }, {
      type: "object",
      ...tableSchema(SUITE_ENTRY, { matrix: matrixSchema(SUITE_MATRIX) }),
    }],
  };
  const schema = tableSchema(SUITE, {
    workflows: entry,
    defaults: { type: "object", additionalProperties: { type: ["object", "null"] } },
  });
  const properties = Object.entries(schema.properties ?? {}).map(([name, one]) => {
    if (!ONE_OR_MANY.includes(name) || typeof one !== "object") return [name, one] as const;
    const { description = "", ...list } = one;
    return [name, { description, anyOf: [list, { type: "string" as const }] }] as const;
  });
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:runner:suite",
    title: "A suite of runner",
    ...schema,
    properties: Object.fromEntries(properties),
  };
}

function workflowSchema(): JsonSchemaObject {
  return tableSchema(WORKFLOW, {
    jobs: { $ref: "#/$defs/job" },
    finally: { $ref: "#/$defs/step" },
  });
}

function jobSchema(actions: readonly Action[]): JsonSchemaObject {
  return {
    ...tableSchema(JOB_FIELDS, {
      steps: { $ref: "#/$defs/step" },
      finally: { $ref: "#/$defs/step" },
      repeat: { $ref: "#/$defs/repeat" },
      load: { $ref: "#/$defs/load" },
      matrix: { $ref: "#/$defs/matrix" },
      defaults: defaultsSchema(actions),
    }),
    allOf: actions.flatMap(jobRules),
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

function stepSchema(actions: readonly Action[]): JsonSchemaObject {
  const schema = tableSchema(STEP_FIELDS, {
    with: { type: "object" },
    test: ASSERTION_REFERENCE,
    retry: { $ref: "#/$defs/retry" },
    iteration: { $ref: "#/$defs/iteration" },
    snapshot: tableSchema(SNAPSHOT, { match: { type: "object" } }),
  });
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

/** A step that uses this action. */
function uses(name: string): JsonSchemaObject {
  return { type: "object", required: ["uses"], properties: { uses: { const: name } } };
}

/** The name of the definition of an action's parameters; other definitions have no hyphen. */
function parametersOf({ name }: Action): string {
  return `with-${name}`;
}

function referenceTo(action: Action): string {
  return `#/$defs/${parametersOf(action)}`;
}

/** The keys of a table that have their own schema. */
type Nested<F extends Readonly<Record<string, Field>>> = {
  readonly [
    K in keyof F as F[K]["type"] extends
      "assertions" | "map" | "list" | "iteration" | "rows" | "snapshot" | "matrix" | "types" ? K
      : never
  ]: JsonSchema;
};

function tableSchema<F extends Readonly<Record<string, Field>>>(
  { fields }: FieldTable<F>,
  nested: Nested<F>,
): JsonSchemaObject {
  const inside: Readonly<Record<string, JsonSchema>> = nested;
  const names = Object.keys(fields);
  const properties = Object.entries(fields).map(([name, field]) =>
    [name, fieldSchema(name, field, inside[name])] as const
  );
  const others = names.flatMap((name) => {
    const { unless } = fields[name]!;
    return unless === undefined ? [] : [isPresent(name), isPresent(unless)];
  });
  return {
    type: "object",
    required: names.filter((name) => fields[name]!.required && !fields[name]!.unless),
    ...others.length > 0 && { anyOf: others },
    properties: Object.fromEntries(properties),
    patternProperties: { "^x[-_]": true },
    additionalProperties: false,
  };
}
