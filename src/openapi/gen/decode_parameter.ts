import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import type { DescribedParameter } from "../read/operations.ts";
import { isHeaderName, mapOf, type RawApiMap, rawText } from "../read/raw.ts";
import type { ApiParameter, ParameterValue } from "./api.ts";
import { exampleOf, explicitExample } from "./decode_content.ts";
import type { Sampler } from "./sample.ts";
import { shapeOf } from "./schema.ts";

const LOCATIONS: readonly ApiParameter["location"][] = ["path", "query", "header", "cookie"];

/** Headers that OpenAPI ignores as parameters, because they are described elsewhere. */
const IGNORED_HEADERS = ["accept", "content-type", "authorization"];

/** The parameters to send for a described one: none, or several for an object. */
export function decodeParameter(
  parameter: DescribedParameter,
  sampler: Sampler,
): ApiParameter[] {
  const { isRequired } = parameter;
  return decodeValues(parameter, sampler).map((value) => ({ ...value, isRequired }));
}

type Sent = Omit<ApiParameter, "isRequired">;

function decodeValues(
  { name, isRequired, part, location: wanted }: DescribedParameter,
  sampler: Sampler,
): Sent[] {
  const raw = mapOf(part.value);
  const location = LOCATIONS.find((one) => one === wanted);
  if (!location || location === "header" && !isHeaderParameter(name)) return [];
  const isSent = location === "path" || isRequired;
  const [content] = Object.values(mapOf(raw.content));
  if (content !== undefined) {
    const example = isSent ? exampleOf(content, sampler) : explicitExample(content);
    const value = example === undefined ? null : JSON.stringify(example);
    return [{ location, name, value }];
  }
  // In 2.0, the parameter itself is the schema.
  const media = raw.schema === undefined ? { ...raw, schema: raw } : raw;
  const example = explicitExample(media) ??
    (isSent || isBounded(media.schema) ? sampler.sample(media.schema) : null);
  return spread(location, name, example, raw);
}

function isHeaderParameter(name: string): boolean {
  return isHeaderName(name) && !IGNORED_HEADERS.includes(name.toLowerCase());
}

/** Whether a schema is a number with bounds: any number within them will do. */
function isBounded(schema: unknown): boolean {
  const { keywords, type } = shapeOf(schema);
  return (type === "integer" || type === "number") &&
    (keywords.minimum !== undefined || keywords.maximum !== undefined);
}

/** The names and values that are sent for a value. */
function spread(
  location: ApiParameter["location"],
  name: string,
  value: Value,
  raw: RawApiMap,
): Sent[] {
  if (value === null || typeof value !== "object") return [{ location, name, value }];
  const { style, isExploded } = styleOf(location, raw);
  if (isDict(value)) {
    const fields = Object.entries(value);
    if (style === "deepObject") {
      return fields.map(([key, field]) => (
        { location, name: `${name}[${key}]`, value: flat(field) }
      ));
    }
    if (location === "query" && isExploded) {
      return fields.map(([key, field]) => ({ location, name: key, value: flat(field) }));
    }
    const pairs = fields.map(([key, field]) => [key, String(flat(field))]);
    const text = isExploded
      ? pairs.map((pair) => pair.join("=")).join(",")
      : pairs.flat().join(",");
    return [{ location, name, value: text }];
  }
  const items = (value as readonly Value[]).map(flat).map((item) =>
    isNumber(item) ? item : String(item)
  );
  if (location === "query" && isExploded) return [{ location, name, value: items }];
  return [{ location, name, value: items.join(SEPARATORS[style] ?? ",") }];
}

const SEPARATORS: Readonly<Record<string, string>> = {
  spaceDelimited: " ",
  pipeDelimited: "|",
  ssv: " ",
  tsv: "\t",
  pipes: "|",
};

function styleOf(
  location: ApiParameter["location"],
  raw: RawApiMap,
): { style: string; isExploded: boolean } {
  const format = rawText(raw.collectionFormat);
  if (format !== undefined) return { style: format, isExploded: format === "multi" };
  const isForm = location === "query" || location === "cookie";
  const style = rawText(raw.style) ?? (isForm ? "form" : "simple");
  // In 2.0, parameters have no schema, and lists are joined with commas by default.
  const isExploded = typeof raw.explode === "boolean"
    ? raw.explode
    : style === "form" && raw.schema !== undefined;
  return { style, isExploded };
}

/** A value inside a list or map, which can only be sent as text. */
function flat(value: Value): Exclude<ParameterValue, readonly unknown[]> {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}
