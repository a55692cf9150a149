import { jsonOrText } from "../../base/value/parse_json.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import { exampleOf, givenExample, isJson, preferredType } from "./media.ts";
import type { Body } from "./api.ts";
import { multipartSample } from "../sample/multipart_sample.ts";
import { mapOf, ownOf, rawText } from "./raw.ts";
import type { Sampler } from "../sample/sample.ts";

/** The body of a request; undefined if the operation has none. */
export function decodeApiBody(raw: unknown, sampler: Sampler): Body | undefined {
  const content = mapOf(mapOf(raw).content);
  const type = preferredType(Object.keys(content));
  if (type === undefined) return undefined;
  const media = mapOf(ownOf(content, type));
  if (/[/+]xml\b/i.test(type)) {
    const example = givenExample(media);
    const isText = typeof example === "string";
    return {
      contentType: type,
      value: isText ? example : sampler.sampleXml(media.schema, example),
    };
  }
  const value = exampleOf(media, sampler);
  if (/^multipart\//i.test(type)) return multipartSample(value, media.schema);
  if (/^application\/x-www-form-urlencoded/i.test(type)) {
    return { contentType: type, value: isDict(value) ? formOf(value) : textFor(value) };
  }
  const isAny = type.includes("*");
  const contentType = isAny ? "application/json" : type;
  // Some examples are JSON as a string.
  if (isJson(contentType)) return { contentType, value: jsonOf(value) };
  return { contentType, value: textFor(value) };
}

function jsonOf(value: Value): Value {
  if (typeof value !== "string") return value;
  return /^\s*[[{]/.test(value) ? jsonOrText(value) : JSON.stringify(value);
}

/** The fields of a form are strings; a list repeats its name. */
function formOf(value: Readonly<Record<string, Value>>): Value {
  const flat = (field: Value) =>
    typeof field === "object" && field !== null ? textFor(field) : field;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      Array.isArray(field) ? field.map(flat) : flat(field),
    ]),
  );
}

function textFor(value: Value): string {
  return typeof value === "string" ? value : rawText(JSON.stringify(value)) ?? "text";
}
