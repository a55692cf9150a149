import { type Dict, dictOf, type Value } from "../../base/value/value.ts";
import type { Operation } from "./api.ts";
import { snakeCase } from "../../draft/draft.ts";

interface Request {
  readonly id: string | undefined;
  /** In lower case. */
  readonly method: string;
  /** With `{}` for each part that is rendered. */
  readonly path: string;
}

/** What an existing workflow has of an API. */
export interface Existing {
  readonly ids: readonly string[];
  /** The operations that no step carries out. */
  readonly missing: readonly Operation[];
  /** Requests to the API that no operation describes, such as `GET /orders/{} (get_order)`. */
  readonly gone: readonly string[];
}

/**
 * Compares the requests of a workflow with the operations of an API at `server`. A step belongs to
 * an operation by its method and path, or else by its id.
 */
export function readExisting(
  workflow: Dict,
  operations: readonly Operation[],
  server: string,
): Existing {
  const steps = listOf(workflow.jobs).flatMap((job) => listOf(dictOf(job).steps).map(dictOf));
  const requests = steps.flatMap((step) => readRequest(step, server) ?? []);
  const byPath = requests.map(({ method, path }) => findOperation(operations, method, path));
  const found = new Set(byPath);
  const byId = requests.map(({ id }, at) =>
    byPath[at] ??
      operations.find((operation) =>
        id !== undefined && snakeCase(operation.id ?? "") === id && !found.has(operation)
      )
  );
  const present = new Set(byId);
  return {
    ids: steps.flatMap(({ id }) => typeof id === "string" ? [id] : []),
    missing: operations.filter((operation) => !present.has(operation)),
    gone: requests.flatMap(({ method, path, id }, at) =>
      byId[at] ? [] : [`${method.toUpperCase()} ${path}${id === undefined ? "" : ` (${id})`}`]
    ),
  };
}

const METHODS = ["get", "post", "put", "patch", "delete", "head", "options"];

function readRequest({ uses, id, with: params }: Dict, server: string): Request | undefined {
  if (uses !== "http") return undefined;
  const written = dictOf(params);
  const short = METHODS.find((method) => typeof written[method] === "string");
  const url = short === undefined ? written.url : written[short];
  const path = typeof url === "string" ? pathOf(url, server) : undefined;
  if (path === undefined) return undefined;
  const method = short ?? String(written.method ?? "get").toLowerCase();
  return { id: typeof id === "string" ? id : undefined, method, path };
}

/** The path of a request to the API; undefined for another server. */
function pathOf(url: string, server: string): string | undefined {
  const path = url.startsWith(`${server}/`) ? url.slice(server.length) : url;
  const [plain = ""] = path.replace(/^\{\{[^}]*\}\}(?=\/)/, "").replace(/\{\{.*?\}\}/g, "{}")
    .split("?");
  return plain.startsWith("/") ? plain : undefined;
}

/** The operation at a path; one whose path has fewer parameters comes first. */
function findOperation(
  operations: readonly Operation[],
  method: string,
  path: string,
): Operation | undefined {
  const parameters = (one: Operation) => one.path.split("{").length;
  return operations.filter((one) => one.method === method && patternOf(one.path).test(path))
    .toSorted((a, b) => parameters(a) - parameters(b))[0];
}

function patternOf(path: string): RegExp {
  const parts = path.replace(/(?<=.)\/+$/, "").split(/\{[^{}]*\}/);
  return new RegExp(`^${parts.map((part) => RegExp.escape(part)).join("[^/]+")}/?$`);
}

/** A value if it is a list, or an empty list. */
function listOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? value : [];
}
