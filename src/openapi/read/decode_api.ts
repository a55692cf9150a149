import { decodeBody } from "./body.ts";
import type { Api, Operation } from "./model.ts";
import { decodeParameters } from "./parameters.ts";
import { isMap, listOf, mapOf, type RawMap, textOf } from "./raw.ts";
import { decodeResponses } from "./responses.ts";
import type { SchemaNames } from "../sample/sample.ts";
import { decodeSchemes, decodeSecurity } from "./security.ts";
import { absoluteServer, decodeServer } from "./servers.ts";
import { swaggerServer, upgradeOperation } from "./swagger.ts";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** Reads a description of any version whose references have been resolved. */
export function decodeApi(root: RawMap): Api {
  const isSwagger = root.swagger !== undefined;
  const components = mapOf(root.components);
  const schemas = isSwagger ? root.definitions : components.schemas;
  const names = new Map(Object.entries(mapOf(schemas)).map(([name, schema]) => [schema, name]));
  const servers = isSwagger ? [swaggerServer(root)] : root.servers;
  const server = absoluteServer(decodeServer(servers) ?? "/");
  const operations: Operation[] = [];
  for (const [path, raw] of Object.entries(mapOf(root.paths))) {
    const item = withAllPathParameters(mapOf(raw));
    for (const method of METHODS) {
      const operation = item[method];
      if (isMap(operation) && path.startsWith("/")) {
        operations.push(decodeOperation(method, path, operation, item, { root, names, isSwagger }));
      }
    }
  }
  return {
    title: textOf(mapOf(root.info).title) ?? "API",
    server,
    operations: byTagOrder(operations, listOf(root.tags)),
    schemes: decodeSchemes(isSwagger ? root.securityDefinitions : components.securitySchemes),
  };
}

/** What one operation says of the parameters in the path holds for those that do not say it. */
function withAllPathParameters(item: RawMap): RawMap {
  const others = METHODS.flatMap((method) => listOf(mapOf(item[method]).parameters));
  const inPath = others.filter((parameter) => mapOf(parameter).in === "path");
  return { ...item, parameters: [...listOf(item.parameters), ...inPath] };
}

interface Surroundings {
  readonly root: RawMap;
  readonly names: SchemaNames;
  readonly isSwagger: boolean;
}

function decodeOperation(
  method: string,
  path: string,
  raw: RawMap,
  item: RawMap,
  { root, names, isSwagger }: Surroundings,
): Operation {
  const operation = isSwagger ? upgradeOperation(raw, item.parameters, root) : raw;
  const id = textOf(operation.operationId);
  const summary = textOf(operation.summary) ?? textOf(item.summary);
  const server = decodeServer(operation.servers) ?? decodeServer(item.servers);
  const takesBody = method !== "get" && method !== "head" && method !== "trace";
  const body = takesBody ? decodeBody(operation.requestBody, names) : undefined;
  return {
    method,
    path,
    tag: textOf(listOf(operation.tags)[0])?.trim() ?? wordOf(path),
    parameters: decodeParameters(operation.parameters, item.parameters, names),
    security: decodeSecurity(operation.security) ?? decodeSecurity(root.security) ?? [],
    ...decodeResponses(operation.responses),
    ...(id === undefined ? {} : { id }),
    ...(summary === undefined ? {} : { summary }),
    ...(server === undefined ? {} : { server: absoluteServer(server) }),
    ...(body === undefined ? {} : { body }),
  };
}

/** The first word of a path that says what it is about. */
function wordOf(path: string): string {
  const words = path.split("/").filter((word) => word !== "" && !/[{}]/.test(word));
  return words.find((word) => !/^(?:api|rest|v\d+(?:\.\d+)*)$/i.test(word)) ?? words[0] ?? "root";
}

/** Operations in the order in which a description lists their tags, then as they stand. */
function byTagOrder(operations: readonly Operation[], tags: readonly unknown[]): Operation[] {
  const order = new Map<string, number>();
  for (const tag of [...tags.map((tag) => mapOf(tag).name), ...operations.map(({ tag }) => tag)]) {
    if (typeof tag === "string" && !order.has(tag.trim())) order.set(tag.trim(), order.size);
  }
  return operations.toSorted((a, b) => order.get(a.tag)! - order.get(b.tag)!);
}
