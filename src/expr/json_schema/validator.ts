import { type Meter, UNMETERED } from "../../base/value/meter.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import { matchesRegex, regexProblem } from "../evaluate/regex.ts";
import {
  type Ajv,
  type ErrorObject,
  loadAjv,
  type Options,
  type SchemaDraft,
  type ValidateFunction,
} from "./ajv.ts";
import { patternForRe2 } from "./ecma_pattern.ts";
import { addExactKeywords, type Validated, withFloats } from "./exact_numbers.ts";
import { countingCopy, idOf, resolve, SchemaFault, WORK } from "./schema_tree.ts";
import { type SchemaMismatch, violationsOf } from "./violations.ts";

/** A compiled schema: every violation of it by a value. Its work is paid for. */
export type Validator = (value: Value, meter: Meter) => readonly SchemaMismatch[];

/** A schema, or a document that contains schemas, and the URI that it is known by. */
export interface SchemaDocument {
  readonly uri: string;
  readonly schema: unknown;
}

/** Compiles schemas of one draft, which may refer to each other. Throws SchemaFault. */
export interface SchemaCompiler {
  /** The validator of a schema; `others` are what it may refer to. */
  compile(root: SchemaDocument, others?: readonly SchemaDocument[]): Validator;
}

/** Loads what compiles the schemas of a draft, whose violations may know their origins. */
export async function loadSchemaCompiler(
  draft: SchemaDraft,
  hasOrigins = false,
): Promise<SchemaCompiler> {
  // Compiled schemas run at once, from beginning to end, so one place holds the meter of each run.
  const current: Validated = { meter: UNMETERED };
  const make = await loadAjv(draft, (text) => {
    current.meter.spend(text.length ** 2 >> 6);
  });
  return {
    compile(root, others = []) {
      const ajv = make({ ...optionsFor(draft, current), verbose: hasOrigins });
      addKeywords(ajv, current);
      addExactKeywords(ajv, current);
      checkSchema(make({ strict: false, logger: false }), root.schema);
      const validate = compiled(ajv, draft, root, others);
      return (value, meter) => {
        current.meter = meter;
        const rounded = withFloats(value);
        current.exact = rounded === value ? undefined : value;
        try {
          if (validate(rounded)) return [];
          return violationsOf(validate.errors as ErrorObject[] ?? [], value, meter);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          throw new SchemaFault("the schema refers to itself without end");
        } finally {
          current.meter = UNMETERED;
        }
      };
    },
  };
}

function optionsFor(draft: SchemaDraft, current: { readonly meter: Meter }): Options {
  const regExp = (pattern: string) => {
    const translated = patternForRe2(pattern);
    const problem = regexProblem(translated);
    if (problem !== undefined) throw new SchemaFault(`${problem}, in pattern "${pattern}"`);
    const test = (text: string) => matchesRegex(text, translated, current.meter);
    // ajv distinguishes patterns by this text.
    return { test, toString: () => `/${pattern}/` };
  };
  return {
    strict: false,
    logger: false,
    allErrors: true,
    // A key that every object inherits is not there.
    ownProperties: true,
    validateSchema: false,
    inlineRefs: false,
    unicodeRegExp: false,
    // Before 2019 nothing counted beside $ref.
    ignoreKeywordsWithRef: draft === "7" || draft === "4",
    // Code that is not printed needs no code of its own.
    code: { regExp: Object.assign(regExp, { code: "regExp" }) as never },
  };
}

/** Counts work. */
function addKeywords(ajv: Ajv, current: { readonly meter: Meter }): void {
  ajv.addKeyword({
    keyword: WORK,
    schemaType: "number",
    errors: false,
    validate: (work: number) => {
      current.meter.spend(work);
      return true;
    },
  });
}

function checkSchema(ajv: Ajv, schema: unknown): void {
  if (typeof schema !== "boolean" && !isDict(schema)) {
    throw new SchemaFault("a schema must be a map, true or false");
  }
  const { $schema: _, ...rest } = typeof schema === "boolean" ? {} as { $schema?: Value } : schema;
  if (typeof schema === "boolean" || ajv.validateSchema(withFloats(rest) as typeof rest)) return;
  // The first at each place says it; what follows are the other forms that it could have.
  const problems = new Map(
    (ajv.errors ?? []).toReversed().map((error) => {
      const { instancePath, message, params } = error;
      const values = "allowedValues" in params ? `: ${params.allowedValues.join(", ")}` : "";
      return [instancePath, `${instancePath || "it"} ${message}${values}`];
    }),
  );
  throw new SchemaFault(`invalid schema: ${[...problems.values()].slice(0, 3).join("; ")}`);
}

function compiled(
  ajv: Ajv,
  draft: SchemaDraft,
  root: SchemaDocument,
  others: readonly SchemaDocument[],
): ValidateFunction {
  try {
    for (const { uri, schema } of others) ajv.addSchema(prepared(schema, uri, draft), uri);
    const own = prepared(root.schema, root.uri, draft);
    return ajv.compile(own);
  } catch (error) {
    if (error instanceof SchemaFault) throw error;
    const { message } = error as Error;
    if (error instanceof RangeError) {
      throw new SchemaFault("invalid schema: it is nested too deeply");
    }
    const missing = (error as { missingRef?: string }).missingRef;
    throw new SchemaFault(
      missing === undefined ? `invalid schema: ${message}` : `unknown schema "${missing}"`,
    );
  }
}

/** A copy that counts its work, and whose own URI is absolute. */
function prepared(schema: unknown, uri: string, draft: SchemaDraft): never {
  if (!isDict(schema)) return schema as never;
  const { $schema: _, ...copy } = countingCopy(schema) as Record<string, unknown>;
  const id = idOf(schema);
  copy[draft === "4" ? "id" : "$id"] = id === undefined ? uri : resolve(id, uri) ?? uri;
  return copy as never;
}
