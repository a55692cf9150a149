import { decodePercents } from "../../secrets/secrets.ts";
import { listOf, mapOf, METHODS, rawText } from "../read/raw.ts";
import type { Description, FoundPart } from "./description.ts";

/** An operation that a description has. */
export interface ContractOperation {
  /** In upper case. */
  readonly method: string;
  /** With its parameters in braces: `/pets/{petId}`. */
  readonly path: string;
  readonly id?: string;
  readonly found: FoundPart;
  readonly parameters: readonly OperationParameter[];
  /** Keys of its responses: `200`, `4XX`, `default`. */
  readonly statuses: readonly string[];
}

/** A parameter of an operation; of 2.0, also the fields of a form and the body. */
export interface OperationParameter {
  readonly place: string;
  readonly name: string;
  readonly isRequired: boolean;
  readonly found: FoundPart;
}

/** All operations, in the order of the file. */
export function operationsOf(description: Description): ContractOperation[] {
  const paths = description.child(description.root, "paths");
  return Object.keys(mapOf(paths?.value)).filter((path) => path.startsWith("/")).flatMap((path) => {
    const item = description.child(paths!, path);
    return METHODS.flatMap((method) => {
      const found = item && description.child(item, method);
      if (!found) return [];
      const id = rawText(mapOf(found.value).operationId);
      let parameters: readonly OperationParameter[] | undefined;
      return {
        method: method.toUpperCase(),
        path,
        found,
        ...id === undefined ? {} : { id },
        get parameters() {
          return parameters ??= parametersOf(description, [found, item]);
        },
        statuses: Object.keys(mapOf(mapOf(found.value).responses))
          .filter((key) => !key.startsWith("x-")),
      };
    });
  });
}

/** The parameters of an operation, which override those of its path. */
function parametersOf(
  description: Description,
  owners: readonly FoundPart[],
): OperationParameter[] {
  const parameters = new Map<string, OperationParameter>();
  for (const owner of owners) {
    const list = listOf(mapOf(owner.value).parameters);
    for (const index of list.keys()) {
      const found = description.child(owner, "parameters", index);
      const { in: place, name, required } = mapOf(found?.value);
      if (!found || typeof place !== "string" || typeof name !== "string") continue;
      const key = `${place} ${place === "header" ? name.toLowerCase() : name}`;
      if (parameters.has(key)) continue;
      parameters.set(key, { place, name, isRequired: required === true, found });
    }
  }
  return [...parameters.values()];
}

/** An operation that a request is for, with the values in its path. */
export interface Match {
  readonly operation: ContractOperation;
  readonly values: ReadonlyMap<string, string>;
}

/** There is no operation for a request. */
export interface NoMatch {
  /** The methods that the path has. */
  readonly methods: readonly string[];
  /** The path without that of the server. */
  readonly path: string;
}

/** Finds the operations of requests. */
export interface Router {
  /** `own` is another path that the server may have. */
  match(method: string, path: string, own?: string): Match | NoMatch;
}

/** `base` takes the place of the paths of all servers. */
export function makeRouter(
  description: Description,
  operations: readonly ContractOperation[],
  base: string | undefined,
): Router {
  const bases = base === undefined ? basePaths(description) : [withoutSlash(base)];
  const routes = new Map<number, Route[]>();
  for (const operation of operations) {
    const count = operation.path.split("/").length;
    let list = routes.get(count);
    if (!list) routes.set(count, list = []);
    list.push(routeOf(operation));
  }
  // A word is meant before a parameter: /pets/mine before /pets/{petId}.
  for (const list of routes.values()) list.sort((a, b) => b.words - a.words);
  return {
    match(method, path, own) {
      const methods = new Set<string>();
      let inside: string | undefined;
      const all = own === undefined || base !== undefined ? bases : [withoutSlash(own), ...bases];
      for (const base of all) {
        if (!path.startsWith(base) || path.length > base.length && path[base.length] !== "/") {
          continue;
        }
        const rest = path.slice(base.length) || "/";
        inside ??= rest;
        for (const { operation, pattern, names } of routes.get(rest.split("/").length) ?? []) {
          const found = pattern.exec(rest);
          if (!found) continue;
          if (operation.method !== method) {
            methods.add(operation.method);
            continue;
          }
          const values = names.map((name, at) => [name, decodePercents(found[at + 1]!)] as const);
          return { operation, values: new Map(values) };
        }
      }
      return { methods: [...methods], path: inside ?? path };
    },
  };
}

interface Route {
  readonly operation: ContractOperation;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** The number of characters outside of parameters. */
  readonly words: number;
}

function routeOf(operation: ContractOperation): Route {
  const parts = operation.path.split(/\{([^{}]+)\}/);
  const pattern = parts.map((part, at) =>
    at % 2 === 1 ? "([^/]+?)" : asInUrl(part).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  );
  return {
    operation,
    pattern: new RegExp(`^${pattern.join("")}$`),
    names: parts.filter((_, at) => at % 2 === 1),
    words: parts.filter((_, at) => at % 2 === 0).join("").length,
  };
}

/** A part of a path as requests have it: /größe as /gr%C3%B6%C3%9Fe. */
function asInUrl(part: string): string {
  return part.replace(/[^!-~]+/gu, (text) => encodeURIComponent(text.toWellFormed()));
}

/** The paths of the servers, the longest first; a request may also be for none of them. */
function basePaths({ version, root }: Description): string[] {
  const { servers, basePath } = mapOf(root.value);
  const paths = version === "2.0" ? [rawText(basePath) ?? "/"] : listOf(servers).map((server) => {
    const { url, variables } = mapOf(server);
    const filled = String(url ?? "/").replace(
      /\{([^{}]*)\}/g,
      (_, name) => String(mapOf(mapOf(variables)[name]).default ?? ""),
    );
    return URL.parse(filled, "http://localhost/")?.pathname ?? "/";
  });
  return [...new Set([...paths, "/"].map(withoutSlash))].sort((a, b) => b.length - a.length);
}

function withoutSlash(path: string): string {
  const whole = path.startsWith("/") || path === "" ? path : `/${path}`;
  return whole.replace(/\/+$/, "");
}
