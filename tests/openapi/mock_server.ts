/**
 * A server built from an OpenAPI description: it refuses what the description does not allow, and
 * remembers what was created until it is deleted.
 *
 * @module
 */
import { type TestServer, withServer } from "../support/servers/with_server.ts";

type Json = Readonly<Record<string, unknown>>;

/** A server, and what it was asked: `POST /pets 201`. */
export interface MockServer extends TestServer {
  readonly seen: readonly string[];
}

export interface MockOptions {
  /** The path before those of the description. */
  readonly basePath?: string;
  /** Changes a response before it is sent, to break the contract. */
  readonly spoil?: (operation: string, status: number, body: unknown) => [number, unknown];
}

const METHODS = ["get", "put", "post", "delete", "patch", "head", "options"];

/** Opens a server for a description whose references have been resolved. */
export function mockServer(root: Json, options: MockOptions = {}): MockServer {
  const store = new Map<string, Json>();
  const seen: string[] = [];
  let last = 40;

  /** Everything above a path that was created has to be there still. */
  function missing(parts: readonly string[], template: readonly string[]): boolean {
    return template.some((part, index) => {
      if (!isParameter(part)) return false;
      const collection = template.slice(0, index).join("/");
      const creates = Object.entries(mapOf(root.paths)).some(([path, item]) =>
        sameShape(path.slice(1), collection) && mapOf(item).post !== undefined
      );
      return creates && !store.has(parts.slice(0, index + 1).join("/"));
    });
  }

  async function respond(request: Request): Promise<[status: number, body?: unknown]> {
    const url = new URL(request.url);
    if (!url.pathname.startsWith(options.basePath ?? "")) return [404, "no such path"];
    const parts = url.pathname.slice((options.basePath ?? "").length + 1).split("/");
    const found = findPath(mapOf(root.paths), parts);
    const operation = mapOf(found?.item[request.method.toLowerCase()]);
    if (!found || operation.responses === undefined) return [404, "no such operation"];
    const refusal = refuseCredentials(root, operation, request, url);
    if (refusal !== undefined) return [401, refusal];
    const problem = parametersProblem(found, operation, request, url, parts);
    if (problem !== undefined) return [400, problem];
    if (missing(parts, found.template)) return [404, "no such thing"];
    const body = await bodyOf(operation, request);
    if (typeof body === "string") return [400, body];
    const status = Number(
      Object.keys(mapOf(operation.responses)).filter((code) => code < "4").sort()[0]
        ?.replace(/XX$/, "00"),
    ) || 200;
    const isItem = isParameter(found.template.at(-1) ?? "");
    const key = parts.join("/");
    if (request.method === "DELETE") {
      store.delete(key);
      return [status, undefined];
    }
    const schema = responseSchema(operation, status);
    if (schema === undefined) return [status, undefined];
    const known = isItem ? store.get(key) : undefined;
    const id = known ? mapOf(known).id : ++last;
    const thing = fill(schema, { ...known, ...body, id });
    if (request.method === "POST" && !isItem) {
      const name = idOf(thing);
      store.set(`${key}/${name}`, thing as Json);
    } else if (isItem) {
      store.set(key, thing as Json);
    }
    return [status, thing];
  }

  const server = withServer(async (request) => {
    let [status, body] = await respond(request);
    const path = new URL(request.url).pathname.slice((options.basePath ?? "").length);
    if (options.spoil) [status, body] = options.spoil(`${request.method} ${path}`, status, body);
    seen.push(`${request.method} ${path} ${status}`);
    if (status === 302) return new Response(null, { status, headers: { location: "/nowhere" } });
    if (body === undefined) return new Response(null, { status });
    return typeof body === "string" && status === 200
      ? new Response(body, { status })
      : Response.json(body, { status });
  });
  return { ...server, seen, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

interface FoundPath {
  readonly template: readonly string[];
  readonly item: Json;
}

function findPath(paths: Json, parts: readonly string[]): FoundPath | undefined {
  const all = Object.entries(paths).map(([path, item]) => ({
    template: path.slice(1).split("/"),
    item: mapOf(item),
  }));
  const fits = ({ template }: FoundPath) =>
    template.length === parts.length &&
    template.every((part, index) =>
      isParameter(part) ? parts[index] !== "" : part === parts[index]
    );
  const fitting = all.filter(fits);
  return fitting.find(({ template }) => !template.some(isParameter)) ?? fitting[0];
}

function refuseCredentials(
  root: Json,
  operation: Json,
  request: Request,
  url: URL,
): string | undefined {
  const ways = (operation.security ?? root.security ?? [{}]) as readonly Json[];
  const schemes = mapOf(mapOf(root.components).securitySchemes);
  const passes = (name: string) => {
    const { type, scheme, in: location, name: key } = mapOf(schemes[name]);
    const authorization = request.headers.get("authorization") ?? "";
    if (type === "http") return scheme === "bearer" && authorization === "Bearer secret-token";
    if (location === "query") return url.searchParams.get(String(key)) === "secret-key";
    if (location === "header") return request.headers.get(String(key)) === "secret-key";
    return (request.headers.get("cookie") ?? "").split("; ").includes(`${key}=secret-key`);
  };
  if (ways.length === 0 || ways.some((way) => Object.keys(way).every(passes))) return undefined;
  return "no credentials";
}

function parametersProblem(
  { item, template }: FoundPath,
  operation: Json,
  request: Request,
  url: URL,
  parts: readonly string[],
): string | undefined {
  const parameters = [...listOf(item.parameters), ...listOf(operation.parameters)].map(mapOf);
  for (const { in: location, name, required, schema } of parameters) {
    const key = String(name);
    const value = location === "path"
      ? parts[template.indexOf(`{${key}}`)]
      : location === "query"
      ? url.searchParams.get(key)
      : location === "header"
      ? request.headers.get(key)
      : undefined;
    if (location === "cookie") continue;
    if (value === null || value === undefined) {
      if (required === true) return `${key} is missing`;
      continue;
    }
    const { type, minimum, maximum, enum: allowed } = mapOf(schema);
    if (type === "integer" && !/^-?\d+$/.test(value)) return `${key} is not an integer: ${value}`;
    if (Number(value) < Number(minimum) || Number(value) > Number(maximum)) {
      return `${key}: ${value}`;
    }
    if (Array.isArray(allowed) && !allowed.includes(value)) return `${key} is none of the values`;
  }
  return undefined;
}

/** The body of a request, or why it is not allowed. */
async function bodyOf(operation: Json, request: Request): Promise<Json | string> {
  const content = mapOf(mapOf(operation.requestBody).content);
  const [type] = Object.keys(content);
  if (type === undefined) return {};
  const sent = request.headers.get("content-type") ?? "";
  if (sent.split(";")[0] !== type) return `a body of the type ${sent}`;
  const text = await request.text();
  const value = /json/.test(type)
    ? JSON.parse(text)
    : Object.fromEntries(new URLSearchParams(text));
  const problem = validate(mapOf(mapOf(content[type]).schema), value, "body", true);
  return problem ?? value;
}

function responseSchema(operation: Json, status: number): Json | undefined {
  const responses = mapOf(operation.responses);
  const response = mapOf(responses[status] ?? responses[`${status / 100}XX`]);
  const [media] = Object.values(mapOf(response.content));
  const schema = mapOf(media).schema;
  return schema === undefined ? undefined : mapOf(schema);
}

/** Why a value does not follow a schema. */
function validate(schema: Json, value: unknown, at: string, isSent: boolean): string | undefined {
  const types = [schema.type].flat();
  if (value === null) {
    const mayBe = schema.nullable === true || types.includes("null") || schema.type === undefined;
    return mayBe ? undefined : `${at} is null`;
  }
  for (const part of listOf(schema.allOf)) {
    const problem = validate(mapOf(part), value, at, isSent);
    if (problem !== undefined) return problem;
  }
  if (types.includes("object") && typeof value !== "object") return `${at} is not an object`;
  if (types.includes("array") && !Array.isArray(value)) return `${at} is not a list`;
  if (types.includes("string") && typeof value !== "string") return `${at} is not a string`;
  if (types.includes("integer") && !Number.isInteger(value)) return `${at} is not an integer`;
  if (typeof schema.pattern === "string" && !new RegExp(schema.pattern).test(String(value))) {
    return `${at} does not match ${schema.pattern}`;
  }
  if (String(value).length < Number(schema.minLength)) return `${at} is too short`;
  if (Number(value) < Number(schema.minimum)) return `${at} is too small`;
  if (Number(value) <= Number(schema.exclusiveMinimum)) return `${at} is too small`;
  if (Number(value) % Number(schema.multipleOf) > 0) return `${at} is not a multiple`;
  if (schema.format === "email" && !String(value).includes("@")) return `${at} is not an address`;
  if (Array.isArray(schema.enum) && !schema.enum.includes(value)) {
    return `${at} is not one of the values`;
  }
  if (typeof value !== "object") return undefined;
  const properties = mapOf(schema.properties);
  for (const name of listOf(schema.required).map(String)) {
    const isTheirs = isSent && mapOf(properties[name]).readOnly === true;
    if (!isTheirs && !Object.hasOwn(value, name)) return `${at}.${name} is missing`;
  }
  for (const [name, field] of Object.entries(value)) {
    if (properties[name] === undefined) continue;
    const problem = validate(mapOf(properties[name]), field, `${at}.${name}`, isSent);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** A value that follows a schema, with what is known where it has a place. */
function fill(schema: Json, known: Json): unknown {
  const parts = [schema, ...listOf(schema.allOf).map(mapOf)];
  const [type] = [schema.type].flat();
  if (type === "array") return [];
  if (type !== "object" && parts.length === 1) return type === "integer" ? 7 : "some text";
  const value: Record<string, unknown> = {};
  for (const part of parts) {
    if (part !== schema) Object.assign(value, fill(part, known));
    for (const [name, property] of Object.entries(mapOf(part.properties))) {
      const isRequired = listOf(part.required).includes(name);
      if (name === "data") value[name] = fill(mapOf(property), known);
      else if (known[name] !== undefined) value[name] = typed(mapOf(property), known[name]);
      else if (isRequired && mapOf(property).nullable === true) value[name] = null;
      else if (isRequired) value[name] = fill(mapOf(property), {});
    }
  }
  return value;
}

function typed({ type }: Json, value: unknown): unknown {
  return type === "string" && value !== null ? String(value) : value;
}

function idOf(thing: unknown): unknown {
  const { id, isbn, data } = mapOf(thing);
  return isbn ?? id ?? mapOf(data).id;
}

function sameShape(path: string, other: string): boolean {
  const plain = (text: string) => text.replace(/\{[^}]*\}/g, "{}");
  return plain(path) === plain(other);
}

function isParameter(part: string): boolean {
  return part.startsWith("{");
}

function mapOf(value: unknown): Json {
  return typeof value === "object" && value !== null ? value as Json : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A description with the parts that its own references name in their place. */
export function resolveLocally(root: Json): Json {
  const done = new Map<unknown, unknown>();
  const resolve = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null) return value;
    const known = done.get(value);
    if (known !== undefined) return known;
    const { $ref } = value as Json;
    if (typeof $ref === "string") {
      const path = $ref.slice(2).split("/").map((part) => part.replaceAll("~1", "/"));
      return resolve(path.reduce<unknown>((at, part) => mapOf(at)[part], root));
    }
    const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [] : {};
    done.set(value, copy);
    for (const [key, field] of Object.entries(value)) {
      (copy as Record<string, unknown>)[key] = resolve(field);
    }
    return copy;
  };
  return resolve(root) as Json;
}

/** The names of all operations of a description: `GET /pets`. */
export function operationsOf(root: Json): string[] {
  return Object.entries(mapOf(root.paths)).flatMap(([path, item]) =>
    METHODS.filter((method) => mapOf(item)[method] !== undefined)
      .map((method) => `${method.toUpperCase()} ${path}`)
  );
}
