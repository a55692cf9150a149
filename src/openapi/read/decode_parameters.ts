import { type Dict, isDict, isNumber, type Value } from "../../base/value/value.ts";
import { exampleOf, givenExample } from "./media.ts";
import type { ApiParameter, ParameterValue } from "./api.ts";
import { isHeaderName, listOf, mapOf, type RawApiMap, rawText } from "./raw.ts";
import type { Sampler } from "../sample/sample.ts";
import { shapeOf } from "./schema.ts";

const PLACES: readonly ApiParameter["place"][] = ["path", "query", "header", "cookie"];

/** Headers that OpenAPI ignores as parameters, because they are described elsewhere. */
const SAID_ELSEWHERE = ["accept", "content-type", "authorization"];

/** The parameters of an operation: its own, then those of its path that it does not override. */
export function decodeParameters(
  own: unknown,
  shared: unknown,
  sampler: Sampler,
): ApiParameter[] {
  const found = new Map<string, RawApiMap>();
  for (const raw of [...listOf(own), ...listOf(shared)].map(mapOf)) {
    const key = `${raw.in} ${raw.name}`;
    if (rawText(raw.name) !== undefined && !found.has(key)) found.set(key, raw);
  }
  return [...found.values()].flatMap((raw) => decodeParameter(raw, sampler));
}

function decodeParameter(raw: RawApiMap, sampler: Sampler): ApiParameter[] {
  const place = PLACES.find((place) => place === raw.in);
  const name = raw.name as string;
  if (!place || place === "header" && !isHeaderParameter(name)) return [];
  const isSent = place === "path" || raw.required === true;
  const [content] = Object.values(mapOf(raw.content));
  if (content !== undefined) {
    const example = isSent ? exampleOf(content, sampler) : givenExample(content);
    const value = example === undefined ? null : JSON.stringify(example);
    return [{ place, name, value }];
  }
  // In 2.0, the parameter itself is the schema.
  const media = raw.schema === undefined ? { ...raw, schema: raw } : raw;
  const example = givenExample(media) ??
    (isSent || isBounded(media.schema) ? sampler.sample(media.schema) : null);
  return spread(place, name, example, raw);
}

function isHeaderParameter(name: string): boolean {
  return isHeaderName(name) && !SAID_ELSEWHERE.includes(name.toLowerCase());
}

/** Whether a schema is a number with bounds: any number within them will do. */
function isBounded(schema: unknown): boolean {
  const { keywords, type } = shapeOf(schema);
  return (type === "integer" || type === "number") &&
    (keywords.minimum !== undefined || keywords.maximum !== undefined);
}

/** The names and values that are sent for a value. */
function spread(
  place: ApiParameter["place"],
  name: string,
  value: Value,
  raw: RawApiMap,
): ApiParameter[] {
  if (value === null || typeof value !== "object") return [{ place, name, value }];
  const { style, isExploded } = styleOf(place, raw);
  if (isDict(value)) {
    const fields = Object.entries(value);
    if (style === "deepObject") {
      return fields.map(([key, field]) => ({ place, name: `${name}[${key}]`, value: flat(field) }));
    }
    if (place === "query" && isExploded) {
      return fields.map(([key, field]) => ({ place, name: key, value: flat(field) }));
    }
    const pairs = fields.map(([key, field]) => [key, String(flat(field))]);
    const text = isExploded
      ? pairs.map((pair) => pair.join("=")).join(",")
      : pairs.flat().join(",");
    return [{ place, name, value: text }];
  }
  const items = (value as readonly Value[]).map(flat).map((item) =>
    isNumber(item) ? item : String(item)
  );
  if (place === "query" && isExploded) return [{ place, name, value: items }];
  return [{ place, name, value: items.join(SEPARATORS[style] ?? ",") }];
}

const SEPARATORS: Readonly<Record<string, string>> = {
  spaceDelimited: " ",
  pipeDelimited: "|",
  ssv: " ",
  tsv: "\t",
  pipes: "|",
};

function styleOf(
  place: ApiParameter["place"],
  raw: RawApiMap,
): { style: string; isExploded: boolean } {
  const format = rawText(raw.collectionFormat);
  if (format !== undefined) return { style: format, isExploded: format === "multi" };
  const style = rawText(raw.style) ?? (place === "query" || place === "cookie" ? "form" : "simple");
  // In 2.0, parameters have no schema, and lists are joined with commas by default.
  const isExploded = typeof raw.explode === "boolean"
    ? raw.explode
    : style === "form" && raw.schema !== undefined;
  return { style, isExploded };
}

/** A value inside a list or map, which can only be sent as text. */
function flat(value: Value): Exclude<ParameterValue, readonly unknown[]> {
  return typeof value === "object" && value !== null
    ? JSON.stringify(value as Dict | readonly Value[])
    : value;
}
