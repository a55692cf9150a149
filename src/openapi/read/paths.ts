import type { TemplatePart } from "../make/literal.ts";

/** The path of the things that a path is about, without the one thing that it may end in. */
export function collectionOf(path: string): string {
  return withoutSlash(path).replace(/\/\{[^{}/]+\}$/, "");
}

/** The parameter that a path ends in; undefined where it ends in a word. */
export function lastParameter(path: string): string | undefined {
  return /\/\{([^{}/]+)\}$/.exec(withoutSlash(path))?.[1];
}

/** A path in which all names of parameters are the same. */
export function pathKey(path: string): string {
  return withoutSlash(path).replace(/\{[^{}/]*\}/g, "{}");
}

/** Whether one path lies below another. */
export function isBelow(path: string, other: string): boolean {
  return path.startsWith(`${other}/`);
}

/** The last word of a path that is no parameter: `pets`. */
export function lastWord(path: string): string | undefined {
  return path.split("/").findLast((word) => word !== "" && !/[{}]/.test(word));
}

/** The paths before each parameter that fills a whole part of a path, with its name. */
export function parameterPrefixes(path: string): { name: string; before: string }[] {
  return [...path.matchAll(/\/\{([^{}/]+)\}(?=\/|$)/g)].map(({ 1: name, index }) => ({
    name: name!,
    before: path.slice(0, index),
  }));
}

/** A path with the parts that `read` gives for its parameters. */
export function fillPath(path: string, read: (name: string) => TemplatePart): TemplatePart[] {
  return path.split(/(\{[^{}]+\})/).filter((part) => part !== "").map((part) =>
    /^\{[^{}]+\}$/.test(part) ? read(part.slice(1, -1)) : part
  );
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, "") : path;
}
