import { jsonOrText } from "../../base/value/parse_json.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import type { DescribedOperation } from "../read/operations.ts";
import { isJson, isMap, listOf, mapOf, type RawApiMap, rawText } from "../read/raw.ts";
import type { ApiResponse, Body, RequiredField, Success } from "./api.ts";
import { fits } from "./fits.ts";
import { explicitValue, multipartSample, plainValue, type Sampler } from "./sample.ts";
import { requiredFields, typeOf } from "./schema.ts";

/** The body of a request; undefined if the operation has none. */
export function decodeApiBody(operation: DescribedOperation, sampler: Sampler): Body | undefined {
  const { body } = operation;
  const [type, media] = body
    ? typeAndMedia(body.types, (type) => body.media(type)?.value)
    : formOfSwagger(operation);
  if (type === undefined) return undefined;
  const sample = sampleBody(type, media, sampler);
  // A sample has no fields that only a response has.
  const required = requiredFields(media.schema).map(({ name }) => name)
    .filter((name) => isDict(sample.value) && Object.hasOwn(sample.value, name));
  return { ...sample, isRequired: body?.isRequired ?? required.length > 0, required };
}

function sampleBody(
  type: string,
  media: RawApiMap,
  sampler: Sampler,
): Pick<Body, "contentType" | "value"> {
  if (/[/+]xml\b/i.test(type)) {
    const example = explicitExample(media);
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
  const contentType = type.includes("*") ? "application/json" : type;
  // Some examples are JSON as a string.
  if (isJson(contentType)) return { contentType, value: jsonOf(value) };
  return { contentType, value: textFor(value) };
}

function typeAndMedia(
  types: readonly string[],
  mediaOf: (type: string) => unknown,
): [type: string | undefined, media: RawApiMap] {
  const type = preferredType(types);
  return [type, mapOf(type === undefined ? undefined : mediaOf(type))];
}

/** The parameters of 2.0 that are fields of a form, as the content of 3.0. */
function formOfSwagger(
  operation: DescribedOperation,
): [type: string | undefined, media: RawApiMap] {
  const fields = operation.parameters.filter(({ location }) => location === "formData");
  if (fields.length === 0) return [undefined, {}];
  const types = operation.types("consumes").filter((type) => /form/.test(type));
  const schemas = fields.map(({ name, part }) => {
    // In a schema, `required` is a list of names, not a boolean.
    const { required: _, ...schema } = mapOf(part.value);
    const isFile = schema.type === "file";
    return [name, isFile ? { ...schema, type: "string", format: "binary" } : schema] as const;
  });
  const type = schemas.some(([, { format }]) => format === "binary")
    ? "multipart/form-data"
    : types.find((type) => /urlencoded/.test(type)) ?? types[0] ??
      "application/x-www-form-urlencoded";
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return [type, {
    schema: { type: "object", properties: Object.fromEntries(schemas), required },
  }];
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

/** The preferred media type to send or to read. */
function preferredType(types: readonly string[]): string | undefined {
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
  return explicitExample(media) ?? sampler.sample(mapOf(media).schema);
}

/** The example of a parameter or body; undefined if it has none. */
export function explicitExample(media: unknown): Value | undefined {
  const { example, examples, schema, "x-example": other } = mapOf(media);
  const listed = isMap(examples) ? Object.values(examples) : listOf(examples);
  const given = [example, other, ...listed.map((entry) => isMap(entry) ? valueOf(entry) : entry)]
    .filter((value) => value !== undefined).map(plainValue);
  const fitting = given.find((value) =>
    fits(value, schema ?? true) || typeof value === "string" && /^\s*[[{<\d-]/.test(value)
  );
  if (fitting !== undefined) return fitting;
  return schema === undefined ? undefined : explicitValue(schema);
}

function valueOf(entry: RawApiMap): unknown {
  // External examples are not fetched. Some descriptions give the value without "value".
  return "value" in entry ? entry.value : "externalValue" in entry ? undefined : entry;
}

/** The successful responses of an operation. */
interface Responses {
  readonly success: Success;
  readonly response: ApiResponse | undefined;
  readonly accept: string | undefined;
}

/** Reads the responses of an operation. */
export function decodeResponses(operation: DescribedOperation): Responses {
  const success = successOf(operation.statuses);
  const contents = keysOf(success).flatMap((key) => operation.response(key) ?? []);
  const responses = contents.map(({ types, media }) => {
    const [type, { schema }] = typeAndMedia(types, (type) => media(type)?.value);
    return type !== undefined && isJson(type) ? decodeSchema(mapOf(schema)) : undefined;
  });
  return {
    success,
    response: commonResponse(responses),
    accept: preferredType(contents.flatMap(({ types }) => types)),
  };
}

function successOf(keys: readonly string[]): Success {
  for (const first of ["2", "3"]) {
    const codes = keys.filter((key) => /^\d{3}$/.test(key) && key.startsWith(first))
      .map(Number).sort((a, b) => a - b);
    if (codes.length > 0) return { kind: "codes", codes };
    if (keys.some((key) => key.toUpperCase() === `${first}XX`)) {
      return { kind: "range", from: Number(first) * 100 };
    }
  }
  return { kind: "any" };
}

function keysOf(success: Success): string[] {
  switch (success.kind) {
    case "codes":
      return success.codes.map(String);
    case "range":
      return [`${success.from / 100}XX`, `${success.from / 100}xx`];
    case "any":
      return ["default"];
  }
}

function decodeSchema(schema: RawApiMap): ApiResponse {
  const type = typeOf(schema);
  if (type === "object") return { type, schema, required: requiredFields(schema) };
  return { type: type === "array" ? type : "other", schema, required: [] };
}

/** The common part of all successful responses. */
function commonResponse(all: readonly (ApiResponse | undefined)[]): ApiResponse | undefined {
  const [first, ...others] = all;
  if (!first || others.length === 0) return first;
  const isSame = others.every((other) => other?.type === first.type);
  const required = isSame ? first.required.flatMap((field) => inAll(field, others)) : [];
  return { type: isSame ? first.type : "other", required, schema: first.schema };
}

function inAll(field: RequiredField, others: readonly (ApiResponse | undefined)[]) {
  const same = others.map((other) => other?.required.find(({ name }) => name === field.name));
  if (same.includes(undefined)) return [];
  return [{
    ...field,
    isNullable: field.isNullable || same.some((other) => other!.isNullable),
  }];
}
