import { decodePercents } from "../../secrets/secrets.ts";
import type { Description } from "../read/description.ts";
import { type DescribedOperation, readServers } from "../read/operations.ts";
import { mapOf } from "../read/raw.ts";

/** An operation that a request is for, with the values in its path. */
interface Match {
  readonly operation: DescribedOperation;
  readonly values: ReadonlyMap<string, string>;
}

/** The result for a request that matches no operation. */
export interface NoMatch {
  /** The methods that the path has. */
  readonly methods: readonly string[];
  /** The path without that of the server. */
  readonly path: string;
}

/** Finds the operation of a request; `stepBase` is another path that the server may have. */
type Router = (method: string, path: string, stepBase?: string) => Match | NoMatch;

/** `base` replaces the paths of all servers. */
export function makeRouter(
  description: Description,
  operations: readonly DescribedOperation[],
  base: string | undefined,
): Router {
  const bases = base === undefined ? basePaths(description) : [withoutSlash(base)];
  const routes = Map.groupBy(operations.map(routeOf), ({ segments }) => segments);
  // A word is meant before a parameter: /pets/mine before /pets/{petId}.
  for (const list of routes.values()) list.sort((a, b) => b.letters - a.letters);
  return (method, path, stepBase) => {
    const methods = new Set<string>();
    let inside: string | undefined;
    const isExtra = stepBase !== undefined && base === undefined;
    for (const one of isExtra ? [withoutSlash(stepBase), ...bases] : bases) {
      if (!path.startsWith(one) || path.length > one.length && path[one.length] !== "/") continue;
      const rest = path.slice(one.length) || "/";
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
  };
}

interface Route {
  readonly operation: DescribedOperation;
  readonly segments: number;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** The number of characters outside of parameters. */
  readonly letters: number;
}

function routeOf(operation: DescribedOperation): Route {
  const parts = operation.path.split(/\{([^{}]+)\}/);
  const pattern = parts.map((part, at) =>
    at % 2 === 1 ? "([^/]+?)" : RegExp.escape(encodePath(part))
  );
  return {
    operation,
    segments: operation.path.split("/").length,
    pattern: new RegExp(`^${pattern.join("")}$`),
    names: parts.filter((_, at) => at % 2 === 1),
    letters: parts.filter((_, at) => at % 2 === 0).join("").length,
  };
}

/** A part of a path as requests have it: /größe as /gr%C3%B6%C3%9Fe. */
function encodePath(part: string): string {
  return part.replace(/[^!-~]+/gu, (text) => encodeURIComponent(text.toWellFormed()));
}

/** The paths of the servers, the longest first; a request may also be for none of them. */
function basePaths({ version, root }: Description): string[] {
  const servers = readServers(mapOf(root.value), version === "2.0");
  const paths = servers.map((url) => URL.parse(url, "http://localhost/")?.pathname ?? "/");
  return [...new Set([...paths, "/"].map(withoutSlash))].sort((a, b) => b.length - a.length);
}

function withoutSlash(path: string): string {
  const whole = path.startsWith("/") || path === "" ? path : `/${path}`;
  return whole.replace(/\/+$/, "");
}
