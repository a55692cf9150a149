import { decodeApiBody } from "./body.ts";
import type { Api, Operation } from "./api.ts";
import { decodeParameters } from "./decode_parameters.ts";
import { isMap, listOf, mapOf, METHODS, type RawApiMap, rawText } from "./raw.ts";
import { decodeResponses } from "./responses.ts";
import { makeSampler, type Sampler } from "../sample/sample.ts";
import { decodeSchemes, decodeSecurity } from "./security.ts";
import { swaggerServer, upgradeOperation } from "./swagger.ts";

/** Reads a description of any version; its references must be resolved. */
export async function decodeApi(root: RawApiMap): Promise<Api> {
  const isSwagger = root.swagger !== undefined;
  const components = mapOf(root.components);
  const schemas = isSwagger ? root.definitions : components.schemas;
  const names = new Map(Object.entries(mapOf(schemas)).map(([name, schema]) => [schema, name]));
  const sampler = await makeSampler(names);
  const servers = isSwagger ? [swaggerServer(root)] : root.servers;
  const server = absoluteServer(decodeServer(servers) ?? "/");
  const operations: Operation[] = [];
  for (const [path, raw] of Object.entries(mapOf(root.paths))) {
    const item = withAllPathParameters(mapOf(raw));
    for (const method of METHODS) {
      const operation = item[method];
      if (isMap(operation) && path.startsWith("/")) {
        operations.push(
          decodeOperation(method, path, operation, item, { root, sampler, isSwagger }),
        );
      }
    }
  }
  return {
    title: rawText(mapOf(root.info).title) ?? "API",
    server,
    operations: byTagOrder(operations, listOf(root.tags)),
    schemes: decodeSchemes(isSwagger ? root.securityDefinitions : components.securitySchemes),
  };
}

/** Path parameters that one operation declares apply to the others of its path, too. */
function withAllPathParameters(item: RawApiMap): RawApiMap {
  const others = METHODS.flatMap((method) => listOf(mapOf(item[method]).parameters));
  const inPath = others.filter((parameter) => mapOf(parameter).in === "path");
  return { ...item, parameters: [...listOf(item.parameters), ...inPath] };
}

interface Surroundings {
  readonly root: RawApiMap;
  readonly sampler: Sampler;
  readonly isSwagger: boolean;
}

function decodeOperation(
  method: string,
  path: string,
  raw: RawApiMap,
  item: RawApiMap,
  { root, sampler, isSwagger }: Surroundings,
): Operation {
  const operation = isSwagger ? upgradeOperation(raw, item.parameters, root) : raw;
  const id = rawText(operation.operationId);
  const summary = rawText(operation.summary) ?? rawText(item.summary);
  const server = decodeServer(operation.servers) ?? decodeServer(item.servers);
  const takesBody = method !== "get" && method !== "head" && method !== "trace";
  const body = takesBody ? decodeApiBody(operation.requestBody, sampler) : undefined;
  return {
    method,
    path,
    tag: rawText(listOf(operation.tags)[0])?.trim() ?? wordOf(path),
    parameters: decodeParameters(operation.parameters, item.parameters, sampler),
    security: decodeSecurity(operation.security) ?? decodeSecurity(root.security) ?? [],
    ...decodeResponses(operation.responses),
    ...(id === undefined ? {} : { id }),
    ...(summary === undefined ? {} : { summary }),
    ...(server === undefined ? {} : { server: absoluteServer(server) }),
    ...(body === undefined ? {} : { body }),
  };
}

/** The first meaningful word of a path. */
function wordOf(path: string): string {
  const words = path.split("/").filter((word) => word !== "" && !/[{}]/.test(word));
  return words.find((word) => !/^(?:api|rest|v\d+(?:\.\d+)*)$/i.test(word)) ?? words[0] ?? "root";
}

/** Operations in the order of the description's tags, then of the file. */
function byTagOrder(operations: readonly Operation[], tags: readonly unknown[]): Operation[] {
  const order = new Map<string, number>();
  for (const tag of [...tags.map((tag) => mapOf(tag).name), ...operations.map(({ tag }) => tag)]) {
    if (typeof tag === "string" && !order.has(tag.trim())) order.set(tag.trim(), order.size);
  }
  return operations.toSorted((a, b) => order.get(a.tag)! - order.get(b.tag)!);
}

/** The first server of a list, with its variables replaced; undefined if there is none. */
function decodeServer(raw: unknown): string | undefined {
  const server = mapOf(listOf(raw)[0]);
  const url = rawText(server.url);
  if (url === undefined) return undefined;
  const variables = mapOf(server.variables);
  return url.trim().replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? mapOf(variables[name]) : {};
    const value = variable.default ?? listOf(variable.enum)[0];
    return value === undefined ? whole : String(value);
  });
}

/** An absolute server URL without a trailing slash; the default host is localhost. */
function absoluteServer(url: string): string {
  const isFull = /^[a-z][a-z0-9+.-]*:\/\//i.test(url);
  const full = isFull
    ? url
    : url.startsWith("//")
    ? `https:${url}`
    : `http://localhost/${url.replace(/^\.?\/+|^\.$/, "")}`;
  return full.replace(/\/+$/, "");
}
