import {
  type Dict,
  hasLongIntegers,
  isDict,
  readField,
  typeName,
  type Value,
} from "../../base/value/value.ts";
import { loadRegexEngine, matchesRegex, patternForRe2, regexProblem } from "../evaluate/regex.ts";
import {
  follow,
  idOf,
  ORIGIN,
  resolve,
  type SchemaDraft,
  SchemaFault,
  schemaForAjv,
} from "./schema_tree.ts";
import { countOf } from "../../base/text/count_of.ts";
import { formatJson } from "../../base/value/format_value.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import type { Ajv, ErrorObject, FuncKeywordDefinition, Options, ValidateFunction } from "ajv";
import { isEqual } from "../../base/value/compare.ts";

/** A compiled schema: every violation of it by a value. */
export type Validator = (value: Value) => readonly SchemaMismatch[];

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

/** Loads the compiler for a draft. With `hasOrigins`, violations have the origin of their schema. */
export async function loadSchemaCompiler(
  draft: SchemaDraft,
  hasOrigins = false,
): Promise<SchemaCompiler> {
  const make = await loadAjv(draft);
  return {
    compile(root, others = []) {
      checkSchema(make({ strict: false, logger: false }), root.schema);
      const ajv = make({ ...optionsFor(draft), verbose: hasOrigins });
      const validate = compiled(ajv, draft, root, others);
      return (value) => {
        const rounded = withFloats(value);
        const context: ValidationContext = { exact: rounded === value ? undefined : value };
        try {
          if (validate.call(context, rounded)) return [];
          return violationsOf(validate.errors as ErrorObject[] ?? [], value);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          throw new SchemaFault("the schema refers to itself without end");
        }
      };
    },
  };
}

function optionsFor(draft: SchemaDraft): Options {
  const regExp = (pattern: string) => {
    const translated = patternForRe2(pattern);
    const problem = regexProblem(translated);
    if (problem !== undefined) throw new SchemaFault(`${problem}, in pattern "${pattern}"`);
    // ajv distinguishes patterns by this text.
    const toString = () => `/${pattern}/`;
    return { test: (text: string) => matchesRegex(text, translated), toString };
  };
  return {
    strict: false,
    logger: false,
    allErrors: true,
    // A key that every object inherits is not there.
    ownProperties: true,
    passContext: true,
    validateSchema: false,
    inlineRefs: false,
    unicodeRegExp: false,
    // Before 2019 nothing counted beside $ref.
    ignoreKeywordsWithRef: draft === "7" || draft === "4",
    // Code that is not printed needs no code of its own.
    code: { regExp: Object.assign(regExp, { code: "regExp" }) as never },
  };
}

function checkSchema(ajv: Ajv, schema: unknown): void {
  if (typeof schema !== "boolean" && !isDict(schema)) {
    throw new SchemaFault("a schema must be a map, true or false");
  }
  const { $schema: _, ...rest } = typeof schema === "boolean" ? {} as { $schema?: Value } : schema;
  if (typeof schema === "boolean" || ajv.validateSchema(withFloats(rest) as typeof rest)) return;
  // The first error at a location is the clearest; the others are about alternatives.
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
    return ajv.compile(prepared(root.schema, root.uri, draft));
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

/** A copy whose own URI is absolute. */
function prepared(schema: unknown, uri: string, draft: SchemaDraft): never {
  if (!isDict(schema)) return schema as never;
  const { $schema: _, ...copy } = schemaForAjv(schema) as Record<string, unknown>;
  const id = idOf(schema);
  copy[draft === "4" ? "id" : "$id"] = id === undefined ? uri : resolve(id, uri) ?? uri;
  return copy as never;
}

/** A value with the nearest floats for integers beyond ±2^53; itself if it has none. */
function withFloats(value: unknown): unknown {
  return hasLongIntegers(value) ? JSON.parse(JSON.stringify(value)) : value;
}

interface SchemaMismatch extends Mismatch {
  /** The value of `ORIGIN` in the violated part of the schema. */
  readonly origin?: unknown;
}

/** The errors of ajv for a value, each with its place, without those that only repeat others. */
function violationsOf(errors: readonly ErrorObject[], value: Value): SchemaMismatch[] {
  const seen = new Set<string>();
  return errors.flatMap((error) => {
    // It repeats that "then" or a name was wrong, which another error describes.
    if (error.keyword === "if" || error.keyword === "propertyNames") return [];
    const violation = violationOf(error, value);
    const key = JSON.stringify([violation.path, violation.expected]);
    if (seen.has(key)) return [];
    seen.add(key);
    return { ...violation, origin: error.parentSchema?.[ORIGIN] };
  });
}

function violationOf(error: ErrorObject, value: Value): Mismatch {
  const { keyword, instancePath, params, propertyName } = error;
  const { path, at } = follow(value, instancePath);
  const branch = /\/(anyOf|oneOf)\/(\d+)\//.exec(error.schemaPath);
  const note = [
    ...propertyName === undefined ? [] : [`the name ${JSON.stringify(propertyName)}`],
    ...branch ? [`by ${branch[1]}[${branch[2]}]`] : [],
  ].join(", ");
  const noted = note === "" ? {} : { note };
  switch (keyword) {
    case "required":
    case "dependentRequired":
    case "dependencies": {
      const name = String(params.missingProperty);
      const inside = isDict(at) ? readField(at, name) : undefined;
      return { path: [...path, name], expected: "required", actual: inside, ...noted };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      const actual = isDict(at) ? readField(at, name) : undefined;
      return { path: [...path, name], expected: "no such property", actual, ...noted };
    }
  }
  return { path, expected: expectedBy(error), actual: at, ...noted };
}

/** Describes the requirement of a keyword. */
function expectedBy({ keyword, params, message = keyword }: ErrorObject) {
  switch (keyword) {
    case "type":
      return `type ${[params.type].flat().join(" or ")}`;
    case "enum":
      return `one of ${formatJson(params.allowedValues)}`;
    case "const":
      return formatJson(params.allowedValue);
    case "pattern":
      return `/${params.pattern}/`;
    case "format":
      return `format ${params.format}`;
    case "uniqueItems":
      return "items that differ";
    case "false schema":
      return "nothing";
    case "oneOf":
      return params.passingSchemas
        ? `one schema of oneOf, not those at ${[params.passingSchemas].flat().join(" and ")}`
        : "one schema of oneOf";
    case "anyOf":
      return "a schema of anyOf";
    case "not":
      return 'nothing that "not" describes';
    case "contains": {
      const { minContains: min, maxContains: max } = params;
      const count = max === undefined ? `at least ${min}` : `${min} to ${max}`;
      return `${count} item${(max ?? min) === 1 ? "" : "s"} that "contains" describes`;
    }
    case "items":
    case "additionalItems":
    case "unevaluatedItems":
      return bound("maxItems", params.limit, "item");
    case "minLength":
    case "maxLength":
      return bound(keyword, params.limit, "character");
    case "minItems":
    case "maxItems":
      return bound(keyword, params.limit, "item");
    case "minProperties":
    case "maxProperties":
      return bound(keyword, params.limit, "key");
    case "multipleOf":
      return `a multiple of ${params.multipleOf}`;
    default:
      return message.replace(/^must (be |have )?/, "");
  }
}

function bound(keyword: string, limit: number, unit: string): string {
  const relation = keyword.startsWith("min") ? "at least" : "at most";
  return `${relation} ${countOf(limit, unit)}`;
}

/** Makes validators of one draft. */
type MakeAjv = (options: Options) => Ajv;

/** Loads ajv for a draft, with all formats, and with keywords that know integers beyond ±2^53. */
async function loadAjv(draft: SchemaDraft): Promise<MakeAjv> {
  await loadRegexEngine();
  const [Class, addFormats] = await Promise.all([loadClass(draft), import("ajv-formats")]);
  return (options) => {
    const ajv = new Class(options);
    (innerDefault(addFormats) as (ajv: Ajv) => void)(ajv);
    replaceNumberKeywords(ajv);
    return ajv;
  };
}

type AjvClass = new (options: Options) => Ajv;

async function loadClass(draft: SchemaDraft): Promise<AjvClass> {
  switch (draft) {
    case "2020-12":
      return innerDefault(await import("ajv/dist/2020.js")) as AjvClass;
    case "2019-09":
      return innerDefault(await import("ajv/dist/2019.js")) as AjvClass;
    case "7":
      return innerDefault(await import("ajv")) as AjvClass;
    case "4":
      // It finds ajv only if that is imported before it: npm counts it as an optional peer.
      await import("ajv");
      return innerDefault(await import("ajv-draft-04")) as AjvClass;
  }
}

/** CommonJS modules come in one wrapper or in two. */
function innerDefault({ default: inner }: { readonly default: unknown }): unknown {
  return (inner as { readonly default?: unknown }).default ?? inner;
}

/** The exact value that is validated, if ajv sees one with rounded integers. */
interface ValidationContext {
  readonly exact?: Value;
}

/** Whether a value passes a keyword. Numbers of both kinds are compared alike. */
type Passes = (value: number, wanted: number, schema: Dict) => boolean;

/** In draft 4, `exclusiveMinimum` is a boolean beside `minimum`. */
const NUMBER_KEYWORDS: Readonly<Record<string, Passes>> = {
  minimum: (value, limit, { exclusiveMinimum }) =>
    exclusiveMinimum === true ? value > limit : value >= limit,
  maximum: (value, limit, { exclusiveMaximum }) =>
    exclusiveMaximum === true ? value < limit : value <= limit,
  exclusiveMinimum: (value, limit) => typeof limit === "boolean" || value > limit,
  exclusiveMaximum: (value, limit) => typeof limit === "boolean" || value < limit,
  multipleOf: (value, step) => {
    const areWhole = typeName(value) === "int" && typeName(step) === "int";
    if (areWhole && step) return BigInt(value) % BigInt(step) === 0n;
    // 19.99 is a multiple of 0.01, though not exactly in binary.
    const quotient = Number(value) / Number(step);
    return Math.abs(Math.round(quotient) - quotient) <= 1e-6;
  },
  const: (value, wanted) => isEqual(value, wanted as Value),
  enum: (value, values: unknown) => (values as readonly Value[]).some((one) => isEqual(value, one)),
  // By their texts, in time that does not grow by the square of their number.
  uniqueItems: (items: unknown, isWanted: unknown) =>
    !isWanted || new Set((items as Value[]).map((item) => formatJson(item))).size ===
      (items as Value[]).length,
};

/** Replaces the keywords of ajv that compare numbers, which to it are all floats. */
function replaceNumberKeywords(ajv: Ajv): void {
  for (const [keyword, passes] of Object.entries(NUMBER_KEYWORDS)) {
    const { type = [], error } = ajv.getKeyword(keyword) as FuncKeywordDefinition;
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      type,
      // That of uniqueItems names two items by their numbers.
      ...keyword !== "uniqueItems" && error ? { error } : {},
      compile: (wanted, schema) =>
        function (this: ValidationContext, data, location) {
          const isRounded = this.exact !== undefined && typeof data !== "string";
          const value = isRounded ? follow(this.exact!, location!.instancePath).at : data;
          return passes(value as never, wanted, schema);
        },
    });
  }
}
