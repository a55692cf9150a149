import type { TemplatePart } from "../make/literal.ts";

/** The path of the collection: without a parameter at the end. */
export function collectionOf(path: string): string {
  return withoutSlash(path).replace(/\/\{[^{}/]+\}$/, "");
}

/** The parameter at the end of a path; undefined if it ends in a word. */
export function lastParameter(path: string): string | undefined {
  return /\/\{([^{}/]+)\}$/.exec(withoutSlash(path))?.[1];
}

/** A path without the names of its parameters. */
export function pathKey(path: string): string {
  return withoutSlash(path).replace(/\{[^{}/]*\}/g, "{}");
}

/** Whether a path is below another. */
export function isBelow(path: string, other: string): boolean {
  return path.startsWith(`${other}/`);
}

/** The last segment of a path that is not a parameter: `pets`. */
export function lastWord(path: string): string | undefined {
  return path.split("/").findLast((word) => word !== "" && !/[{}]/.test(word));
}

/** The parameters that are whole path segments, each with the path before it. */
export function parameterPrefixes(path: string): { name: string; before: string }[] {
  return [...path.matchAll(/\/\{([^{}/]+)\}(?=\/|$)/g)].map(({ 1: name, index }) => ({
    name: name!,
    before: path.slice(0, index),
  }));
}

/** A path with its parameters replaced by the parts that `read` returns. */
export function fillPath(path: string, read: (name: string) => TemplatePart): TemplatePart[] {
  return path.split(/(\{[^{}]+\})/).filter((part) => part !== "").map((part) =>
    /^\{[^{}]+\}$/.test(part) ? read(part.slice(1, -1)) : part
  );
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, "") : path;
}
