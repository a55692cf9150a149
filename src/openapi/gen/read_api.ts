import { LoadError } from "../../base/errors.ts";
import {
  Description,
  isJson,
  isMap,
  listOf,
  mapOf,
  type RawApiMap,
  rawText,
  type ReadFile,
} from "../read/description.ts";
import {
  type DescribedOperation,
  type DescribedParameter,
  readOperations,
  readServers,
  serversOf,
} from "../read/operations.ts";
import type {
  Api,
  ApiParameter,
  ApiResponse,
  Body,
  Operation,
  ParameterValue,
  RequiredField,
  Requirement,
  SecurityScheme,
  Success,
} from "./api.ts";
import { explicitValue, makeSampler, multipartSample, plainValue, type Sampler } from "./sample.ts";
import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import { requiredFields, shapeOf, typeOf } from "./schema.ts";
import { jsonOrText } from "../../base/value/parse_json.ts";
import { fits } from "./fits.ts";

/** Reads an OpenAPI description. Throws LoadError if the file is not one. */
export async function readApi(path: string, read: ReadFile): Promise<Api> {
  const description = await Description.open(path, read);
  description.resolve();
  const root = mapOf(description.root.value);
  const isSwagger = description.version === "2.0";
  const components = mapOf(root.components);
  const schemas = isSwagger ? root.definitions : components.schemas;
  const names = new Map(Object.entries(mapOf(schemas)).map(([name, schema]) => [schema, name]));
  const sampler = await makeSampler(names);
  const server = absoluteServer(readServers(root, isSwagger)[0] ?? "/");
  const operations = readOperations(description).map((operation) =>
    decodeOperation(operation, root, server, sampler)
  );
  if (operations.length === 0) {
    throw new LoadError(`'${path}' describes no operations`, [], whyNone(root));
  }
  return {
    title: rawText(mapOf(root.info).title) ?? "API",
    server,
    operations: byTagOrder(operations, listOf(root.tags)),
    schemes: decodeSchemes(isSwagger ? root.securityDefinitions : components.securitySchemes),
  };
}

function whyNone(root: RawApiMap): string | undefined {
  if (isMap(root.paths) && Object.keys(root.paths).length > 0) {
    return 'a path starts with "/" and has operations such as "get"';
  }
  return root.webhooks === undefined
    ? 'operations are listed in "paths"'
    : "it describes only webhooks, which the API itself calls";
}

function decodeOperation(
  operation: DescribedOperation,
  root: RawApiMap,
  base: string,
  sampler: Sampler,
): Operation {
  const { path, id } = operation;
  const method = operation.method.toLowerCase();
  const [raw, item] = [mapOf(operation.part.value), mapOf(operation.item.value)];
  const [server] = serversOf(operation);
  const takesBody = method !== "get" && method !== "head" && method !== "trace";
  return {
    method,
    path,
    id,
    summary: rawText(raw.summary) ?? rawText(item.summary),
    tag: rawText(listOf(raw.tags)[0])?.trim() ?? firstWord(path),
    server: server === undefined ? undefined : absoluteServer(server, base),
    parameters: operation.parameters.flatMap((parameter) => decodeParameter(parameter, sampler)),
    statuses: operation.statuses,
    body: takesBody ? decodeApiBody(operation, sampler) : undefined,
    security: decodeSecurity(raw.security) ?? decodeSecurity(root.security) ?? [],
    ...decodeResponses(operation),
  };
}

function firstWord(path: string): string {
  const segments = path.split("/").filter((word) => word !== "" && !/[{}]/.test(word));
  return segments.find((word) => !/^(?:api|rest|v\d+(?:\.\d+)*)$/i.test(word)) ?? segments[0] ??
    "root";
}

/** Operations in the order of the description's tags, then of the file. */
function byTagOrder(operations: readonly Operation[], tags: readonly unknown[]): Operation[] {
  const order = new Map<string, number>();
  for (const tag of [...tags.map((tag) => mapOf(tag).name), ...operations.map(({ tag }) => tag)]) {
    if (typeof tag === "string" && !order.has(tag.trim())) order.set(tag.trim(), order.size);
  }
  return operations.toSorted((a, b) => order.get(a.tag)! - order.get(b.tag)!);
}

/** An absolute server URL without a trailing slash, by default on the host of the base. */
function absoluteServer(url: string, base = "http://localhost"): string {
  const isFull = /^[a-z][a-z0-9+.-]*:\/\//i.test(url);
  const full = isFull
    ? url
    : url.startsWith("//")
    ? `https:${url}`
    : `${/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.exec(base)![0]}/${url.replace(/^\.?\/+|^\.$/, "")}`;
  return full.replace(/\/+$/, "");
}

/** Reads `components.securitySchemes`, or the `securityDefinitions` of 2.0. */
function decodeSchemes(raw: unknown): Map<string, SecurityScheme> {
  return new Map(
    Object.entries(mapOf(raw)).map(([name, scheme]) => [name, decodeScheme(mapOf(scheme))]),
  );
}

function decodeScheme(raw: RawApiMap): SecurityScheme {
  const type = rawText(raw.type) ?? "";
  const scheme = rawText(raw.scheme)?.toLowerCase() ?? "";
  if (type === "oauth2" || type === "openIdConnect") return { kind: "bearer" };
  if (type === "basic" || type === "http" && scheme === "basic") return { kind: "basic" };
  if (type === "http" && scheme === "bearer") return { kind: "bearer" };
  const name = rawText(raw.name);
  const location = raw.in;
  if (type === "apiKey" && name !== undefined) {
    const isUsable = location !== "header" || isHeaderName(name);
    if (isUsable && (location === "header" || location === "query" || location === "cookie")) {
      return { kind: "key", location, name };
    }
  }
  return { kind: "unknown", type: type === "http" ? scheme || type : type || "none" };
}

/** Reads `security`: alternative requirements. Undefined if it is absent. */
function decodeSecurity(raw: unknown): Requirement[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  return raw.flatMap((entry) => isMap(entry) ? [Object.keys(entry)] : []);
}

const LOCATIONS: readonly ApiParameter["location"][] = ["path", "query", "header", "cookie"];

/** Headers that OpenAPI ignores as parameters, because they are described elsewhere. */
const IGNORED_HEADERS = ["accept", "content-type", "authorization"];

/** The parameters to send for a described one: none, or several for an object. */
function decodeParameter(
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

/** The body of a request; undefined if the operation has none. */
function decodeApiBody(operation: DescribedOperation, sampler: Sampler): Body | undefined {
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
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      Array.isArray(field) ? field.map(formField) : formField(field),
    ]),
  );
}

function formField(value: Value): Value {
  return typeof value === "object" && value !== null ? textFor(value) : value;
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
function exampleOf(media: unknown, sampler: Sampler): Value {
  return explicitExample(media) ?? sampler.sample(mapOf(media).schema);
}

/** The example of a parameter or body; undefined if it has none. */
function explicitExample(media: unknown): Value | undefined {
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

function decodeResponses(operation: DescribedOperation): Responses {
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

/** Whether HTTP allows a name for a header. */
function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~\w-]+$/.test(name);
}
