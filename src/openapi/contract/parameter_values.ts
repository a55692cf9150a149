import { type Description, isJson, mapOf, type Part, rawText } from "../read/description.ts";
import type { DescribedParameter } from "../read/operations.ts";
import { readInteger, type Value } from "../../base/value/value.ts";
import { jsonOrText } from "../../base/value/parse_json.ts";
import type { Schemas } from "./schemas.ts";

/** A description with its schemas. */
export interface DescribedApi {
  readonly description: Description;
  readonly schemas: Schemas;
}

/** The parts of a request that contain parameters. */
export interface RequestParts {
  readonly path: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  /** In lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly cookies: ReadonlyMap<string, string>;
  /** Undefined if the body is not a form. */
  readonly form: URLSearchParams | undefined;
}

/** The schema of a parameter or header, and its value as data; undefined if it is not sent. */
interface ReadParameter {
  readonly schema: Part | undefined;
  readonly value: Value | undefined;
}

/** Reads the value of a parameter from a request. */
export function readParameter(
  api: DescribedApi,
  { location, name, part }: DescribedParameter,
  parts: RequestParts,
): ReadParameter {
  const texts = textsOf(location, name, parts);
  const schema = schemaOf(api.description, part);
  const fields = location === "query" ? objectFields(api, schema, part, name, parts) : [];
  if (fields.length > 0) return { schema, value: readFields(api, schema, fields) };
  if (texts.length === 0) return { schema, value: undefined };
  return { schema, value: readValue(api, schema, part.value, texts) };
}

/** Reads the fields of an object; a repeated field becomes a list if its schema allows one. */
export function readFields(
  api: DescribedApi,
  schema: Part | undefined,
  fields: readonly (readonly [name: string, text: string])[],
): Value {
  const texts = Map.groupBy(fields, ([name]) => name);
  return Object.fromEntries([...texts].map(([name, those]) => {
    const property = schema && api.schemas.propertyOf(schema, name);
    const all = those.map(([, text]) => text);
    if (!property) return [name, all[0]!];
    return [name, readValue(api, property, { in: "query" }, all)];
  }));
}

/** Reads the value of a header of a response. */
export function readHeader(api: DescribedApi, header: Part, text: string): ReadParameter {
  const schema = schemaOf(api.description, header);
  return { schema, value: readValue(api, schema, header.value, [text]) };
}

function textsOf(location: string, name: string, parts: RequestParts): readonly string[] {
  const { path, query, headers, cookies, form } = parts;
  switch (location) {
    case "path":
      return [path.get(name)].flatMap((text) => text ?? []);
    case "query":
      return query.has(name) ? query.getAll(name) : query.getAll(`${name}[]`);
    case "header":
      return [headers.get(name.toLowerCase())].flatMap((text) => text ?? []);
    case "cookie":
      return [cookies.get(name)].flatMap((text) => text ?? []);
    case "formData":
      return form?.getAll(name) ?? [];
    default:
      return [];
  }
}

/** The fields of an object in the query: `filter[name]=x`, or one parameter for each. */
function objectFields(
  { description }: DescribedApi,
  schema: Part | undefined,
  parameter: Part,
  name: string,
  { query }: RequestParts,
): (readonly [string, string])[] {
  const { style, explode } = mapOf(parameter.value);
  if (style === "deepObject") {
    return [...query].flatMap(([key, text]) =>
      key.startsWith(`${name}[`) && key.endsWith("]")
        ? [[key.slice(name.length + 1, -1), text] as const]
        : []
    );
  }
  const properties = schema && description.child(schema, "properties");
  const isObject = mapOf(schema?.value).type === "object" && properties !== undefined;
  if (!isObject || explode === false || query.has(name)) return [];
  return Object.keys(mapOf(properties.value)).flatMap((key) =>
    query.getAll(key).map((text) => [key, text] as const)
  );
}

const SEPARATORS: Readonly<Record<string, RegExp>> = {
  spaceDelimited: / |%20/,
  pipeDelimited: /\|/,
  ssv: / /,
  tsv: /\t/,
  pipes: /\|/,
};

/** Reads the texts of a parameter, which is the value of its part. */
function readValue(
  { description, schemas }: DescribedApi,
  schema: Part | undefined,
  parameter: unknown,
  texts: readonly string[],
): Value {
  const raw = mapOf(parameter);
  const [type] = Object.keys(mapOf(raw.content));
  if (type !== undefined && isJson(type)) return jsonOrText(texts[0]!);
  if (!schema) return texts[0]!;
  const types = schemas.typesOf(schema);
  if (!types.has("array")) return convert(texts[0]!, types);
  const style = rawText(raw.collectionFormat) ?? rawText(raw.style) ?? "";
  const [only = ""] = texts;
  const isOne = texts.length === 1 && raw.explode !== true && style !== "multi";
  const isRepeatable = raw.in === "query" || raw.in === "formData";
  const parts = isOne || !isRepeatable ? only.split(SEPARATORS[style] ?? ",") : texts;
  const items = description.child(schema, "items");
  const itemTypes = items ? schemas.typesOf(items) : new Set<string>();
  const isInUrl = raw.in === "query" || raw.in === "path";
  return parts.map((part) => convert(isInUrl ? part : part.trim(), itemTypes));
}

/** Converts a text to one of these types; it stays a text if they allow strings. */
function convert(text: string, types: ReadonlySet<string>): Value {
  if (types.has("string") || types.size === 0) return text;
  if (types.has("integer") || types.has("number")) {
    if (/^-?\d+$/.test(text)) return readInteger(text) ?? text;
    if (/^-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text)) return Number(text);
  }
  if (types.has("boolean") && (text === "true" || text === "false")) return text === "true";
  if (types.has("null") && (text === "" || text === "null")) return null;
  return types.has("object") ? jsonOrText(text) : text;
}

/** The schema of a parameter or a header; in 2.0, a parameter itself is the schema. */
function schemaOf(description: Description, part: Part): Part | undefined {
  if (description.version === "2.0") return part;
  const [type] = Object.keys(mapOf(mapOf(part.value).content));
  return type === undefined
    ? description.child(part, "schema")
    : description.child(part, "content", type, "schema");
}
