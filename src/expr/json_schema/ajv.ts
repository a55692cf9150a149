import type { Ajv, Format, Options } from "ajv";
import { loadRegexEngine } from "../evaluate/regex.ts";

export type { Ajv, ErrorObject, FuncKeywordDefinition, Options, ValidateFunction } from "ajv";

/** The drafts of JSON Schema that there are. */
export type SchemaDraft = "2020-12" | "2019-09" | "7" | "4";

/** Makes validators of one draft. */
export type MakeAjv = (options: Options) => Ajv;

/** Loads ajv for a draft, with all formats; `checkFormat` may refuse a text before it is checked. */
export async function loadAjv(
  draft: SchemaDraft,
  checkFormat: (text: string) => void,
): Promise<MakeAjv> {
  await loadRegexEngine();
  const [Class, addFormats] = await Promise.all([loadClass(draft), loadFormats()]);
  return (options) => {
    const ajv = new Class(options);
    addFormats(ajv);
    for (const [name, format] of Object.entries(ajv.formats)) {
      const test = format && textTest(format);
      if (test) ajv.addFormat(name, (text: string) => (checkFormat(text), test(text)));
    }
    return ajv;
  };
}

type AjvClass = new (options: Options) => Ajv;

async function loadClass(draft: SchemaDraft): Promise<AjvClass> {
  switch (draft) {
    case "2020-12":
      return classOf(await import("ajv/dist/2020.js"));
    case "2019-09":
      return classOf(await import("ajv/dist/2019.js"));
    case "7":
      return classOf(await import("ajv"));
    case "4":
      // It finds ajv only if that is imported before it: npm counts it as an optional peer.
      await import("ajv");
      return classOf(await import("ajv-draft-04"));
  }
}

/** CommonJS modules come in one wrapper or in two. */
function classOf(module: { readonly default: unknown }): AjvClass {
  const { default: inner } = module;
  return (hasDefault(inner) ? inner.default : inner) as AjvClass;
}

async function loadFormats(): Promise<(ajv: Ajv) => void> {
  const { default: inner } = await import("ajv-formats");
  return (hasDefault(inner) ? inner.default : inner) as (ajv: Ajv) => void;
}

function hasDefault(value: unknown): value is { readonly default: unknown } {
  return (typeof value === "object" || typeof value === "function") && value !== null &&
    "default" in value;
}

/** The test of a format of texts; the formats of numbers take no time. */
function textTest(format: Format): ((text: string) => boolean) | undefined {
  if (typeof format === "string") return textTest(new RegExp(format));
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === "function") return format;
  if (format === true || format.type === "number" || format.async) return undefined;
  return textTest(format.validate as Format);
}
