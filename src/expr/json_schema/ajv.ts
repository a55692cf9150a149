import type { Ajv, FuncKeywordDefinition, Options } from "ajv";
import { isEqual } from "../../base/value/compare.ts";
import { formatJson } from "../../base/value/format_value.ts";
import { type Dict, typeName, type Value } from "../../base/value/value.ts";
import { loadRegexEngine } from "../evaluate/regex.ts";
import { follow, type SchemaDraft } from "./schema_tree.ts";

export type { Ajv, ErrorObject, Options, ValidateFunction } from "ajv";

/** Makes validators of one draft. */
type MakeAjv = (options: Options) => Ajv;

/** Loads ajv for a draft, with all formats, and with keywords that know integers beyond ±2^53. */
export async function loadAjv(draft: SchemaDraft): Promise<MakeAjv> {
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
export interface ValidationContext {
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
