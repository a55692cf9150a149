import { type DescribedOperation, serversOf } from "../read/operations.ts";
import { decodePercents } from "../../secrets/secrets.ts";

/** An operation that a request is for, with the values in its path. */
interface Match {
  readonly operation: DescribedOperation;
  readonly values: ReadonlyMap<string, string>;
}

/** The result for a request that matches no operation. */
export interface NoMatch {
  readonly methods: readonly string[];
  /** The path without that of the server. */
  readonly path: string;
}

/** Finds the operation of a request; `stepBase` is another path that the server may have. */
type Router = (method: string, path: string, stepBase?: string) => Match | NoMatch;

/** `base` replaces the paths of all servers. */
export function makeRouter(
  operations: readonly DescribedOperation[],
  base: string | undefined,
): Router {
  const all = operations.map((operation) => routeOf(operation, base));
  const isOpen = (base: string) => Number(base.includes(ANY));
  const bases = [...new Set(all.flatMap((route) => route.bases))]
    .sort((a, b) => isOpen(a) - isOpen(b) || b.length - a.length);
  const patterns = new Map(bases.map((base) => [base, patternOf(base)]));
  const routes = Map.groupBy(all, ({ segments }) => segments);
  // A word is meant before a parameter: /pets/mine before /pets/{petId}.
  for (const list of routes.values()) list.sort((a, b) => b.letters - a.letters);
  return (method, path, stepBase) => {
    const methods = new Set<string>();
    let inside: string | undefined;
    const extra = stepBase !== undefined && base === undefined ? [withoutSlash(stepBase)] : [];
    for (const one of [...extra, ...bases]) {
      const [before] = (patterns.get(one) ?? patternOf(one)).exec(path) ?? [];
      if (before === undefined) continue;
      const rest = path.slice(before.length) || "/";
      inside ??= rest;
      for (const route of routes.get(rest.split("/").length) ?? []) {
        const { operation, pattern, names } = route;
        const found = pattern.exec(rest);
        if (!found || !route.bases.includes(one) && !extra.includes(one)) continue;
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
  /** The paths of its servers; a request may also be for none of them. */
  readonly bases: readonly string[];
  readonly segments: number;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** The number of characters outside of parameters. */
  readonly letters: number;
}

function routeOf(operation: DescribedOperation, base: string | undefined): Route {
  const parts = operation.path.split(/\{([^{}]+)\}/);
  const pattern = parts.map((part, at) =>
    at % 2 === 1 ? "([^/]+?)" : RegExp.escape(encodePath(part))
  );
  return {
    operation,
    bases: base === undefined ? basePaths(operation) : [withoutSlash(base)],
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

/** Stands for a variable without a value in the path of a server. */
const ANY = "*";

/** The path of a server at the beginning of another one. */
function patternOf(base: string): RegExp {
  return new RegExp(`^${base.split(ANY).map(RegExp.escape).join("[^/]+")}(?=/|$)`);
}

function basePaths(operation: DescribedOperation): string[] {
  const paths = serversOf(operation).map((url) => {
    const path = url.replace(/^(?:[^/]*:\/\/[^/]*|\{[^{}]*\}(?=\/))/, "").replace(
      /\{[^{}]*\}/g,
      ANY,
    );
    return URL.parse(path, "http://localhost/")?.pathname ?? "/";
  });
  return [...new Set([...paths, "/"].map(withoutSlash))];
}

function withoutSlash(path: string): string {
  const whole = path.startsWith("/") || path === "" ? path : `/${path}`;
  return whole.replace(/\/+$/, "");
}
