import { LoadError } from "../../base/errors.ts";
import { Description, type ReadFile } from "../read/description.ts";
import {
  type DescribedOperation,
  type DescribedParameter,
  readOperations,
  readServers,
  serversOf,
} from "../read/operations.ts";
import { isHeaderName, isMap, listOf, mapOf, type RawApiMap, rawText } from "../read/raw.ts";
import type {
  Api,
  ApiParameter,
  Operation,
  ParameterValue,
  Requirement,
  SecurityScheme,
} from "./api.ts";
import { decodeApiBody, decodeResponses, exampleOf, explicitExample } from "./decode_content.ts";
import { makeSampler, type Sampler } from "./sample.ts";
import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import { shapeOf } from "./schema.ts";

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

/** The first meaningful word of a path. */
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
