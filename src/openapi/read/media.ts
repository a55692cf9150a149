import type { Value } from "../../base/value/value.ts";
import { isMap, listOf, mapOf, type RawApiMap } from "./raw.ts";
import { givenValue, plainValue, type Sampler } from "../sample/sample.ts";

/** Whether a media type is JSON, by name or by suffix. */
export function isJson(type: string): boolean {
  const [plain = ""] = type.toLowerCase().split(";", 1);
  return /^(?:application|text)\/json$|\+json$/.test(plain.trim());
}

/** The preferred media type to send or to read. */
export function preferredType(types: readonly string[]): string | undefined {
  return KINDS.flatMap((kind) => types.find((type) => kind.test(type.toLowerCase())) ?? [])[0] ??
    types[0];
}

const KINDS = [
  /^application\/json\b/,
  /^(?:application|text)\/(?:.*\+)?json\b/,
  /^application\/x-www-form-urlencoded/,
  /^multipart\/form-data/,
  /^text\/plain/,
];

/** A value for a parameter or body: its example, or a sample of its schema. */
export function exampleOf(media: unknown, sampler: Sampler): Value {
  return givenExample(media) ?? sampler.sample(mapOf(media).schema);
}

/** The example of a parameter or body; undefined if it has none. */
export function givenExample(media: unknown): Value | undefined {
  const { example, examples, schema, "x-example": other } = mapOf(media);
  for (const value of [example, other]) if (value !== undefined) return plainValue(value);
  for (const entry of isMap(examples) ? Object.values(examples) : listOf(examples)) {
    const value = isMap(entry) ? valueOf(entry) : entry;
    if (value !== undefined) return plainValue(value);
  }
  return schema === undefined ? undefined : givenValue(schema);
}

function valueOf(entry: RawApiMap): unknown {
  // External examples are not fetched. Some descriptions give the value without "value".
  return "value" in entry ? entry.value : "externalValue" in entry ? undefined : entry;
}
