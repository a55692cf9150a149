import { LoadError } from "../../base/errors.ts";
import { Description, type ReadFile } from "../read/description.ts";
import {
  type DescribedOperation,
  readOperations,
  readServers,
  serversOf,
} from "../read/operations.ts";
import { isHeaderName, isMap, listOf, mapOf, type RawApiMap, rawText } from "../read/raw.ts";
import type { Api, Operation, Requirement, SecurityScheme } from "./api.ts";
import { decodeApiBody, decodeResponses } from "./decode_content.ts";
import { decodeParameter } from "./decode_parameter.ts";
import { makeSampler, type Sampler } from "./sample.ts";

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
